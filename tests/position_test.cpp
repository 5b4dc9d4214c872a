#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/engine.h"
#include "fovea/attention/position/alibi.h"
#include "fovea/attention/position/distance.h"
#include "fovea/attention/position/learned.h"
#include "fovea/attention/position/memory.h"
#include "fovea/attention/position/rotary.h"
#include "fovea/attention/position/shaw.h"
#include "fovea/attention/position/sinusoidal.h"
#include "fovea/attention/position/t5.h"
#include "fovea/base/parallel.h"
#include "fovea/op/matmul.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"
#include "fovea/tensor/safetensors.h"
#include "support/layer.h"
#include "support/paths.h"

namespace fovea::test {
namespace {

using Tensors = std::vector<Tensor>;
using Pairs = RotaryOptions::Pairs;

TEST(Sinusoidal, HasSinesAtEvenAndCosinesAtOddFeatures) {
  for (const auto& [T, d, offset] :
       {std::tuple{1, 1, 0}, {7, 2, 0}, {200, 7, 3}, {130, 64, 90000}}) {
    const Tensor x = sinusoidal(T, d, offset, Dtype::f64);
    ASSERT_EQ(x.shape(), (Shape{T, d}));
    for (int64_t p = 0; p < T; ++p) {
      for (int64_t k = 0; k < d; ++k) {
        const double angle = (p + offset) / std::pow(10000.0, (k - k % 2) / static_cast<double>(d));
        ASSERT_NEAR(x.read<double>()[p * d + k], k % 2 ? std::cos(angle) : std::sin(angle), 1e-10);
      }
    }
    expect_close(sinusoidal(T, d, offset), x, 1e-6);
  }
  EXPECT_THROW(sinusoidal(3, 0), Error);
}

TEST(Sinusoidal, AShiftIsARotation) {
  const int64_t T = 50, d = 12, delta = 17;
  const Tensor here = sinusoidal(T, d), there = sinusoidal(T, d, delta);
  for (int64_t i = 0; i < d / 2; ++i) {
    // One matrix for every position.
    const double angle = delta * std::pow(10000.0, -2.0 * i / d), c = std::cos(angle),
                 s = std::sin(angle);
    for (int64_t p = 0; p < T; ++p) {
      const float* x = &here.read()[p * d + 2 * i];
      EXPECT_NEAR(there.read()[p * d + 2 * i], c * x[0] + s * x[1], 1e-6);
      EXPECT_NEAR(there.read()[p * d + 2 * i + 1], -s * x[0] + c * x[1], 1e-6);
    }
  }
}

TEST(Learned, GivesRowsWithTheirGradient) {
  check_layer(
      [](Scope s) {
        const LearnedPosition position(s, 9, 3);
        return [=](const Tensors& x) { return x[0] + position(4, 2); };
      },
      {random_tensor({2, 4, 3}, 1)});
  Parameters table;
  const LearnedPosition position(table, 9, 3);
  expect_same_bits(position(2, 7), slice(position.weight, 0, 7, 9));
  EXPECT_THROW(position(3, 7), Error);
  EXPECT_THROW(position(3, -1), Error);
}

TEST(ByDistance, SpreadsAndGathersOverTheDiagonals) {
  for (const int64_t offset : {-9, -2, 0, 3, 9}) {
    for (const int64_t rows : {1, 4}) {
      const Tensor r = random_tensor({2, 3, rows, 5}, 1);
      const Tensor y = by_distance(r, 4, 7, offset);
      for (int64_t at = 0; at < y.elements(); ++at) {
        const int64_t j = at % 7, i = at / 7 % 4, plane = at / 28;
        const int64_t d = std::clamp<int64_t>(j - i - offset, -2, 2) + 2;
        ASSERT_EQ(y.read<double>()[at], r.read<double>()[(plane * rows + i % rows) * 5 + d]);
      }
      check_gradients([&](const Tensors& x) { return by_distance(x[0], 4, 7, offset); }, {r});
    }
  }
  EXPECT_THROW(by_distance(Tensor::zeros({1, 1, 1, 4}), 2, 2, 0), Error);
  EXPECT_THROW(by_distance(Tensor::zeros({1, 1, 3, 5}), 2, 2, 0), Error);
}

TEST(T5, HasThePublishedBuckets) {
  const auto golden = Safetensors::open(golden_path("attention.safetensors"));
  for (const bool causal : {false, true}) {
    const std::string name = causal ? "t5 causal" : "t5 both";
    const Tensor distance = golden.load(name + "/0"), bucket = golden.load(name + "/y");
    ASSERT_EQ(distance.elements(), 601);
    for (int64_t i = 0; i < distance.elements(); ++i) {
      EXPECT_EQ(t5_bucket(distance.read<int32_t>()[i], {.causal = causal}),
                bucket.read<int32_t>()[i])
          << name << " " << distance.read<int32_t>()[i];
    }
  }
}

TEST(T5, IsABiasForEachHeadAndBucket) {
  for (const bool causal : {false, true}) {
    Parameters table(1);
    const T5Position t5(table, 3, {.causal = causal});
    const Tensor y = t5.bias(5, 400, 170);
    ASSERT_EQ(y.shape(), (Shape{1, 3, 5, 400}));
    for (int64_t at = 0; at < y.elements(); ++at) {
      const int64_t j = at % 400, i = at / 400 % 5, h = at / 2000;
      const int64_t bucket = t5_bucket(j - i - 170, t5.options);
      ASSERT_EQ(y.read()[at], t5.weight.read()[bucket * 3 + h]);
    }
    check_layer(
        [=](Scope s) {
          const T5Position t5(s, 2, {.buckets = 8, .longest = 10, .causal = causal});
          return [=](const Tensors& x) { return t5.bias(6, 30, 11) * x[0]; };
        },
        {random_tensor({1, 1, 1, 30}, 2)});
  }
  Parameters table;
  EXPECT_THROW(T5Position(Scope(table) / "a", 2, {.buckets = 3}), Error);
  EXPECT_THROW(T5Position(Scope(table) / "b", 2, {.longest = 8}), Error);
}

TEST(Shaw, IsTheQueryTimesAVectorForEachDistance) {
  // The paper's equation, with k_j + a_clip(j - i) written out.
  const int64_t B = 2, Tq = 4, Tk = 7, H = 3, d = 5, reach = 2, offset = 1;
  Parameters table(1, Dtype::f64);
  const ShawPosition shaw(table, d, reach);
  const Tensor q = random_tensor({B, Tq, H, d}, 1), k = random_tensor({B, Tk, H, d}, 2),
               v = random_tensor({B, Tk, H, d}, 3);
  const Tensor c =
      attend({.q = q, .k = k, .v = v, .bias = shaw.bias(q, Tk, offset, 1 / std::sqrt(5.0))},
             scaled_score())
          .context;
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t h = 0; h < H; ++h) {
      for (int64_t i = 0; i < Tq; ++i) {
        const double* qi = &q.read<double>()[((b * Tq + i) * H + h) * d];
        double total = 0, sums[d] = {};
        for (int64_t j = 0; j < Tk; ++j) {
          const int64_t row = std::clamp<int64_t>(j - i - offset, -reach, reach) + reach;
          double e = 0;
          for (int64_t x = 0; x < d; ++x) {
            e += qi[x] * (k.read<double>()[((b * Tk + j) * H + h) * d + x] +
                          shaw.keys.read<double>()[row * d + x]);
          }
          total += std::exp(e / std::sqrt(5.0));
          for (int64_t x = 0; x < d; ++x) {
            sums[x] +=
                std::exp(e / std::sqrt(5.0)) * v.read<double>()[((b * Tk + j) * H + h) * d + x];
          }
        }
        for (int64_t x = 0; x < d; ++x) {
          ASSERT_NEAR(c.read<double>()[((b * Tq + i) * H + h) * d + x], sums[x] / total, 1e-12);
        }
      }
    }
  }
  check_layer(
      [=](Scope s) {
        const ShawPosition shaw(s, d, reach);
        return [=](const Tensors& x) { return shaw.bias(x[0], Tk, offset, 0.4); };
      },
      {q});
  EXPECT_THROW(shaw.bias(random_tensor({1, 2, 1, 4}, 1), 3, 0, 1), Error);
  EXPECT_THROW(ShawPosition(Scope(table) / "other", 4, -1), Error);
}

TEST(Rotary, TurnsPairsByTheirAngle) {
  for (const auto& [D, width] : {std::pair{2, 0}, {6, 0}, {7, 4}, {64, 0}}) {
    for (const Pairs pairs : {Pairs::neighbours, Pairs::halves}) {
      const int64_t B = 2, T = 71, H = 3, turning = width ? width : D, offset = 1000;
      const Tensor x = random_tensor({B, T, H, D}, 1);
      const RotaryOptions options{.pairs = pairs, .width = width};
      const Tensor y = rotary(x, offset, options);
      for (int64_t row = 0; row < B * T * H; ++row) {
        const double p = static_cast<double>(row / H % T + offset);
        for (int64_t i = 0; i < turning / 2; ++i) {
          const int64_t a = row * D + (pairs == Pairs::halves ? i : 2 * i);
          const int64_t b = pairs == Pairs::halves ? a + turning / 2 : a + 1;
          const double angle = p * std::pow(10000.0, -2.0 * i / turning);
          const auto from = x.read<double>(), to = y.read<double>();
          ASSERT_NEAR(to[a], from[a] * std::cos(angle) - from[b] * std::sin(angle), 1e-11);
          ASSERT_NEAR(to[b], from[a] * std::sin(angle) + from[b] * std::cos(angle), 1e-11);
        }
        for (int64_t i = turning; i < D; ++i) {
          ASSERT_EQ(y.read<double>()[row * D + i], x.read<double>()[row * D + i]);
        }
      }
      check_float(
          [=](Scope) { return [=](const Tensors& at) { return rotary(at[0], offset, options); }; },
          {x});
    }
  }
  EXPECT_THROW(rotary(Tensor::zeros({1, 2, 1, 5})), Error);
  EXPECT_THROW(rotary(Tensor::zeros({1, 2, 1, 4}), 0, {.width = 6}), Error);
  EXPECT_THROW(rotary(Tensor::zeros({2, 1, 4})), Error);
}

TEST(Rotary, HasItsGradient) {
  for (const Pairs pairs : {Pairs::neighbours, Pairs::halves}) {
    check_gradients([=](const Tensors& x) { return rotary(x[0], 5, {.pairs = pairs, .width = 4}); },
                    {random_tensor({2, 3, 2, 5}, 1)});
  }
}

TEST(Rotary, ScoresDoNotChangeWhenQueriesAndKeysMoveTogether) {
  for (const Pairs pairs : {Pairs::neighbours, Pairs::halves}) {
    const Tensor q = random_tensor({1, 65, 1, 64}, 1, -1, 1, Dtype::f32),
                 k = random_tensor({1, 65, 1, 64}, 2, -1, 1, Dtype::f32);
    auto scores = [&](int64_t offset) {
      const Tensor rows = reshape(rotary(q, offset, {.pairs = pairs}), {65, 64});
      return matmul(rows, reshape(rotary(k, offset, {.pairs = pairs}), {65, 64}), Transpose::b);
    };
    for (const int64_t offset : {1, 64, 100000}) expect_close(scores(offset), scores(0), 1e-5);
    EXPECT_GT(relative_difference(scores(0),
                                  matmul(reshape(q, {65, 64}), reshape(k, {65, 64}), Transpose::b)),
              0.1);
  }
}

TEST(Rotary, SameBitsWithAnyNumberOfThreads) {
  const Tensor x = random_tensor({2, 300, 2, 10}, 1).to(Dtype::f32);
  const int before = threads();
  set_threads(1);
  const Tensor one = rotary(x);
  set_threads(4);
  expect_same_bits(rotary(x), one);
  set_threads(before);
}

TEST(Alibi, HasThePublishedSlopes) {
  const std::vector<double> eight = alibi_slopes(8), twelve = alibi_slopes(12),
                            sixteen = alibi_slopes(16);
  for (int h = 0; h < 8; ++h) {
    EXPECT_EQ(eight[h], std::ldexp(1, -1 - h));
    EXPECT_EQ(twelve[h], eight[h]);
    EXPECT_DOUBLE_EQ(sixteen[2 * h + 1], eight[h]);
    EXPECT_DOUBLE_EQ(sixteen[2 * h], eight[h] * std::sqrt(2.0));
  }
  for (int h = 0; h < 4; ++h) EXPECT_DOUBLE_EQ(twelve[8 + h], std::exp2(-0.5 - h));
  EXPECT_EQ(alibi_slopes(1), std::vector<double>{1.0 / 256});
  EXPECT_EQ(alibi_slopes(3), (std::vector<double>{1.0 / 16, 1.0 / 256, 1.0 / 4}));
  EXPECT_THROW(alibi_slopes(0), Error);
}

TEST(Alibi, FallsWithTheDistance) {
  for (const auto& [Tq, Tk, offset] :
       {std::tuple{5, 5, 0}, {1, 40, 39}, {7, 3, 0}, {3, 9, 4}, {2, 3, -6}}) {
    const Tensor y = alibi(6, Tq, Tk, offset, Dtype::f64);
    ASSERT_EQ(y.shape(), (Shape{1, 6, Tq, Tk}));
    for (int64_t at = 0; at < y.elements(); ++at) {
      const int64_t distance = at % Tk - at / Tk % Tq - offset;
      EXPECT_EQ(y.read<double>()[at], -alibi_slopes(6)[at / Tk / Tq] * std::abs(distance));
    }
  }
}

TEST(MemoryPosition, WeighsWordsByPlaceAndFeature) {
  const int64_t J = 5, d = 4;
  const Tensor l = memory_position(J, d, Dtype::f64);
  for (int64_t j = 1; j <= J; ++j) {
    for (int64_t k = 1; k <= d; ++k) {
      EXPECT_NEAR(l.read<double>()[(j - 1) * d + k - 1],
                  (1 - j / 5.0) - (k / 4.0) * (1 - 2 * j / 5.0), 1e-15);
    }
  }
  // A sentence of one word: l = k / d.
  expect_close(memory_position(1, 4), Tensor::of({1, 4}, {0.25f, 0.5f, 0.75f, 1}), 1e-7);
}

}  // namespace
}  // namespace fovea::test
