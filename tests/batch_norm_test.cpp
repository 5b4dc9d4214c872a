// Batch norm: kernels against their twins, the op against its numeric gradient and PyTorch, and the
// layer's running statistics.
#include "fovea/kernel/batch_norm.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/nn/batch_norm.h"
#include "fovea/nn/conv.h"
#include "fovea/nn/parameter_file.h"
#include "fovea/op/shape.h"
#include "fovea/train/checkpoint.h"
#include "fovea/train/optimizer.h"
#include "support/golden.h"
#include "support/layer.h"
#include "support/scratch.h"
#include "support/twin.h"

namespace fovea::test {
namespace {

TEST(BatchNormKernel, AgreesWithItsTwin) {
  // Many rows, so that several blocks are joined, and columns that fill no vector.
  for (const auto& [rows, cols] :
       {std::pair<int64_t, int64_t>{3, 1}, {5, 7}, {64, 16}, {9, 33}, {3000, 19}, {700, 65}}) {
    for (const bool relu : {false, true}) {
      SCOPED_TRACE(say(rows, " ", cols, " ", relu));
      check_against_twin([=, rows = rows, cols = cols]<class T>(Call& c, T) {
        const int64_t n = rows * cols;
        const T *x = c.in<T>(n, -1, 4), *gamma = c.in<T>(cols), *beta = c.in<T>(cols),
                *dy = c.in<T>(n);
        T *mean = c.out<T>(cols), *variance = c.out<T>(cols);
        kernel::column_moments(mean, variance, x, rows, cols);
        // Given ones, lest a rounding of the mean decide what relu cuts off.
        const T *at = c.in<T>(cols), *scale = c.in<T>(cols, 0.5, 2);
        const kernel::BatchNorm<T> norm{x, at, scale, gamma, beta, rows, cols, relu};
        kernel::batch_norm(c.out<T>(n), norm);
        for (const bool fixed : {false, true}) {
          T *dx = c.out<T>(n), *dgamma = c.out<T>(cols), *dbeta = c.out<T>(cols);
          kernel::batch_norm_grad(dx, dgamma, dbeta, dy, norm, fixed);
        }
      });
    }
  }
}

// A mean far from zero does not cost the variance its digits.
TEST(BatchNormKernel, FarFromZero) {
  std::vector<float> x;
  for (int i = 0; i < 20'000; ++i) x.push_back(1e4f + static_cast<float>(i % 2));
  float mean = 0, variance = 0;
  kernel::column_moments(&mean, &variance, x.data(), static_cast<int64_t>(x.size()), 1);
  EXPECT_FLOAT_EQ(mean, 10000.5f);
  EXPECT_NEAR(variance, 0.25, 1e-6);
}

TEST(BatchNormOp, GradientsAreTheNumericOnes) {
  const Tensor x = random_tensor({3, 2, 2, 5}, 1), gamma = random_tensor({5}, 2, 0.5, 2),
               beta = random_tensor({5}, 3);
  for (const bool relu : {false, true}) {
    check_gradients(
        [&](auto& in) { return batch_norm(in[0], in[1], in[2], BatchNormOptions{.relu = relu}); },
        {x, gamma, beta});
    const Tensor mean = random_tensor({5}, 4), variance = random_tensor({5}, 5, 0.5, 2);
    check_gradients(
        [&](auto& in) {
          return batch_norm(in[0], in[1], in[2], FixedStatistics{mean, variance}, {.relu = relu});
        },
        {x, gamma, beta});
  }
}

TEST(BatchNormOp, AgreesWithPyTorch) {
  Golden golden("batch_norm.safetensors");
  for (const std::string shape : {"6x3", "2x3x4x5", "3x5x2x17"}) {
    golden.check("batch_norm " + shape,
                 [](const std::vector<Tensor>& x) { return batch_norm(x[0], x[1], x[2]); });
  }
  golden.check("batch_norm fixed", [](const std::vector<Tensor>& x) {
    return batch_norm(
        x[0], x[1], x[2],
        FixedStatistics{Tensor::of({3}, {0.5f, -1, 2}), Tensor::of({3}, {1, 4, 0.25f})},
        {.eps = 1e-3});
  });
  EXPECT_EQ(golden.left(), std::set<std::string>{});
}

TEST(BatchNormOp, RefusesWhatDoesNotFit) {
  const Tensor x = Tensor::zeros({4, 3}), w = Tensor::zeros({3}), other = Tensor::zeros({2});
  EXPECT_EQ(error_of([&] { batch_norm(x, other, w); }),
            "batch_norm: x float32 [4, 3] needs gamma, beta, mean and variance of shape [3], got "
            "float32 [2]");
  EXPECT_EQ(error_of([&] {
              batch_norm(Tensor::zeros({0, 3}), w, w);
            }),
            "batch_norm: a batch without rows has no mean");
}

TEST(BatchNormLayer, TrainsOnBatchesAndAnswersWithRunningStatistics) {
  Parameters table(1);
  const BatchNorm norm(Scope(table) / "norm", 2);
  const Tensor x = Tensor::of({4, 2}, {1, 10, 2, 10, 3, 30, 6, 30});
  Random random(1);
  {
    Tape tape(random);
    const Tensor y = norm(x);
    // Mean 0, deviation 1, whatever came in.
    EXPECT_NEAR(mean(slice(y, 1, 0, 1)).item(), 0, 1e-6);
    EXPECT_NEAR(mean(square(slice(y, 1, 1, 2))).item(), 1, 1e-4);
    const Gradients g = tape.backward(sum(y * y));
    EXPECT_TRUE(g.has(norm.gamma));
    EXPECT_FALSE(g.has(norm.mean));
    EXPECT_FALSE(g.has(norm.variance));
  }
  // As PyTorch has it: a tenth of the batch's mean and of its unbiased variance.
  EXPECT_NEAR(norm.mean.read()[0], 0.3, 1e-6);
  EXPECT_NEAR(norm.variance.read()[0], 0.9 + 0.1 * 14 / 3, 1e-6);
  EXPECT_NEAR(norm.mean.read()[1], 2, 1e-6);
  const Tensor before = norm.mean.value();
  const Tensor y = norm(x);  // no stream: answers, and nothing moves
  expect_same_bits(norm.mean.value(), before);
  EXPECT_NEAR(y.read()[0], (1 - 0.3) / std::sqrt(0.9 + 0.1 * 14 / 3 + 1e-5), 1e-5);
}

TEST(BatchNormLayer, StatisticsAreSavedAndLoadedButNotStepped) {
  const ScratchFolder scratch;
  const std::string path = scratch.path() + "/model.safetensors";
  Parameters table(1);
  const BatchNorm norm(Scope(table) / "norm", 3);
  const auto optimizer = make_optimizer(table, {.kind = "adamw", .rate = 0.1, .weight_decay = 0.5});
  Random random(2);
  {
    Tape tape(random);
    const Gradients g = tape.backward(sum(square(norm(random_tensor({8, 3}, 1).to(Dtype::f32)))));
    const Tensor seen = norm.variance.value();
    optimizer->step(g);
    expect_same_bits(norm.variance.value(), seen);
  }
  save_parameters(path, table);
  ParameterFile file(path);
  Parameters again(7, Dtype::f32, file.source());
  const BatchNorm loaded(Scope(again) / "norm", 3);
  file.finish();
  EXPECT_TRUE(loaded.mean.frozen());
  expect_same_bits(loaded.mean.value(), norm.mean.value());
  expect_same_bits(loaded.variance.value(), norm.variance.value());
  const Tensor x = random_tensor({2, 3}, 3).to(Dtype::f32);
  expect_same_bits(loaded(x), norm(x));
  // A clone has statistics of its own.
  const BatchNorm other = clone(norm);
  EXPECT_TRUE(other.mean.frozen());
  other.mean = Tensor::zeros({3});
  EXPECT_NE(norm.mean.read()[0], 0);
}

}  // namespace
}  // namespace fovea::test
