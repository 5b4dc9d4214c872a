#include <gtest/gtest.h>

#include <cmath>

#include "fovea/nn/embedding.h"
#include "fovea/nn/feedforward.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/norm.h"
#include "fovea/nn/scope.h"
#include "fovea/op/matmul.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

TEST(Scope, NamesParametersByTheirPath) {
  Parameters table(1);
  const Scope s = table;
  FeedForward block(s / "encoder" / 0, 4, 8);
  std::vector<std::string> names;
  for (const auto& entry : table.entries()) names.push_back(entry.name());
  EXPECT_EQ(names, (std::vector<std::string>{"encoder/0/inner/weight", "encoder/0/inner/bias",
                                             "encoder/0/outer/weight", "encoder/0/outer/bias"}));
  EXPECT_EQ(table.count(), 4 * 8 + 8 + 8 * 4 + 4);
  EXPECT_EQ(table["encoder/0/inner/bias"].shape(), (Shape{8}));
  EXPECT_THROW(table["encoder/1"], Error);
  EXPECT_THROW(Linear(s / "encoder" / 0 / "inner", 4, 8), Error) << "one name, one parameter";
}

TEST(Scope, FirstValuesDependOnSeedAndPathAlone) {
  Parameters one(1), more(1), other(2);
  Linear a(Scope(one) / "last", 3, 5);
  Linear first(Scope(more) / "first", 9, 9), b(Scope(more) / "last", 3, 5);
  Linear c(Scope(other) / "last", 3, 5);
  expect_same_bits(a.weight, b.weight);
  EXPECT_GT(relative_difference(a.weight, c.weight), 0.1);
}

TEST(Init, XavierAndUniformKeepTheirLimits) {
  const Tensor w = init::xavier_uniform()({30, 50}, Random(1));
  double largest = 0, squares = 0;
  for (double x : w.read<double>()) {
    largest = std::max(largest, std::abs(x));
    squares += x * x;
  }
  const double limit = std::sqrt(6.0 / 80);
  EXPECT_LE(largest, limit);
  EXPECT_GT(largest, 0.98 * limit);
  EXPECT_NEAR(squares / 1500, limit * limit / 3, 0.1 * limit * limit / 3);
  const Tensor uniform = init::uniform(0.1)({100}, Random(2)),
               normal = init::normal(0.5)({5000}, Random(3));
  for (double x : uniform.read<double>()) EXPECT_LE(std::abs(x), 0.1);
  double deviation = 0;
  for (double x : normal.read<double>()) deviation += x * x;
  EXPECT_NEAR(std::sqrt(deviation / 5000), 0.5, 0.02);
}

TEST(Init, OrthogonalIsOrthogonal) {
  for (const Shape& shape : {Shape{5, 5}, Shape{3, 8}, Shape{8, 3}}) {
    const Tensor w = init::orthogonal(2)(shape, Random(1));
    const Tensor product =
        shape[0] <= shape[1] ? matmul(w, w, Transpose::b) : matmul(w, w, Transpose::a);
    for (int64_t i = 0; i < product.dim(0); ++i) {
      for (int64_t j = 0; j < product.dim(1); ++j) {
        EXPECT_NEAR(product.read<double>()[i * product.dim(1) + j], i == j ? 4 : 0, 1e-12);
      }
    }
  }
  const Tensor gates = init::orthogonal(1, 4)({12, 3}, Random(1));
  const Tensor block = Tensor::of({3, 3}, gates.read<double>().subspan(9, 9));
  EXPECT_NEAR(matmul(block, block, Transpose::b).read<double>()[4], 1, 1e-12);
}

TEST(Layers, GradientsReachEveryParameter) {
  const Tensor x = random_tensor({2, 3, 4}, 1);
  Parameters t1(1, Dtype::f64), t2(1, Dtype::f64), t3(1, Dtype::f64);
  EXPECT_LT(layer_error(t1, Linear(t1, 4, 5), x), 1e-5);
  EXPECT_LT(layer_error(t2, LayerNorm(t2, 4), x), 1e-5);
  EXPECT_LT(layer_error(t3, FeedForward(t3, 4, 7, gelu), x), 1e-5);
}

TEST(Layers, TiedEmbeddingGathersBothUses) {
  Parameters table(1, Dtype::f64);
  const Embedding e(table, 6, 3);
  const Tensor ids = Tensor::ids({2, 2}, {0, 5, 5, 1});
  const double error =
      gradient_error([&](const std::vector<Tensor>&) { return e.scores(e(ids)); }, {}, table);
  EXPECT_LT(error, 1e-5);
}

}  // namespace
}  // namespace fovea::test
