// Attention that varies the query: hops, capsules, another input's summary; and a weight a feature.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/align/drawn.h"
#include "fovea/attention/align/entmax.h"
#include "fovea/attention/align/softmax.h"
#include "fovea/attention/engine.h"
#include "fovea/attention/multidim.h"
#include "fovea/attention/query/capsule.h"
#include "fovea/attention/query/multihop.h"
#include "fovea/attention/score/additive.h"
#include "fovea/attention/score/general.h"
#include "fovea/op/recompute.h"
#include "fovea/op/shape.h"
#include "fovea/tensor/pool.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

using Tensors = std::vector<Tensor>;
using Next = MultiHopOptions::Next;

const ScoreFactory dot = [](Scope, int64_t, int64_t) { return dot_score(); };

// x with huge numbers in the rows of axis 1 from `from[b]` on.
Tensor spoiled(const Tensor& x, const std::vector<int64_t>& from) {
  Tensor y = x;
  const int64_t row = x.elements() / x.dim(0) / x.dim(1);
  for (int64_t b = 0; b < x.dim(0); ++b) {
    for (int64_t t = from[b]; t < x.dim(1); ++t) {
      for (int64_t i = 0; i < row; ++i) y.write<double>()[(b * x.dim(1) + t) * row + i] = 1e4;
    }
  }
  return y;
}

TEST(MultiHop, EveryWayHasItsGradient) {
  const Tensor q = random_tensor({2, 3, 2, 4}, 1), k = random_tensor({2, 5, 1, 3}, 2),
               v = random_tensor({2, 5, 1, 4}, 3);
  for (const Next next : {Next::add, Next::map_and_add, Next::transform}) {
    for (const bool shared : {false, true}) {
      for (const bool beside : {false, true}) {
        SCOPED_TRACE(say(static_cast<int>(next), shared ? " shared" : "", beside ? " beside" : ""));
        check_layer(
            [=](Scope s) {
              const MultiHop hops(s, 4, 3, 4,
                                  {.hops = 3, .shared = shared, .next = next, .beside = beside});
              return [hops](const Tensors& x) {
                const auto o = hops(
                    {.q = x[0], .k = x[1], .v = x[2], .who = lengths(Tensor::ids({2}, {5, 2}))});
                return concat({o.context, o.query}, -1);
              };
            },
            {q, k, v});
      }
    }
  }
}

TEST(MultiHop, AMemoryNetworkAddsWhatItReads) {
  const Tensor q = random_tensor({2, 1, 1, 4}, 1), k = random_tensor({2, 6, 1, 4}, 2),
               v = random_tensor({2, 6, 1, 4}, 3);
  Parameters table(1, Dtype::f64);
  const MultiHop hops(table, 4, 4, 4, {.hops = 3, .next = Next::add, .score = dot});
  EXPECT_EQ(table.count(), 0);
  const auto o = hops({.q = q, .k = k, .v = v, .capture = {.what = Capture::What::rows}});
  Tensor u = q, c;
  for (int s = 0; s < 3; ++s) {
    c = attend({.q = u, .k = k, .v = v}, dot_score()).context;
    u = u + c;
    expect_close(o.hops[s].context, c, 1e-12);
    EXPECT_EQ(o.hops[s].weights.rows.shape(), (Shape{2, 1, 1, 6}));
  }
  expect_close(o.context, c, 1e-12);
  expect_close(o.query, u, 1e-12);
}

TEST(MultiHop, TheSurveysFormStartsFromTheMeanAndScoresBoth) {
  const Tensor q = random_tensor({1, 2, 1, 3}, 1), k = random_tensor({1, 4, 1, 5}, 2),
               v = random_tensor({1, 4, 1, 2}, 3);
  Parameters table(1, Dtype::f64);
  const MultiHop hops(table, 3, 5, 2, {.hops = 2, .shared = true, .beside = true});
  const auto o = hops({.q = q, .k = k, .v = v});
  const Tensor &W = table["score/weight"], &W_q = table["query/weight"],
               &W_c = table["context/weight"], &b = table["context/bias"];
  Tensor query = q, c = broadcast_to(mean(v, 1, true), {1, 2, 1, 2});
  for (int s = 0; s < 2; ++s) {
    query = tanh(linear(query, W_q) + linear(c, W_c, b));
    c = attend({.q = linear(concat({query, c}, -1), W), .k = k, .v = v}, dot_score()).context;
  }
  expect_close(o.context, c, 1e-12);
  expect_close(o.query, query, 1e-12);
}

TEST(MultiHop, PaddingChangesNothing) {
  const Tensor q = random_tensor({2, 1, 1, 4}, 1), k = random_tensor({2, 5, 1, 4}, 2),
               v = random_tensor({2, 5, 1, 4}, 3);
  Parameters table(1, Dtype::f64);
  const MultiHop hops(table, 4, 4, 4, {.hops = 2, .beside = true});
  const Pattern who = lengths(Tensor::ids({2}, {3, 5}));
  expect_close(hops({.q = q, .k = spoiled(k, {3, 5}), .v = spoiled(v, {3, 5}), .who = who}).context,
               hops({.q = q, .k = k, .v = v, .who = who}).context, 1e-12);
}

TEST(MultiHop, NamesAndRefusals) {
  Parameters own, shared;
  MultiHop(own, 4, 4, 4, {.hops = 2, .next = Next::map_and_add});
  MultiHop(shared, 4, 4, 4, {.hops = 2, .shared = true, .next = Next::map_and_add});
  EXPECT_TRUE(own.has("0/score/weight") && own.has("1/query/weight"));
  EXPECT_EQ(own.count(), 2 * shared.count());
  EXPECT_TRUE(shared.has("query/weight"));
  Parameters table;
  const Scope s = table;
  EXPECT_THROW(MultiHop(s / "a", 4, 4, 3, {.next = Next::add}), Error);
  EXPECT_THROW(MultiHop(s / "b", 4, 4, 4, {.hops = 0}), Error);
}

TEST(Capsules, HaveTheirGradient) {
  const Tensor k = random_tensor({2, 4, 3}, 1), v = random_tensor({2, 4, 5}, 2);
  const AlignmentFactory entmax = [](Scope, int64_t) { return entmax_alignment(); };
  for (const auto& align : {AlignmentFactory(), entmax}) {
    check_layer(
        [=](Scope s) {
          return [capsules = Capsules(s, 3, 3, 5, align)](const Tensors& x) {
            const auto o =
                capsules({.k = x[0], .v = x[1], .who = lengths(Tensor::ids({2}, {4, 3}))});
            const Tensor loss = capsule_loss(o, Tensor::ids({2}, {2, 0}), 0.7);
            return concat(
                {reshape(o.representation, {-1}), reshape(o.probability, {-1}),
                 reshape(o.reconstruction, {-1}), reshape(o.mean, {-1}), reshape(loss, {1})},
                0);
          };
        },
        {k, v});
  }
}

TEST(Capsules, EachClassAttendsByItself) {
  const Tensor f = random_tensor({2, 4, 3}, 1);
  Parameters table(1, Dtype::f64);
  const Capsules capsules(table, 5, 3, 3);
  const Tensor n = Tensor::ids({2}, {4, 2});
  const auto o = capsules({.k = f, .who = lengths(n), .capture = {.what = Capture::What::rows}});
  EXPECT_EQ(o.weights.rows.shape(), (Shape{2, 5, 1, 4}));
  const Tensor four = reshape(f, {2, 4, 1, 3});
  for (int64_t c = 0; c < 5; ++c) {
    const Tensor q =
        broadcast_to(reshape(slice(capsules.query, 0, c, c + 1), {1, 1, 1, 3}), {2, 1, 1, 3});
    const Tensor own = reshape(
        attend({.q = q, .k = four, .v = four, .who = lengths(n)}, dot_score()).context, {2, 3});
    expect_close(reshape(slice(o.representation, 1, c, c + 1), {2, 3}), own, 1e-12);
    for (int64_t b = 0; b < 2; ++b) {
      double z = 0;
      for (int64_t i = 0; i < 3; ++i) {
        z += own.read<double>()[b * 3 + i] * capsules.weight.read<double>()[c * 3 + i];
      }
      const double p = o.probability.read<double>()[b * 5 + c];
      EXPECT_NEAR(p, 1 / (1 + std::exp(-z)), 1e-12);
      for (int64_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(o.reconstruction.read<double>()[(b * 5 + c) * 3 + i],
                    p * own.read<double>()[b * 3 + i], 1e-12);
      }
    }
  }
  for (int64_t i = 0; i < 3; ++i) {
    const auto x = f.read<double>();
    EXPECT_NEAR(o.mean.read<double>()[3 + i], (x[12 + i] + x[15 + i]) / 2, 1e-12)
        << "padding counts not";
  }
}

TEST(Capsules, LossIsTheSumOfTwoHinges) {
  Capsules::Output o;
  o.probability = Tensor::of({2, 2}, {0.9f, 0.2f, 0.1f, 0.6f});
  o.reconstruction = Tensor::of({2, 2, 1}, {2, 0.5f, 1, 3});
  o.mean = Tensor::of({2, 1}, {1, 0.25f});
  // Example 0, class 0: 1 - 0.9 + 0.2 = 0.3, and 1 - 2 + 0.5 < 0. Example 1, class 0:
  // 1 - 0.1 + 0.6 = 1.5, and 1 - 0.25 + 0.75 = 1.5.
  EXPECT_NEAR(capsule_loss(o, Tensor::ids({2}, {0, 0})).item(), (0.3 + 1.5 + 1.5) / 2, 1e-6);
  EXPECT_NEAR(capsule_loss(o, Tensor::ids({2}, {0, 0}), 2).item(), (0.3 + 1.5 + 3) / 2, 1e-6);
  EXPECT_THROW(capsule_loss(o, Tensor::ids({2}, {0, 2})), Error);
  EXPECT_THROW(capsule_loss(o, Tensor::ids({1}, {0})), Error);
  Parameters table;
  EXPECT_THROW(Capsules(table, 2, 3, 4)({.k = Tensor::zeros({1, 2, 3})}), Error)
      << "values are wider";
}

TEST(SpecialisedQuery, IsTheSummaryOfAnotherInput) {
  // A phrase asks a sentence: the query is the mean of another input, and gradients reach both.
  const Tensor sentence = random_tensor({2, 6, 1, 4}, 1), phrase = random_tensor({2, 3, 1, 4}, 2);
  check_layer(
      [](Scope s) {
        return [score = general_score(s, 4, 4)](const Tensors& x) {
          const Tensor q = mean(x[1], 1, true);  // [B, 1, 1, 4]
          return attend({.q = q, .k = x[0], .v = x[0]}, score).context;
        };
      },
      {sentence, phrase});
}

std::vector<std::pair<const char*, Alignment>> alignments() {
  return {{"softmax", softmax_alignment()},
          {"sigmoid", sigmoid_alignment()},
          {"sparsemax", sparsemax_alignment()},
          {"entmax", entmax_alignment(1.5)},
          {"entmax 1.3", entmax_alignment(1.3)}};
}

TEST(MultiDimensional, HasItsGradientUnderEveryPattern) {
  const Tensor q = random_tensor({2, 3, 2, 3}, 1), k = random_tensor({2, 4, 1, 5}, 2),
               v = random_tensor({2, 4, 1, 2}, 3);
  const Pattern patterns[] = {{},
                              causal_lower_right(),
                              lengths(Tensor::ids({2}, {2, 0})),
                              allow(random_ids({2, 2, 3, 4}, 1, 2)),
                              packed(Tensor::ids({3}, {0, 1, 3}), Tensor::ids({3}, {0, 2, 4}))};
  for (const auto& [name, align] : alignments()) {
    for (const Pattern& who : patterns) {
      SCOPED_TRACE(name);
      check_layer(
          [&, align = align](Scope s) {
            const MultiDimensional m(s, 3, 5, 2, {.d_w = 4, .align = align});
            return [m, who](const Tensors& x) {
              return m({.q = x[0], .k = x[1], .v = x[2], .who = who}).context;
            };
          },
          {q, k, v});
    }
  }
}

TEST(MultiDimensional, WithOneFeatureIsAdditiveAttention) {
  const Tensor q = random_tensor({2, 7, 4, 3}, 1), k = random_tensor({2, 9, 2, 5}, 2),
               v = random_tensor({2, 9, 2, 1}, 3);
  for (const auto& [name, align] : alignments()) {
    for (const Pattern& who : {Pattern(), window(2, 1), allow(random_ids({4, 7, 9}, 2, 2))}) {
      SCOPED_TRACE(name);
      Parameters a(1, Dtype::f64), b(1, Dtype::f64);
      const MultiDimensional m(a, 3, 5, 1, {.d_w = 6, .align = align});
      const Score score = additive_score(b, 3, 5, 6);
      a["weight"] = b["w"].value().reshaped({1, 6});
      a["query/weight"] = b["query/weight"];
      a["key/weight"] = b["key/weight"];
      a["key/bias"] = b["key/bias"];
      const AttentionInputs in{
          .q = q, .k = k, .v = v, .who = who, .capture = {.what = Capture::What::rows}};
      const AttentionOutput o = m(in);
      const AttentionOutput expected = attend_plain(in, score, align);
      expect_close(o.context, expected.context, 1e-12);
      expect_close(o.weights.rows, expected.weights.rows, 1e-12);
    }
  }
}

TEST(MultiDimensional, EveryFeatureIsWeighedByItself) {
  const int64_t Tk = 5, d_v = 3;
  const Tensor q = random_tensor({1, 2, 1, 3}, 1), k = random_tensor({1, Tk, 1, 3}, 2),
               v = random_tensor({1, Tk, 1, d_v}, 3);
  Parameters table(1, Dtype::f64);
  const MultiDimensional m(table, 3, 3, d_v, {.act = ScoreMap::relu});
  const auto o = m({.q = q, .k = k, .v = v});
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t f = 0; f < d_v; ++f) {
      double total = 0, read = 0;
      for (int64_t j = 0; j < Tk; ++j) {
        double e = 0;
        for (int64_t w = 0; w < d_v; ++w) {
          double hidden = m.W_2.bias.read<double>()[w];
          for (int64_t x = 0; x < 3; ++x) {
            hidden += m.W_1.weight.read<double>()[w * 3 + x] * q.read<double>()[i * 3 + x] +
                      m.W_2.weight.read<double>()[w * 3 + x] * k.read<double>()[j * 3 + x];
          }
          e += m.W_d.read<double>()[f * d_v + w] * std::max(0.0, hidden);
        }
        total += std::exp(e);
        read += std::exp(e) * v.read<double>()[j * d_v + f];
      }
      EXPECT_NEAR(o.context.read<double>()[i * d_v + f], read / total, 1e-12);
    }
  }
}

TEST(MultiDimensional, PackedSequencesDoNotMeetAndARowWithoutKeysIsZero) {
  const Tensor x = random_tensor({1, 7, 1, 4}, 1);
  Parameters table(1, Dtype::f64);
  const MultiDimensional m(table, 4, 4, 4);
  const Tensor together =
      m({.q = x, .k = x, .v = x, .who = packed(Tensor::ids({3}, {0, 3, 7}))}).context;
  for (const auto& [from, to] : {std::pair{0, 3}, {3, 7}}) {
    const Tensor part = slice(x, 1, from, to);
    expect_close(slice(together, 1, from, to), m({.q = part, .k = part, .v = part}).context, 1e-12);
  }
  const Pattern nobody = allow(Tensor::zeros({1}, Dtype::i32));
  for (const auto& [name, align] : alignments()) {
    for (const Tensor& result : layer_results(
             [&, align = align](Scope s) {
               return [m = MultiDimensional(s, 4, 4, 4, {.align = align}),
                       &nobody](const Tensors& at) {
                 return m({.q = at[0], .k = at[0], .v = at[0], .who = nobody}).context;
               };
             },
             {x}, Dtype::f32)) {
      for (float y : result.read()) ASSERT_EQ(y, 0) << name;
    }
  }
}

TEST(MultiDimensional, HoldsOneBlockOfQueriesAtATime) {
  auto make = [](int64_t d) -> Maker {
    return [d](Scope s) {
      return [m = MultiDimensional(s, d, d, d)](const Tensors& x) {
        return m({.q = x[0], .k = x[0], .v = x[0], .who = causal()}).context;
      };
    };
  };
  const int64_t n = 400, d = 64, all_scores = n * n * d * 4;
  const int64_t before = pool::stats().peak_live_bytes;
  layer_results(make(d), {random_tensor({1, n, 1, d}, 1)}, Dtype::f32);
  EXPECT_LT(pool::stats().peak_live_bytes - before, all_scores / 2);
  check_float(make(16), {random_tensor({1, 200, 1, 16}, 2)});
}

TEST(MultiDimensional, RefusesWhatDoesNotFit) {
  Parameters table;
  const Scope s = table;
  EXPECT_THROW(MultiDimensional(s / "a", 2, 2, 2, {.align = hard_alignment(Estimator::reinforce)}),
               Error);
  const MultiDimensional m(s / "b", 2, 3, 4);
  const Tensor q = Tensor::zeros({1, 2, 2, 2}), k = Tensor::zeros({1, 5, 1, 3}),
               v = Tensor::zeros({1, 5, 1, 4});
  EXPECT_EQ(m({.q = q, .k = k, .v = v}).context.shape(), (Shape{1, 2, 2, 4}));
  EXPECT_EQ(m({.q = slice(q, 1, 0, 0), .k = k, .v = v}).context.shape(), (Shape{1, 0, 2, 4}));
  EXPECT_THROW(m({.q = q, .k = v, .v = v}), Error);
  EXPECT_THROW(m({.q = q, .k = k, .v = slice(v, 1, 0, 3)}), Error);
}

TEST(Recomputed, IsTheSameWithoutKeepingAnything) {
  const Tensor x = random_tensor({3, 4}, 1), w = random_tensor({4}, 2);
  const Function plain = [](const Tensors& at) { return tanh(exp(at[0]) * at[1] + at[0]); };
  const Function again = [&](const Tensors& at) {
    return recomputed(
        [&](std::span<const Tensor> y) {
          return plain({y[0], y[1]});
        },
        {at[0], at[1]});
  };
  check_gradients(again, {x, w});
  // Used twice, in the middle of other ops, and with an input that wants no gradient.
  check_gradients(
      [&](const Tensors& at) {
        return again({square(at[0]), at[1]}) * again({at[0], Tensor(w)});
      },
      {x, w});
  Parameters table;
  Tape tape;
  const Tensor p = parameter(x);
  again({p, w});
  EXPECT_EQ(tape.size(), 2) << "the parameter and one op";
}

}  // namespace
}  // namespace fovea::test
