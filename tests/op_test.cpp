// Every op: its gradient against the numeric one in float64, and its float32 result against
// float64.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "fovea/kernel/simd.h"
#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/linear.h"
#include "fovea/op/matmul.h"
#include "fovea/op/norm.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

struct Case {
  std::string name;
  Function f;
  std::vector<Tensor> inputs;
};

// Away from 0, where a kink would spoil the numeric gradient.
Tensor off_zero(const Shape& shape, uint64_t seed) {
  Tensor t = random_tensor(shape, seed, 0.2, 2);
  Random sign(seed, 5);
  for (double& x : t.write<double>()) x = sign.bits() & 1 ? x : -x;
  return t;
}

Tensor positive(const Shape& shape, uint64_t seed) { return random_tensor(shape, seed, 0.3, 3); }
Tensor any(const Shape& shape, uint64_t seed) { return random_tensor(shape, seed, -2, 2); }

using Tensors = std::vector<Tensor>;

std::vector<Case> cases() {
  auto one = [](Tensor (*f)(const Tensor&)) { return [f](const Tensors& x) { return f(x[0]); }; };
  auto two = [](Tensor (*f)(const Tensor&, const Tensor&)) {
    return [f](const Tensors& x) { return f(x[0], x[1]); };
  };
  const Shape s{3, 7};
  const Tensor ids = random_ids({2, 5}, 3, 7), mask = random_ids({3, 1}, 4, 2);
  const Tensor some_targets = Tensor::ids({3}, {4, -1, 0});
  std::vector<Case> list{
      {"add", two(operator+), {any(s, 1), any(s, 2)}},
      {"add_row", two(operator+), {any(s, 1), any({7}, 2)}},
      {"add_column", two(operator+), {any({3, 1}, 1), any(s, 2)}},
      {"add_both_ways", two(operator+), {any({3, 1, 5}, 1), any({2, 1, 4, 1}, 2)}},
      {"add_scalar_array", two(operator+), {any(s, 1), any({}, 2)}},
      {"subtract", two(operator-), {any(s, 1), any({7}, 2)}},
      {"multiply", two(operator*), {any(s, 1), any({3, 1}, 2)}},
      {"multiply_middle", two(operator*), {any({2, 3, 5}, 1), any({2, 1, 5}, 2)}},
      {"divide", two(operator/), {any(s, 1), off_zero({7}, 2)}},
      {"maximum", two(maximum), {any(s, 1), any(s, 2)}},
      {"minimum", two(minimum), {any(s, 1), any({7}, 2)}},
      {"affine", [](auto& x) { return affine(x[0], -1.5, 0.25); }, {any(s, 1)}},
      {"operators_with_numbers", [](auto& x) { return 1 - (2 * x[0] + 3) / 4 - 5; }, {any(s, 1)}},
      {"exp", one(exp), {any(s, 1)}},
      {"log", one(log), {positive(s, 1)}},
      {"sqrt", one(sqrt), {positive(s, 1)}},
      {"square", one(square), {any(s, 1)}},
      {"abs", one(abs), {off_zero(s, 1)}},
      {"sin", one(sin), {any(s, 1)}},
      {"cos", one(cos), {any(s, 1)}},
      {"tanh", one(tanh), {any(s, 1)}},
      {"sigmoid", one(sigmoid), {any(s, 1)}},
      {"softplus", one(softplus), {any(s, 1)}},
      {"relu", one(relu), {off_zero(s, 1)}},
      {"leaky_relu", [](auto& x) { return leaky_relu(x[0], 0.2); }, {off_zero(s, 1)}},
      {"elu", [](auto& x) { return elu(x[0], 0.7); }, {off_zero(s, 1)}},
      {"gelu", one(gelu), {any(s, 1)}},
      {"gelu_tanh", one(gelu_tanh), {any(s, 1)}},
      {"clamp", [](auto& x) { return clamp(x[0], -1.01, 0.73); }, {any(s, 1)}},
      {"sum_axis_0", [](auto& x) { return sum(x[0], 0); }, {any({4, 3, 5}, 1)}},
      {"sum_axis_1_kept", [](auto& x) { return sum(x[0], 1, true); }, {any({4, 3, 5}, 1)}},
      {"sum_axis_last", [](auto& x) { return sum(x[0], -1); }, {any({4, 3, 5}, 1)}},
      {"sum_all", [](auto& x) { return sum(x[0]); }, {any({4, 3, 5}, 1)}},
      {"mean", [](auto& x) { return mean(x[0], 1); }, {any({4, 3, 5}, 1)}},
      {"mean_all", [](auto& x) { return mean(x[0]); }, {any({4, 3}, 1)}},
      {"max", [](auto& x) { return max(x[0], 1); }, {any({4, 6, 5}, 1)}},
      {"max_kept", [](auto& x) { return max(x[0], -1, true); }, {any({4, 6}, 1)}},
      {"sum_to",
       [](auto& x) {
         return sum_to(x[0], {3, 1, 5});
       },
       {any({2, 3, 4, 5}, 1)}},
      {"broadcast_to",
       [](auto& x) {
         return broadcast_to(x[0], {2, 3, 4, 5});
       },
       {any({3, 1, 5}, 1)}},
      {"matmul",
       two([](auto& a, auto& b) { return matmul(a, b); }),
       {any({4, 3}, 1), any({3, 5}, 2)}},
      {"matmul_a",
       two([](auto& a, auto& b) { return matmul(a, b, Transpose::a); }),
       {any({3, 4}, 1), any({3, 5}, 2)}},
      {"matmul_b",
       two([](auto& a, auto& b) { return matmul(a, b, Transpose::b); }),
       {any({4, 3}, 1), any({5, 3}, 2)}},
      {"matmul_batch",
       two([](auto& a, auto& b) { return matmul(a, b); }),
       {any({2, 3, 4, 2}, 1), any({3, 2, 5}, 2)}},
      {"matmul_batch_b",
       two([](auto& a, auto& b) { return matmul(a, b, Transpose::b); }),
       {any({2, 1, 4, 3}, 1), any({3, 5, 3}, 2)}},
      {"matmul_batch_a",
       two([](auto& a, auto& b) { return matmul(a, b, Transpose::a); }),
       {any({3, 4}, 1), any({2, 3, 5}, 2)}},
      {"matmul_row",
       two([](auto& a, auto& b) { return matmul(a, b); }),
       {any({1, 7}, 1), any({7, 9}, 2)}},
      {"matmul_used_twice",
       [](auto& x) { return matmul(matmul(x[0], x[1]), x[1]); },
       {any({2, 3}, 1), any({3, 3}, 2)}},
      {"linear",
       [](auto& x) { return linear(x[0], x[1], x[2]); },
       {any({2, 3, 4}, 1), any({5, 4}, 2), any({5}, 3)}},
      {"linear_no_bias",
       [](auto& x) { return linear(x[0], x[1]); },
       {any({2, 3, 4}, 1), any({5, 4}, 2)}},
      {"linears",
       [](auto& x) {
         const auto y = linears(x[0], {{x[1], x[2]}, {x[3], {}}, {x[1], x[2]}});
         return concat({y[0] * y[0], y[1], y[2]}, -1);
       },
       {any({2, 3, 4}, 1), any({5, 4}, 2), any({5}, 3), any({2, 4}, 4)}},
      {"linears_of_which_one_is_used",
       [](auto& x) {
         return linears(x[0], {{x[1], x[2]}, {x[1], x[2]}})[1] + x[0];
       },
       {any({2, 3, 4}, 1), any({4, 4}, 2), any({4}, 3)}},
      {"feed_forward",
       [](auto& x) {
         return feed_forward(x[0], x[1], {x[2], x[3], x[4], x[5]}, kernel::Unary::gelu, 0);
       },
       {any({2, 3, 4}, 1), any({2, 3, 4}, 2), any({5, 4}, 3), any({5}, 4), any({4, 5}, 5),
        any({4}, 6)}},
      {"softmax", one(softmax), {any({3, 5}, 1)}},
      {"log_softmax", one(log_softmax), {any({3, 5}, 1)}},
      {"cross_entropy",
       [](auto& x) { return cross_entropy(x[0], x[1]); },
       {any({2, 5, 7}, 1), ids}},
      {"cross_entropy_smooth",
       [](auto& x) { return cross_entropy(x[0], x[1], 0.1); },
       {any({2, 5, 7}, 1), ids}},
      {"cross_entropy_skips",
       [](auto& x) { return cross_entropy(x[0], x[1], 0.1); },
       {any({3, 7}, 1), some_targets}},
      {"cross_entropy_each",
       [](auto& x) { return cross_entropy_each(x[0], x[1]); },
       {any({2, 5, 7}, 1), ids}},
      {"layer_norm",
       [](auto& x) { return layer_norm(x[0], x[1], x[2]); },
       {any({3, 2, 6}, 1), any({6}, 2), any({6}, 3)}},
      {"reshape",
       [](auto& x) {
         return reshape(x[0], {2, -1});
       },
       {any({4, 3}, 1)}},
      {"permute",
       [](auto& x) {
         return permute(x[0], {2, 0, 1});
       },
       {any({4, 3, 5}, 1)}},
      {"transposed", one(transposed), {any({2, 4, 3}, 1)}},
      {"slice", [](auto& x) { return slice(x[0], 1, 1, 3); }, {any({2, 5, 3}, 1)}},
      {"slices_of_one",
       [](auto& x) { return slice(x[0], 0, 0, 2) * slice(x[0], 0, 1, 3); },
       {any({3, 4}, 1)}},
      {"pad", [](auto& x) { return pad(x[0], 0, 2, 1); }, {any({2, 3}, 1)}},
      {"concat",
       [](auto& x) {
         return concat({x[0], x[1], x[0]}, 1);
       },
       {any({2, 3, 2}, 1), any({2, 1, 2}, 2)}},
      {"stack",
       [](auto& x) {
         return stack(std::vector{x[0], x[1]}, 1);
       },
       {any({2, 3}, 1), any({2, 3}, 2)}},
      {"embedding", [](auto& x) { return embedding(x[0], x[1]); }, {any({7, 3}, 1), ids}},
      {"scatter_add", [](auto& x) { return scatter_add(x[0], x[1], 8); }, {any({2, 5, 3}, 1), ids}},
      {"scatter_add_skips",
       [](auto& x) { return scatter_add(x[0], x[1], 5); },
       {any({3, 2}, 1), some_targets}},
      {"pick", [](auto& x) { return pick(x[0], x[1]); }, {any({2, 5, 7}, 1), ids}},
      {"where", [](auto& x) { return where(x[1], x[0], -3); }, {any({3, 4}, 1), mask}},
      {"dropout", [](auto& x) { return dropout(x[0], 0.4); }, {any({5, 9}, 1)}},
  };
  return list;
}

class EveryOp : public testing::TestWithParam<Case> {};

TEST_P(EveryOp, GradientIsTheNumericOne) {
  EXPECT_LT(gradient_error(GetParam().f, GetParam().inputs, Parameters(), {.seed = 9}), 1e-5);
}

TEST_P(EveryOp, Float32AgreesWithFloat64) {
  auto run = [&](Dtype dtype) {
    Tensors inputs;
    for (const Tensor& x : GetParam().inputs) {
      inputs.push_back(x.dtype() == Dtype::i32 ? x : parameter(x.to(Dtype::f32).to(dtype)));
    }
    Random random(9);
    Tape tape(random);
    const Tensor y = GetParam().f(inputs);
    Tensors results{y};
    const Gradients g = tape.backward(y, random_tensor(y.shape(), 12).to(Dtype::f32).to(dtype));
    for (const Tensor& x : inputs) {
      if (x.dtype() != Dtype::i32) results.push_back(g[x]);
    }
    return results;
  };
  const Tensors exact = run(Dtype::f64);
  for (const std::string& target : kernel::simd_targets()) {
    kernel::use_simd_target(target);
    const Tensors fast = run(Dtype::f32);
    for (size_t i = 0; i < fast.size(); ++i) expect_close(fast[i], exact[i], 1e-5);
  }
  kernel::use_simd_target("");
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

// The checker itself must be able to say no.
TEST(GradientCheck, FindsAWrongAdjoint) {
  const Function wrong = [](const Tensors& x) {
    return record("wrong", {x[0]}, square(x[0]),
                  [x = x[0]](const Tensor& dy, InputGradients& dx) { dx.add(0, dy * x * 1.99); });
  };
  EXPECT_GT(gradient_error(wrong, {any({3}, 1)}), 1e-3);
}

TEST(Maximum, AtEqualityTheGradientGoesLeft) {
  const Tensor a = parameter(Tensor::of({2}, {1, 2})), b = parameter(Tensor::of({2}, {1, 3}));
  Tape tape;
  const Gradients g = tape.backward(sum(maximum(a, b)));
  EXPECT_EQ(g[a].read()[0], 1);
  EXPECT_EQ(g[b].read()[0], 0);
  EXPECT_EQ(g[b].read()[1], 1);
}

TEST(Linears, HaveTheBitsOfSingleOnes) {
  // Enough rows for products to be taken together, and too few.
  for (const int64_t rows : {3, 300}) {
    auto make = [](const Shape& shape, uint64_t seed) {
      return parameter(random_tensor(shape, seed, -1, 1, Dtype::f32));
    };
    const Tensor x = make({rows, 40}, 1), w = make({30, 40}, 2), b = make({30}, 3),
                 v = make({70, 40}, 4);
    auto results = [&](bool together) {
      Tape tape;
      std::vector<Tensor> y =
          together ? linears(x, {{w, b}, {v, {}}}) : std::vector{linear(x, w, b), linear(x, v)};
      std::vector<Tensor> all = y;
      const Gradients g = tape.backward(sum(square(concat(y, -1))));
      for (const Tensor& p : {w, b, v}) all.push_back(g[p]);
      return all;
    };
    const auto one = results(true), other = results(false);
    for (size_t i = 0; i < one.size(); ++i) expect_same_bits(one[i], other[i]);
  }
}

// Float32 in, float64 out: the value has all digits, the gradients those of their inputs.
TEST(PreciseLinear, IsLinearInFloat64WithGradientsInEachOnesType) {
  auto make = [](const Shape& shape, uint64_t seed, Dtype dtype) {
    return parameter(random_tensor(shape, seed, -1, 1, Dtype::f32).to(dtype));
  };
  for (Dtype of_x : {Dtype::f32, Dtype::f64}) {
    auto results = [&](Dtype x_type, Dtype type) {
      const Tensor x = make({2, 9, 40}, 1, x_type), w = make({30, 40}, 2, type),
                   b = make({30}, 3, type);
      Tape tape;
      const Tensor y = precise_linear(x, w, b);
      const Gradients g = tape.backward(sum(square(y)));
      return std::vector{y, g[x], g[w], g[b]};
    };
    const auto got = results(of_x, Dtype::f32), exact = results(Dtype::f64, Dtype::f64);
    EXPECT_EQ(got[0].dtype(), Dtype::f64);
    EXPECT_EQ(got[1].dtype(), of_x);
    EXPECT_EQ(got[2].dtype(), Dtype::f32);
    EXPECT_LE(relative_difference(got[0], exact[0]), 1e-14);
    for (size_t i = 1; i < got.size(); ++i) expect_close(got[i], exact[i], 1e-6);
  }
}

TEST(Convert, HasAGradientInItsOwnType) {
  const Tensor x = parameter(Tensor::of({2}, {0.5f, -3}));
  Tape tape;
  const Tensor y = convert(x, Dtype::f64);
  EXPECT_EQ(y.dtype(), Dtype::f64);
  const Tensor dx = tape.backward(sum(square(y)))[x];
  EXPECT_EQ(dx.read()[0], 1);
  EXPECT_EQ(dx.read()[1], -6);
}

TEST(Linears, OfOneWeightAddUp) {
  auto make = [](const Shape& shape, uint64_t seed) {
    return parameter(random_tensor(shape, seed, -1, 1, Dtype::f32));
  };
  const Tensor x = make({600, 64}, 1), w = make({64, 64}, 2);
  auto gradient = [&](bool together) {
    Tape tape;
    std::vector<Tensor> y =
        together ? linears(x, {{w, {}}, {w, {}}}) : std::vector{linear(x, w), linear(x, w)};
    y.push_back(linear(x, w));  // its gradient is there when the others' come
    return tape.backward(sum(square(concat(y, -1))))[w];
  };
  const Tensor wanted = gradient(false);
  expect_close(gradient(true), wanted, 1e-6);
}

TEST(Softmax, ARowOfNothingIsZeroAndSoIsItsGradient) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = parameter(Tensor::of({2, 3}, {-inf, -inf, -inf, 0, -inf, 0}));
  Tape tape;
  const Tensor y = softmax(x);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(y.read()[i], 0);
  EXPECT_EQ(y.read()[4], 0);
  EXPECT_FLOAT_EQ(y.read()[3], 0.5f);
  const Tensor dx = tape.backward(sum(square(y)))[x];
  for (float g : dx.read()) EXPECT_TRUE(std::isfinite(g));
}

TEST(Dropout, KeepsTheMeanAndTheFraction) {
  const Tensor x = parameter(Tensor::full({200, 500}, 1));
  Random random(3);
  EXPECT_TRUE(dropout(x, 0.3).same_as(x)) << "without a tape there is none";
  {
    const Tape records_but_does_not_train;
    EXPECT_TRUE(dropout(x, 0.3).same_as(x));
  }
  Tape tape(random);
  const Tensor y = dropout(x, 0.3);
  const auto kept = std::ranges::count_if(y.read(), [](float v) { return v != 0; });
  EXPECT_NEAR(static_cast<double>(kept) / x.elements(), 0.7, 0.01);
  EXPECT_NEAR(mean(y).item(), 1, 0.01);
  EXPECT_FLOAT_EQ(*std::ranges::max_element(y.read()), 1 / 0.7f);
}

TEST(OpErrors, SayWhatWasNeededAndWhatCame) {
  auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({4, 5});
  EXPECT_EQ(message([&] { matmul(a, b); }), "matmul: inner sizes differ in [2, 3] x [4, 5]");
  EXPECT_NE(message([&] { a + b; }).find("[2, 3] and [4, 5]"), std::string::npos);
  EXPECT_EQ(message([&] { embedding(a, Tensor::ids({1}, {2})); }),
            "embedding: id 2 is outside [0, 2)");
  EXPECT_EQ(message([&] { sum(a, 2); }), "shape: no axis 2 in [2, 3]");
  EXPECT_EQ(message([&] {
              a + Tensor::zeros({2, 3}, Dtype::f64);
            }),
            "add: both sides need one type, got float32 and float64");
}

}  // namespace
}  // namespace fovea::test
