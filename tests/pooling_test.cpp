// Pooling: as tests/conv_test.cpp has it for convolution.
#include "fovea/kernel/pooling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/kernel/simd.h"
#include "fovea/op/pooling.h"
#include "support/golden.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

using kernel::Pooling;
using naive::ConvAxis;
using Tensors = std::vector<Tensor>;

// Maxima, where they stand, means, and the gradients of both.
template <class T>
Tensors run(const Pooling& p) {
  const int64_t outputs = p.positions() * p.channels;
  const Tensor x = random_tensor({p.elements()}, 1, -1, 1, Dtype::f32).to(dtype_of<T>);
  const Tensor dy = random_tensor({outputs}, 2, -1, 1, Dtype::f32).to(dtype_of<T>);
  auto out = [](int64_t n) { return Tensor::full({n}, NAN, dtype_of<T>); };
  Tensor y = out(outputs), mean = out(outputs), dx = out(p.elements()), dmean = out(p.elements());
  Tensor at = Tensor::full({outputs}, -9, Dtype::i32);
  kernel::max_pool(p, y.write<T>().data(), at.write<int32_t>().data(), x.read<T>().data());
  kernel::max_pool_grad(p, dx.write<T>().data(), dy.read<T>().data(), at.read<int32_t>().data());
  kernel::avg_pool(p, mean.write<T>().data(), x.read<T>().data());
  kernel::avg_pool_grad(p, dmean.write<T>().data(), dy.read<T>().data());
  return {y, at, dx, mean, dmean};
}

TEST(PoolingKernel, EqualsItsTwinForEveryStrideAndPadding) {
  for (int64_t size : {1, 2, 7, 13}) {
    for (int64_t kernel : {1, 2, 3, 5}) {
      for (int64_t stride : {1, 2, 3, 7}) {
        for (int64_t padding : {0, 1, 4}) {
          if (padding >= kernel || kernel > size + 2 * padding) continue;
          const ConvAxis axis{size, kernel, stride, padding, padding};
          const Pooling p{2, 3, axis, axis, (size + stride) % 2 == 0};
          SCOPED_TRACE(
              say("size ", size, ", kernel ", kernel, ", stride ", stride, ", padding ", padding));
          const Tensors exact = run<double>(p), fast = run<float>(p);
          for (size_t i = 0; i < exact.size(); ++i) expect_close(fast[i], exact[i]);
        }
      }
    }
  }
}

TEST(PoolingKernel, EqualsItsTwinForEveryTargetWithTheSameBitsForAnyThreads) {
  const ConvAxis one{.size = 1, .kernel = 1};
  const Pooling cases[] = {
      {1, 1, one, one},
      {5, 67, one, {301, 3, 2, 1, 1}, false},
      {7, 16, {40, 3, 2, 1, 1}, {37, 2, 2}},
      {3, 100, {19, 5, 3, 2, 2}, {23, 4, 1, 3, 3}, false},
  };
  for (const Pooling& p : cases) {
    const Tensors exact = run<double>(p);
    for (const std::string& target : kernel::simd_targets()) {
      kernel::use_simd_target(target);
      SCOPED_TRACE(say(target, ", channels ", p.channels));
      Tensors first;
      for (int count : {1, 2, 4}) {
        set_threads(count);
        const Tensors fast = run<float>(p);
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

TEST(Pooling, GradientsAreTheNumericOnes) {
  const Tensor x = random_tensor({2, 7, 3}, 1), image = random_tensor({2, 5, 6, 3}, 2);
  check_gradients([](auto& v) { return max_pool1d(v[0], {.kernel = 2}); }, {x});
  check_gradients(
      [](auto& v) { return max_pool1d(v[0], {.kernel = 3, .stride = 1, .padding = 2}); }, {x});
  check_gradients(
      [](auto& v) {
        return max_pool2d(v[0], {.kernel = {3, 2}, .stride = 1, .padding = {0, 1}});
      },
      {image});
  check_gradients([](auto& v) { return avg_pool1d(v[0], {.kernel = 3, .stride = 2}); }, {x});
  check_gradients(
      [](auto& v) {
        return avg_pool2d(v[0], {.kernel = 3, .stride = {1, 2}, .padding = 2});
      },
      {image});
  check_gradients(
      [](auto& v) {
        return avg_pool2d(
            v[0], {.kernel = {2, 3}, .stride = 2, .padding = {1, 0}, .count_padding = false});
      },
      {image});
}

TEST(Pooling, AgreesWithPyTorch) {
  Golden golden("conv.safetensors");
  auto max1 = [&](const std::string& name, MaxPool1dOptions options) {
    golden.check(name, [=](const Tensors& v) { return max_pool1d(v[0], options); });
  };
  auto max2 = [&](const std::string& name, MaxPool2dOptions options) {
    golden.check(name, [=](const Tensors& v) { return max_pool2d(v[0], options); });
  };
  auto avg1 = [&](const std::string& name, AvgPool1dOptions options) {
    golden.check(name, [=](const Tensors& v) { return avg_pool1d(v[0], options); });
  };
  auto avg2 = [&](const std::string& name, AvgPool2dOptions options) {
    golden.check(name, [=](const Tensors& v) { return avg_pool2d(v[0], options); });
  };
  max1("max_pool1d plain", {.kernel = 2});
  max1("max_pool1d overlapping", {.kernel = 3, .stride = 1, .padding = 1});
  max2("max_pool2d plain", {.kernel = 2});
  max2("max_pool2d ties", {.kernel = 3, .stride = 2, .padding = 1});
  max2("max_pool2d uneven", {.kernel = {4, 3}, .stride = {3, 2}, .padding = {2, 1}});
  avg1("avg_pool1d plain", {.kernel = 3});
  avg1("avg_pool1d real", {.kernel = 3, .stride = 2, .padding = 1, .count_padding = false});
  avg2("avg_pool2d plain", {.kernel = 2, .stride = 1});
  avg2("avg_pool2d padded", {.kernel = {4, 3}, .stride = {3, 2}, .padding = {2, 1}});
  avg2("avg_pool2d real",
       {.kernel = {4, 3}, .stride = {3, 2}, .padding = {2, 1}, .count_padding = false});
  EXPECT_EQ(golden.left("max"), std::set<std::string>{});
  EXPECT_EQ(golden.left("avg"), std::set<std::string>{});
}

TEST(Pooling, NanIsNotLostAndInfinityIsAMaximum) {
  // As many channels as the widest vector has and one more, so that both of its loops are seen.
  std::vector<float> values(2 * 3 * 17, 1);
  values[17] = values[2 * 17 - 1] = NAN;
  for (int i = 0; i < 17; ++i) values[(3 + i % 3) * 17 + i] = -INFINITY;
  const Tensor y = max_pool1d(Tensor::of({2, 3, 17}, values), {.kernel = 3});
  for (int i = 0; i < 17; ++i) {
    EXPECT_EQ(std::isnan(y.read()[i]), i == 0 || i == 16) << i;
    EXPECT_EQ(y.read()[17 + i], 1);
  }
  const Tensor low = Tensor::full({1, 3, 17}, -INFINITY);
  const Tensor pooled = max_pool1d(low, {.kernel = 3});
  for (float x : pooled.read()) EXPECT_EQ(x, -INFINITY);
}

TEST(Pooling, RefusesWhatDoesNotFit) {
  auto said = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  const Tensor x(Shape{2, 5, 6}), image(Shape{2, 5, 5, 6});
  EXPECT_EQ(said([&] { max_pool1d(image, {.kernel = 2}); }),
            "max_pool1d: needs x [B, T, C], got [2, 5, 5, 6]");
  EXPECT_EQ(said([&] { avg_pool2d(x, {.kernel = 2}); }),
            "avg_pool2d: needs x [B, H, W, C], got [2, 5, 6]");
  EXPECT_EQ(said([&] { max_pool1d(x, {.kernel = 8, .padding = 1}); }),
            "max_pool1d: a window of 8 does not fit into 7 places, x of shape [2, 5, 6] with its "
            "padding");
  EXPECT_EQ(said([&] { max_pool1d(x, {.kernel = 2, .padding = 2}); }),
            "max_pool1d: padding needs to be less than the kernel's 2 and not negative, got 2");
  EXPECT_EQ(said([&] { avg_pool1d(x, {.kernel = 0}); }),
            "avg_pool1d: needs a kernel of 1 or more and no negative stride, got 0 and 0");
}

}  // namespace
}  // namespace fovea::test
