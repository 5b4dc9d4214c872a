// Convolution: fast float against the plain float64 twin at awkward sizes, for every instruction
// set and with the same bits for any number of threads; gradients; PyTorch's numbers; refusals.
#include "fovea/kernel/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fovea/base/parallel.h"
#include "fovea/kernel/simd.h"
#include "fovea/nn/conv.h"
#include "fovea/op/linear.h"
#include "support/golden.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

using kernel::Conv;
using kernel::ConvAxis;
using kernel::ConvPass;
using Tensors = std::vector<Tensor>;

// y, dx and dw of one convolution. Outputs and working memory start as NaN, so that an element left
// out cannot pass.
template <class T>
Tensors run(const Conv& c) {
  auto in = [seed = uint64_t{0}](int64_t n) mutable {
    return random_tensor({n}, ++seed, -1, 1, Dtype::f32).to(dtype_of<T>);
  };
  auto out = [](int64_t n) { return Tensor::full({n}, NAN, dtype_of<T>); };
  auto room = [&](ConvPass pass) { return out(kernel::conv_room(c, pass)); };
  const int64_t size = c.batch * c.h.size * c.w.size * c.in;
  const Tensor x = in(size), w = in(c.weights()), bias = in(c.out), dy = in(c.positions() * c.out);
  Tensor y = out(c.positions() * c.out), dx = out(size), dw = out(c.weights());
  Tensor room_y = room(ConvPass::forward), room_dx = room(ConvPass::grad_input);
  Tensor room_dw = room(ConvPass::grad_weight);
  kernel::conv(c, y.write<T>().data(), x.read<T>().data(), w.read<T>().data(),
               c.in % 2 ? bias.read<T>().data() : nullptr, room_y.write<T>().data());
  kernel::conv_grad_input(c, dx.write<T>().data(), dy.read<T>().data(), w.read<T>().data(),
                          room_dx.write<T>().data());
  kernel::conv_grad_weight(c, dw.write<T>().data(), dy.read<T>().data(), x.read<T>().data(),
                           room_dw.write<T>().data());
  return {y, dx, dw};
}

void expect_close_to_twin(const Conv& c) {
  SCOPED_TRACE(say("batch ", c.batch, ", channels ", c.in, " to ", c.out, ", groups ", c.groups,
                   ", height ", c.h.size, ", width ", c.w.size, ", kernel ", c.h.kernel, "x",
                   c.w.kernel, ", stride ", c.h.stride, "x", c.w.stride, ", padding ", c.w.before,
                   "+", c.w.after, ", dilation ", c.w.dilation));
  const Tensors exact = run<double>(c), fast = run<float>(c);
  for (size_t i = 0; i < exact.size(); ++i) expect_close(fast[i], exact[i]);
}

TEST(ConvKernel, EqualsItsTwinForEveryStrideDilationAndPadding) {
  const ConvAxis one{.size = 1, .kernel = 1};
  for (int64_t size : {1, 2, 7, 13}) {
    for (int64_t kernel : {1, 2, 3, 5}) {
      for (int64_t stride : {1, 2, 3, 4, 7}) {
        for (int64_t dilation : {1, 2, 3, 4}) {
          for (auto [before, after] : {std::pair{0, 0}, {1, 1}, {4, 0}, {0, 3}, {9, 9}}) {
            const ConvAxis axis{size, kernel, stride, before, after, dilation};
            if (axis.reach() > size + before + after) continue;
            expect_close_to_twin({.batch = 2, .in = 3, .out = 2, .groups = 1, .h = one, .w = axis});
            expect_close_to_twin({.batch = 2, .in = 3, .out = 3, .groups = 3, .h = axis, .w = one});
          }
        }
      }
    }
  }
}

TEST(ConvKernel, EqualsItsTwinForEveryTargetWithTheSameBitsForAnyThreads) {
  const ConvAxis one{.size = 1, .kernel = 1};
  const Conv cases[] = {
      {1, 1, 1, 1, one, one},
      {3, 7, 5, 1, one, {700, 5, 1, 2, 2}},
      {4, 33, 65, 1, one, {301, 5, 1, 4, 0}},
      {2, 67, 67, 67, one, {300, 35, 1, 17, 17}},  // depthwise, more vectors than one, and a rest
      {2, 100, 100, 100, {9, 3, 2, 1, 1}, {21, 9, 1, 4, 4}},  // more taps than one list of them
      {3, 5, 9, 1, {40, 3, 1, 1, 1}, {37, 3, 1, 1, 1}},
      {2, 17, 19, 1, {23, 3, 2, 1, 1}, {31, 5, 3, 2, 2, 2}},
      {2, 6, 9, 3, {19, 2}, {23, 3, 1, 1, 1}},
      {1, 64, 64, 1, {14, 3, 1, 1, 1}, {14, 3, 1, 1, 1}},
      {1, 300, 2, 1, {3, 3, 1, 1, 1}, {5, 3, 1, 1, 1}},
  };
  for (const Conv& c : cases) {
    const Tensors exact = run<double>(c);
    for (const std::string& target : kernel::simd_targets()) {
      kernel::use_simd_target(target);
      SCOPED_TRACE(say(target, ", channels ", c.in, " to ", c.out, ", width ", c.w.size));
      Tensors first;
      for (int count : {1, 2, 4}) {
        set_threads(count);
        const Tensors fast = run<float>(c);
        if (first.empty()) first = fast;
        for (size_t i = 0; i < fast.size(); ++i) {
          expect_close(fast[i], exact[i]);
          expect_same_bits(fast[i], first[i]);
        }
      }
    }
  }
  kernel::use_simd_target("");
  set_threads(2);
}

TEST(Conv, GradientsAreTheNumericOnes) {
  auto any = [](const Shape& shape, uint64_t seed) { return random_tensor(shape, seed); };
  check_gradients([](auto& v) { return conv1d(v[0], v[1], v[2], {.padding = 1}); },
                  {any({2, 5, 3}, 1), any({4, 3, 3}, 2), any({4}, 3)});
  check_gradients([](auto& v) { return conv1d(v[0], v[1]); },
                  {any({1, 4, 2}, 1), any({3, 2, 2}, 2)});
  check_gradients(
      [](auto& v) {
        return conv1d(v[0], v[1], v[2],
                      {.stride = 2, .padding = {3, 1}, .dilation = 2, .groups = 2});
      },
      {any({2, 7, 4}, 1), any({6, 3, 2}, 2), any({6}, 3)});
  check_gradients([](auto& v) { return conv1d(v[0], v[1], v[2], {.padding = 2, .groups = 5}); },
                  {any({2, 4, 5}, 1), any({5, 3, 1}, 2), any({5}, 3)});
  check_gradients(
      [](auto& v) {
        return conv2d(v[0], v[1], v[2], {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}});
      },
      {any({2, 4, 5, 2}, 1), any({3, 3, 2, 2}, 2), any({3}, 3)});
  check_gradients([](auto& v) { return conv2d(conv2d(v[0], v[1]), v[1], {}, {.stride = 3}); },
                  {any({1, 6, 6, 2}, 1), any({2, 2, 3, 2}, 2)});
}

TEST(Conv, AgreesWithPyTorch) {
  Golden golden("conv.safetensors");
  auto conv = [&](const std::string& name, const auto& options) {
    golden.check(name, [&](const Tensors& v) {
      const Tensor bias = v.size() == 3 ? v[2] : Tensor();
      if constexpr (requires { conv1d(v[0], v[1], bias, options); }) {
        return conv1d(v[0], v[1], bias, options);
      } else {
        return conv2d(v[0], v[1], bias, options);
      }
    });
  };
  using One = Conv1dOptions;
  using Two = Conv2dOptions;
  conv("conv1d plain", One{.padding = 1});
  conv("conv1d no bias", One{});
  conv("conv1d strided", One{.stride = 3, .padding = 2, .dilation = 2});
  conv("conv1d grouped", One{.padding = 1, .groups = 2});
  conv("conv1d depthwise", One{.padding = 2, .groups = 19});
  conv("conv1d causal", One{.padding = {4, 0}, .dilation = 2});
  conv("conv1d wide kernel", One{.padding = 2});
  conv("conv2d plain", Two{.padding = 1});
  conv("conv2d strided", Two{.stride = {2, 3}, .padding = {1, 2}, .dilation = {2, 1}});
  conv("conv2d stride beyond kernel", Two{.stride = {3, 4}});
  conv("conv2d grouped", Two{.stride = 2, .padding = 1, .groups = 2});
  conv("conv2d depthwise", Two{.stride = 2, .padding = 1, .groups = 9});
  conv("conv2d one by one", Two{});
  EXPECT_EQ(golden.left("conv"), std::set<std::string>{});
}

TEST(Conv, OfWidthOneIsLinear) {
  const Tensor x = random_tensor({2, 9, 5}, 1, -1, 1, Dtype::f32);
  const Tensor w = random_tensor({7, 5}, 2, -1, 1, Dtype::f32);
  expect_close(conv1d(x, w.reshaped({7, 1, 5})), linear(x, w), 1e-6);
}

TEST(Conv, OfAnEmptyBatchIsEmptyWithNoGradient) {
  const Tensor w = parameter(random_tensor({7, 3, 5}, 2, -1, 1, Dtype::f32));
  Tape tape;
  const Tensor y = conv1d(Tensor(Shape{0, 9, 5}), w);
  EXPECT_EQ(y.shape(), (Shape{0, 7, 7}));
  const Gradients g = tape.backward(y, Tensor(y.shape()));
  for (float x : g[w].read()) EXPECT_EQ(x, 0);
}

TEST(Conv, RefusesWhatDoesNotFit) {
  auto said = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  const Tensor x(Shape{2, 5, 6}), w(Shape{4, 3, 6}), image(Shape{2, 5, 5, 6});
  EXPECT_EQ(said([&] { conv1d(image, w); }),
            "conv1d: needs x [B, T, in] and weight [out, K, in / groups], got [2, 5, 5, 6] and "
            "[4, 3, 6]");
  EXPECT_EQ(
      said([&] { conv2d(image, w); }),
      "conv2d: needs x [B, H, W, in] and weight [out, KH, KW, in / groups], got [2, 5, 5, 6] and "
      "[4, 3, 6]");
  EXPECT_EQ(said([&] { conv1d(x, w, Tensor(Shape{3})); }),
            "conv1d: the bias needs shape [4], got [3]");
  EXPECT_EQ(said([&] { conv1d(x, w, {}, {.groups = 2}); }),
            "conv1d: x of shape [2, 5, 6] in 2 groups needs weights for 3 channels, got [4, 3, 6]");
  EXPECT_EQ(said([&] { conv1d(x, w, {}, {.groups = 4}); }),
            "conv1d: 4 groups do not divide 6 input and 4 output channels");
  EXPECT_EQ(said([&] { conv1d(x, w, {}, {.groups = 0}); }),
            "conv1d: 0 groups do not divide 6 input and 4 output channels");
  EXPECT_EQ(
      said([&] { conv1d(x, w, {}, {.padding = 1, .dilation = 4}); }),
      "conv1d: a kernel of 3 with dilation 4 reaches over 9 places, x of shape [2, 5, 6] with its "
      "padding has 7");
  EXPECT_EQ(said([&] { conv1d(x, w, {}, {.stride = 0}); }),
            "conv1d: stride and dilation need to be 1 or more, got 0 and 1");
  EXPECT_EQ(said([&] {
              conv1d(x, w, {}, {.padding = {0, -1}});
            }),
            "conv1d: padding cannot be negative, got -1");
  EXPECT_EQ(said([&] {
              conv1d(x, Tensor(Shape{4, 0, 6}));
            }),
            "conv1d: the kernel needs a size of 1 or more, got 0");
  EXPECT_EQ(said([&] { conv1d(x, w.to(Dtype::f64)); }),
            "conv1d: x, weight and bias need one type, got float32, float64");
}

TEST(ConvLayer, NamesItsParametersAndAppliesThem) {
  Parameters table(1);
  const Scope s = table;
  const Conv1d one(s / "one", 6, 4, 3, {.padding = 1, .groups = 2});
  const Conv2d two(s / "two", 3, 5, {2, 3}, {.stride = 2}, {.bias = false});
  EXPECT_EQ(table["one/weight"].shape(), (Shape{4, 3, 3}));
  EXPECT_EQ(table["one/bias"].shape(), (Shape{4}));
  EXPECT_EQ(table["two/weight"].shape(), (Shape{5, 2, 3, 3}));
  EXPECT_FALSE(table.has("two/bias"));
  const Tensor x = random_tensor({2, 7, 6}, 1, -1, 1, Dtype::f32);
  const Tensor image = random_tensor({2, 7, 6, 3}, 1, -1, 1, Dtype::f32);
  table["one/bias"] = random_tensor({4}, 5, -1, 1, Dtype::f32);
  expect_same_bits(one(x),
                   conv1d(x, table["one/weight"], table["one/bias"], {.padding = 1, .groups = 2}));
  expect_same_bits(two(image), conv2d(image, table["two/weight"], {}, {.stride = 2}));
  EXPECT_THROW(Conv1d(s / "three", 6, 4, 3, {.groups = 0}), Error);
}

}  // namespace
}  // namespace fovea::test
