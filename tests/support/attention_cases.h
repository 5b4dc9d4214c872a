// Every score, alignment and pattern by name, and one call of the engine with all that it needs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/align/entmax.h"
#include "fovea/attention/align/local.h"
#include "fovea/attention/align/softmax.h"
#include "fovea/attention/engine.h"
#include "fovea/attention/score/additive.h"
#include "fovea/attention/score/general.h"
#include "fovea/attention/score/location.h"
#include "fovea/attention/score/similarity.h"
#include "fovea/attention/score/trilinear.h"
#include "support/gradient.h"

namespace fovea::test {

struct Sizes {
  int64_t B, Tq, Tk, H, Hk, D, Dv;
};

struct NamedScore {
  const char* name;
  std::function<Score(Scope, int64_t d, int64_t Tk)> make;
};

inline const std::vector<NamedScore>& scores() {
  static const std::vector<NamedScore> list{
      {"dot", [](Scope, int64_t, int64_t) { return dot_score(); }},
      {"scaled", [](Scope, int64_t, int64_t) { return scaled_score(); }},
      {"general", [](Scope s, int64_t d, int64_t) { return general_score(s, d, d); }},
      {"biased_general", [](Scope s, int64_t d, int64_t) { return biased_general_score(s, d, d); }},
      {"activated_general",
       [](Scope s, int64_t d, int64_t) { return activated_general_score(s, d, d); }},
      {"additive", [](Scope s, int64_t d, int64_t) { return additive_score(s, d, d, 5); }},
      {"cosine", [](Scope s, int64_t, int64_t) { return cosine_score(s, 2); }},
      {"euclidean", [](Scope, int64_t, int64_t) { return euclidean_score(); }},
      {"location", [](Scope s, int64_t d, int64_t Tk) { return location_score(s, d, Tk + 1); }},
      {"kernel", [](Scope s, int64_t d, int64_t) { return kernel_score(s, d); }},
      {"self_attentive", [](Scope s, int64_t d, int64_t) { return self_attentive_score(s, d, 6); }},
      {"trilinear", [](Scope s, int64_t d, int64_t) { return trilinear_score(s, d); }},
      {"leaky_general",
       [](Scope s, int64_t d, int64_t) {
         return activated_general_score(s, d, d, ScoreMap::leaky_relu);
       }},
      {"leaky_additive", [](Scope s, int64_t d,
                            int64_t) { return additive_score(s, d, d, 5, ScoreMap::leaky_relu); }},
  };
  return list;
}

struct NamedAlignment {
  const char* name;
  std::function<Alignment(Scope, int64_t d)> make;
};

// Those whose value is a smooth function of the scores; the ones that draw have tests of their own.
inline const std::vector<NamedAlignment>& alignments() {
  static const std::vector<NamedAlignment> list{
      {"softmax", [](Scope, int64_t) { return softmax_alignment(); }},
      {"sigmoid", [](Scope, int64_t) { return sigmoid_alignment(); }},
      {"sparsemax", [](Scope, int64_t) { return sparsemax_alignment(); }},
      {"entmax15", [](Scope, int64_t) { return entmax_alignment(1.5); }},
      {"entmax13", [](Scope, int64_t) { return entmax_alignment(1.3); }},
      {"local", [](Scope s, int64_t d) { return local_p_alignment(s, d, 2.6); }},
  };
  return list;
}

struct NamedPattern {
  const char* name;
  std::function<Pattern(const Sizes&)> make;
};

inline const std::vector<NamedPattern>& patterns() {
  static const std::vector<NamedPattern> list{
      {"full", [](const Sizes&) { return Pattern(); }},
      {"causal", [](const Sizes&) { return causal_lower_right(); }},
      {"lengths",
       [](const Sizes& z) {
         Tensor n({z.B}, Dtype::i32);
         for (int64_t b = 0; b < z.B; ++b) {
           n.write<int32_t>()[b] = static_cast<int32_t>(z.Tk - (b * 3 + 1) % (z.Tk + 1));
         }
         return lengths(n);
       }},
      {"window", [](const Sizes&) { return window(2, 1); }},
      {"arbitrary",
       [](const Sizes& z) {
         return allow(random_ids({z.B, 1, z.Tq, z.Tk}, 8, 2));
       }},
      {"graph",
       [](const Sizes& z) {
         Tensor e({2 * z.Tq, 2}, Dtype::i32);
         Random random(5);
         for (int64_t i = 0; i < 2 * z.Tq; ++i) {
           e.write<int32_t>()[2 * i] = static_cast<int32_t>(random.below(z.Tq));
           e.write<int32_t>()[2 * i + 1] = static_cast<int32_t>(random.below(z.Tk));
         }
         return edges(e);
       }},
  };
  return list;
}

// All that one case needs, built the same for float32 and float64.
struct Trial {
  Parameters parameters;
  Score score;
  Alignment align;
  Pattern who;
  Tensor q, k, v, bias;
  double dropout = 0;

  Trial(const Sizes& z, const NamedScore& s, const NamedAlignment& a, const NamedPattern& p,
        bool with_bias, bool with_dropout, Dtype dtype)
      : parameters(3, dtype),
        score(s.make(Scope(parameters) / "score", z.D, z.Tk)),
        align(a.make(Scope(parameters) / "align", z.D)),
        who(p.make(z)),
        dropout(with_dropout ? 0.3 : 0) {
    auto input = [&](const Shape& shape, uint64_t seed) {
      return parameter(random_tensor(shape, seed, -1, 1, Dtype::f32).to(dtype));
    };
    q = input({z.B, z.Tq, z.H, z.D}, 1);
    k = input({z.B, z.Tk, z.Hk, z.D}, 2);
    v = input({z.B, z.Tk, z.Hk, z.Dv}, 3);
    if (with_bias) bias = input({1, z.H, z.Tq, z.Tk}, 4);
    // The very same numbers in float64 as in float32.
    for (const auto& entry : parameters.entries()) {
      entry = entry.value().to(Dtype::f32).to(dtype);
    }
  }
  AttentionOutput run(bool plain, Capture capture = {}) {
    const AttentionInputs in{
        .q = q, .k = k, .v = v, .who = who, .bias = bias, .dropout = dropout, .capture = capture};
    return plain ? attend_plain(in, score, align) : attend(in, score, align);
  }
  // Context and all gradients.
  std::vector<Tensor> results(bool plain) {
    Random random(11);
    Tape tape(random);
    const Tensor c = run(plain).context;
    std::vector<Tensor> list{c};
    const Gradients g = tape.backward(c, random_tensor(c.shape(), 9).to(c.dtype()));
    for (const Tensor* x : {&q, &k, &v, &bias}) {
      if (!x->empty()) list.push_back(g.or_zeros(*x));
    }
    for (const auto& entry : parameters.entries()) list.push_back(g.or_zeros(entry));
    return list;
  }
};

template <class F>
void each_case(const F& f) {
  for (const auto& s : scores()) {
    for (const auto& a : alignments()) {
      for (const auto& p : patterns()) {
        for (bool bias : {false, true}) {
          for (bool dropout : {false, true}) {
            SCOPED_TRACE(say(s.name, " ", a.name, " ", p.name, bias ? " bias" : "",
                             dropout ? " dropout" : ""));
            f(s, a, p, bias, dropout);
          }
        }
      }
    }
  }
}

// Each result within `tolerance` of the largest number in it. A gradient whose terms cancel is as
// exact as those terms are, so it is not asked to be better than a tenth of the largest of all
// results would.
inline void expect_agree(const std::vector<Tensor>& fast, const std::vector<Tensor>& exact,
                         double tolerance = 1e-5) {
  ASSERT_EQ(fast.size(), exact.size());
  double largest = 0.01;
  for (const Tensor& t : exact) {
    const Tensor wide = t.to(Dtype::f64);
    for (double x : wide.read<double>()) largest = std::max(largest, std::abs(x));
  }
  for (size_t i = 0; i < fast.size(); ++i) {
    EXPECT_LE(relative_difference(fast[i], exact[i], largest / 4), tolerance) << "result " << i;
  }
}

}  // namespace fovea::test
