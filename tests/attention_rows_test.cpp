// The kernel that holds a block of rows at a time, through the engine, against the plain definition
// in float64: sizes beyond one block, every instruction set, every shape of bias, and what it alone
// can do.
#include "fovea/kernel/attention_rows.h"

#include <gtest/gtest.h>

#include "fovea/attention/align/drawn.h"
#include "fovea/attention/prepared.h"
#include "fovea/base/parallel.h"
#include "fovea/kernel/simd.h"
#include "support/attention_cases.h"
#include "support/guarded.h"

namespace fovea::test {
namespace {

// Scores that are a product, a product with an activation, and no product.
const std::vector<NamedScore>& three_scores() {
  static const std::vector<NamedScore> list{scores()[1], scores()[4], scores()[5]};
  return list;
}

void expect_exact(const Sizes& z, const NamedScore& s, const NamedAlignment& a,
                  const NamedPattern& p, bool bias, bool dropout) {
  SCOPED_TRACE(say(s.name, " ", a.name, " ", p.name, bias ? " bias" : "", dropout ? " dropout" : "",
                   " ", z.Tq, " queries ", z.Tk, " keys"));
  std::vector<std::vector<Tensor>> results;
  for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Trial setup(z, s, a, p, bias, dropout, dtype);
    results.push_back(setup.results(dtype == Dtype::f64));
  }
  expect_agree(results[0], results[1]);
}

TEST(AttentionRows, AgreeAtLargeSizes) {
  for (const Sizes& z : {Sizes{1, 257, 257, 2, 1, 8, 9}, Sizes{1, 1000, 257, 1, 1, 4, 4},
                         Sizes{1, 257, 1000, 1, 1, 4, 4}}) {
    for (const auto& s : scores()) expect_exact(z, s, alignments()[0], patterns()[1], true, true);
    for (const auto& a : alignments()) {
      for (const auto& s : three_scores()) expect_exact(z, s, a, patterns()[0], false, false);
    }
    for (const auto& p : patterns()) expect_exact(z, scores()[5], alignments()[3], p, false, true);
  }
  const Sizes z{1, 1000, 1000, 1, 1, 4, 4};
  for (const auto& s : three_scores())
    expect_exact(z, s, alignments()[5], patterns()[1], false, true);
  for (const auto& a : alignments()) expect_exact(z, scores()[5], a, patterns()[3], true, false);
}

// Ten minutes of float64 matrices, so only when asked; the cases above are a cut through these.
TEST(AttentionRows, EveryCombinationAgreesAtLargeSizes) {
  if (!getenv("FOVEA_THOROUGH")) GTEST_SKIP() << "takes ten minutes: set FOVEA_THOROUGH=1";
  for (const Sizes& z : {Sizes{1, 257, 257, 1, 1, 4, 5}, Sizes{1, 1000, 1000, 1, 1, 4, 4}}) {
    each_case([&](auto& s, auto& a, auto& p, bool bias, bool dropout) {
      expect_exact(z, s, a, p, bias, dropout);
    });
  }
}

TEST(AttentionRows, AgreeWithEveryInstructionSet) {
  for (const std::string& target : kernel::simd_targets()) {
    kernel::use_simd_target(target);
    SCOPED_TRACE(target);
    for (const Sizes& z : {Sizes{2, 1, 7, 2, 1, 3, 5}, Sizes{2, 37, 65, 2, 2, 17, 16}}) {
      for (const auto& s : three_scores()) {
        for (const auto& a : alignments()) {
          for (const auto& p : patterns()) expect_exact(z, s, a, p, true, true);
        }
      }
    }
  }
  kernel::use_simd_target("");
}

TEST(AttentionRows, EveryShapeOfBiasHasItsGradient) {
  const Sizes z{3, 70, 33, 4, 2, 5, 6};
  for (const auto& s : three_scores()) {
    for (int whole = 0; whole < 16; ++whole) {
      const Shape shape{whole & 1 ? z.B : 1, whole & 2 ? z.H : 1, whole & 4 ? z.Tq : 1,
                        whole & 8 ? z.Tk : 1};
      SCOPED_TRACE(say(s.name, " ", shape));
      std::vector<std::vector<Tensor>> results;
      for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
        Trial setup(z, s, alignments()[1], patterns()[1], false, true, dtype);
        setup.bias = parameter(random_tensor(shape, 6, -1, 1, Dtype::f32).to(dtype));
        results.push_back(setup.results(dtype == Dtype::f64));
      }
      expect_agree(results[0], results[1]);
    }
  }
}

// |q|^2 - 2 q . k + |k|^2 would lose three digits here: half of the weight is at distance 0.
TEST(AttentionRows, DistancesOfPointsThatAreKeysThemselves) {
  const Sizes z{1, 50, 50, 1, 1, 16, 8};
  for (double offset : {0.0, 3.0}) {
    std::vector<std::vector<Tensor>> results;
    for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
      Trial setup(z, scores()[7], alignments()[0], patterns()[0], false, false, dtype);
      const Tensor points = random_tensor({1, 50, 1, 16}, 1, offset - 1, offset + 1, Dtype::f32);
      setup.q = parameter(points.to(dtype));
      setup.k = parameter(points.to(dtype));
      results.push_back(setup.results(dtype == Dtype::f64));
    }
    expect_agree(results[0], results[1]);
  }
}

// tanh(a + b) with a, b so large that e^2a has no float32, and cancelling sums among them.
TEST(AttentionRows, AdditiveScoresWithEveryActivationAndAnyRange) {
  const Sizes z{2, 9, 40, 2, 1, 11, 4};
  for (auto act : {ScoreMap::none, ScoreMap::tanh, ScoreMap::sigmoid, ScoreMap::relu}) {
    for (double range : {1.0, 30.0, 300.0}) {
      SCOPED_TRACE(say("activation ", static_cast<int>(act), " range ", range));
      std::vector<std::vector<Tensor>> results;
      for (Dtype dtype : {Dtype::f32, Dtype::f64}) {
        const Tensor w = parameter(random_tensor({z.D}, 6, -1, 1, Dtype::f32).to(dtype));
        const NamedScore score{"", [&](Scope, int64_t, int64_t) -> Score {
                                 return [&](const Tensor& q, const Tensor& k) {
                                   return ScoreForm{q * range, k * range, 1, act,
                                                    w * (act == ScoreMap::none ? 0.01 : 1)};
                                 };
                               }};
        Trial setup(z, score, alignments()[0], patterns()[0], false, false, dtype);
        results.push_back(setup.results(dtype == Dtype::f64));
      }
      // Numbers this large have lost digits before they reach an activation.
      expect_agree(results[0], results[1], 1e-5 * std::max(1.0, range / 10));
    }
  }
}

TEST(AttentionRows, EntmaxOfAnyAlpha) {
  const Sizes z{1, 33, 90, 1, 1, 8, 8};
  for (double alpha : {1.02, 1.1, 1.25, 1.5, 1.75, 1.9, 2.0}) {
    const NamedAlignment align{"entmax",
                               [alpha](Scope, int64_t) { return entmax_alignment(alpha); }};
    SCOPED_TRACE(alpha);
    for (const auto& p : patterns()) expect_exact(z, scores()[0], align, p, true, false);
  }
}

TEST(AttentionRows, CaptureIsExactAndChangesNoBit) {
  for (const Sizes& z : {Sizes{2, 70, 130, 4, 2, 6, 5}, Sizes{1, 3, 200, 1, 1, 6, 5},
                         Sizes{1, 300, 9, 2, 1, 6, 5}}) {
    for (const auto& s : three_scores()) {
      for (const auto& a : alignments()) {
        for (const auto& p : {patterns()[0], patterns()[3], patterns()[5]}) {
          SCOPED_TRACE(say(s.name, " ", a.name, " ", p.name, " ", z.Tq));
          Trial fast(z, s, a, p, false, true, Dtype::f32),
              exact(z, s, a, p, false, true, Dtype::f64);
          Tape so_that_it_drops;
          const Tensor without = fast.run(false).context;
          const Capture rows{.what = Capture::What::rows, .queries = {2, 0, 1}};
          const AttentionOutput some = fast.run(false, rows);
          expect_same_bits(some.context, without);
          expect_close(some.weights.rows, exact.run(true, rows).weights.rows);
          const Capture summary{
              .what = Capture::What::summary, .top = 5, .map_rows = 7, .map_cols = 64};
          const AttentionOutput short_form = fast.run(false, summary);
          expect_same_bits(short_form.context, without);
          const Weights told = exact.run(true, summary).weights;
          expect_close(short_form.weights.entropy, told.entropy);
          expect_close(short_form.weights.top_weights, told.top_weights);
          expect_close(short_form.weights.map, told.map);
        }
      }
    }
  }
}

TEST(AttentionRows, SameBitsWithAnyNumberOfThreads) {
  for (const Sizes& z : {Sizes{1, 300, 260, 1, 1, 8, 8}, Sizes{3, 100, 90, 6, 3, 8, 8}}) {
    for (const auto& s : three_scores()) {
      for (const auto& a : alignments()) {
        for (const Shape& bias : {Shape{1, 1, 1, z.Tk}, Shape{1, 1, z.Tq, z.Tk}}) {
          std::vector<Tensor> first;
          for (int count : {1, 2, 4}) {
            set_threads(count);
            Trial setup(z, s, a, patterns()[1], false, true, Dtype::f32);
            setup.bias = parameter(random_tensor(bias, 6, -1, 1, Dtype::f32));
            const auto now = setup.results(false);
            if (first.empty()) first = now;
            for (size_t i = 0; i < now.size(); ++i) expect_same_bits(now[i], first[i]);
          }
        }
      }
    }
  }
  set_threads(2);
}

// Ends the program where it fails.
TEST(AttentionRows, TouchNothingPastTheirArrays) {
  using kernel::RowAlign;
  auto rows = [](auto* data, int64_t row) {
    return kernel::HeadView<std::remove_pointer_t<decltype(data)>>{data, 0, row, 0};
  };
  auto constant = [](auto* data, int64_t row) {
    return kernel::HeadView<const std::remove_pointer_t<decltype(data)>>{data, 0, row, 0};
  };
  for (const auto& [Tq, Tk, D, Dv] :
       {std::array<int64_t, 4>{1, 1, 1, 1}, {3, 7, 5, 3}, {7, 65, 17, 9}, {65, 13, 8, 17}}) {
    const Guarded<> q(Tq * D), k(Tk * D), v(Tk * Dv), dout(Tq * Dv), bias(Tq * Tk), w(D);
    const Guarded<> out(Tq * Dv), lse(Tq), dq(Tq * D), dk(Tk * D), dv(Tk * Dv), dw(D),
        dbias(Tq * Tk);
    const Guarded<double> centers(Tq), dcenters(Tq);
    kernel::RowsInputs in;
    in.base.Tq = Tq, in.base.Tk = Tk, in.base.D = D, in.base.Dv = Dv;
    in.base.q = constant(q.data(), D), in.base.k = constant(k.data(), D);
    in.base.v = constant(v.data(), Dv), in.base.bias = constant(bias.data(), Tk);
    in.centers = constant(centers.data(), 1);
    kernel::RowsGradients to;
    to.base = {rows(dq.data(), D), rows(dk.data(), D), rows(dv.data(), Dv), rows(dbias.data(), Tk)};
    to.dcenters = rows(dcenters.data(), 1);
    for (auto align : {RowAlign::softmax, RowAlign::sigmoid, RowAlign::entmax, RowAlign::local}) {
      for (auto map : {ScoreMap::none, ScoreMap::tanh, ScoreMap::distance}) {
        for (bool additive : {false, map != ScoreMap::distance}) {
          in.align = align, in.map = map;
          in.w = additive ? w.data() : nullptr;
          to.dw = additive ? dw.data() : nullptr;
          kernel::attention_rows_forward(in, rows(out.data(), Dv), lse.data());
          kernel::attention_rows_backward(in, constant(dout.data(), Dv), to);
          EXPECT_TRUE(std::isfinite(out.data()[Tq * Dv - 1]));
          EXPECT_TRUE(std::isfinite(dk.data()[Tk * D - 1]));
        }
      }
    }
  }
}

TEST(AttentionRows, TakeWhatTheFusedKernelDeclines) {
  const Sizes z{1, 3, 4, 1, 1, 3, 2};
  const NamedPattern& full = patterns()[0];
  auto paths = [&](const NamedScore& s, const Alignment& align, Dtype dtype) {
    Trial setup(z, s, alignments()[0], full, false, false, dtype);
    const AttentionInputs in{.q = setup.q, .k = setup.k, .v = setup.v};
    const PreparedAttention call = prepare(in, setup.score, align);
    return std::pair(fused_declines(call).empty(), rows_declines(call).empty());
  };
  EXPECT_EQ(paths(scores()[0], softmax_alignment(), Dtype::f32), std::pair(true, true));
  EXPECT_EQ(paths(scores()[5], softmax_alignment(), Dtype::f32), std::pair(false, true));
  EXPECT_EQ(paths(scores()[0], sparsemax_alignment(), Dtype::f32), std::pair(false, true));
  EXPECT_EQ(paths(scores()[0], hard_alignment(Estimator::reinforce), Dtype::f32),
            std::pair(false, false));
  EXPECT_EQ(paths(scores()[0], softmax_alignment(), Dtype::f64), std::pair(false, false));
}

}  // namespace
}  // namespace fovea::test
