// Ways for a sequence to look at itself: what they promise, where they are exact, and that they
// fit into heads, batches and decoders.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/catalog.h"
#include "fovea/attention/efficient/linear.h"
#include "fovea/attention/efficient/low_rank.h"
#include "fovea/attention/efficient/nystrom.h"
#include "fovea/attention/efficient/random_features.h"
#include "fovea/attention/efficient/sinkhorn.h"
#include "fovea/attention/engine.h"
#include "fovea/attention/multihead.h"
#include "fovea/attention/recorder.h"
#include "fovea/op/matmul.h"
#include "fovea/op/shape.h"
#include "support/layer.h"
#include "support/small_attention.h"

namespace fovea::test {
namespace {

struct Named {
  std::string name;
  AttentionOptions options;
  bool causal;
};

std::vector<Named> methods(int64_t d, int64_t heads) {
  std::vector<Named> list;
  for (const Entry& entry : catalog()) {
    if (entry.kind != Entry::Kind::efficient || entry.name == "full") continue;
    list.push_back({entry.name, small_options(d, heads), entry.causal});
    if (entry.name != "synthesizer") continue;
    for (const char* kind : {"random", "factorized"}) {
      list.push_back(list.back());
      list.back().options.synthesizer = kind;
    }
  }
  return list;
}

AttentionInputs some_inputs(int64_t B, int64_t T, int64_t H, int64_t D, Dtype dtype) {
  return {.q = random_tensor({B, T, H, D}, 1, -1, 1, dtype),
          .k = random_tensor({B, T, H, D}, 2, -1, 1, dtype),
          .v = random_tensor({B, T, H, D}, 3, -1, 1, dtype)};
}

SelfAttention made(const std::string& name, Parameters& table, const AttentionOptions& o) {
  return find_entry(Entry::Kind::efficient, name).self(table, o);
}

MultiHead layer_of(Scope s, const Named& m, int64_t width, int64_t heads) {
  return {s, width, {.heads = heads, .self = self_attention_factory(m.name, m.options)}};
}

constexpr int64_t width = 6, heads = 2;

TEST(Efficient, GradientsAreThoseOfDifferences) {
  const Tensor x = random_tensor({2, 11, width}, 4);
  const Tensor n = Tensor::ids({2}, {11, 7});
  for (const Named& m : methods(width / heads, heads)) {
    SCOPED_TRACE(m.name + " " + m.options.synthesizer);
    for (const bool causal_too : {false, true}) {
      if (causal_too && !m.causal) continue;
      Parameters table(1, Dtype::f64);
      const MultiHead layer = layer_of(table, m, width, heads);
      const Function f = [&](const std::vector<Tensor>& at) {
        const Pattern who = causal_too ? causal() : lengths(n);
        const Tensor y = layer({.x = at[0], .who = who}).y;
        return causal_too ? y : pack(y, offsets_of(n));
      };
      EXPECT_LT(layer_error(table, f, std::vector<Tensor>{x}), 1e-5)
          << (causal_too ? "causal" : "whole");
    }
  }
}

// Kernels of float32, at sizes where ranges cross blocks, against the definition in float64.
TEST(Efficient, Float32AgreesWithTheDefinition) {
  const Tensor x = random_tensor({2, 150, 16}, 5);
  const Tensor n = Tensor::ids({2}, {150, 83});
  for (Named m : methods(8, 2)) {
    SCOPED_TRACE(m.name + " " + m.options.synthesizer);
    m.options.window = 30, m.options.block = 16, m.options.chunk = 16, m.options.landmarks = 12;
    m.options.longest_keys = 160, m.options.buckets = 6;
    for (const bool causal_too : {false, true}) {
      if (causal_too && !m.causal) continue;
      const Maker make = [&](Scope s) -> Function {
        const MultiHead layer = layer_of(s, m, 16, 2);
        return [=](const std::vector<Tensor>& at) {
          const Pattern who = causal_too ? causal() : lengths(n);
          const Tensor y = layer({.x = at[0], .who = who}).y;
          return causal_too ? y : pack(y, offsets_of(n));
        };
      };
      check_float(make, {x}, m.name == "nystrom" ? 2e-3 : 1e-4);
    }
  }
}

TEST(Efficient, ABatchOfDifferentLengthsIsEachOfThemAlone) {
  constexpr int64_t T = 13;
  const std::vector<int64_t> n{13, 9, 1};
  for (const Named& m : methods(width / heads, heads)) {
    SCOPED_TRACE(m.name + " " + m.options.synthesizer);
    Parameters table(2);
    const MultiHead layer = layer_of(table, m, width, heads);
    Tensor x = random_tensor({3, T, width}, 6, -1, 1, Dtype::f32);
    for (int64_t b = 0; b < 3; ++b) {  // what stands in the padding must not count
      for (int64_t t = n[static_cast<size_t>(b)]; t < T; ++t) {
        for (int64_t c = 0; c < width; ++c) {
          x.write()[static_cast<size_t>((b * T + t) * width + c)] = 100;
        }
      }
    }
    const Tensor y = layer({.x = x, .who = lengths(Tensor::ids({3}, {13, 9, 1}))}).y;
    for (int64_t b = 0; b < 3; ++b) {
      const auto own = [&](const Tensor& of) {
        return slice(slice(of, 0, b, b + 1), 1, 0, n[static_cast<size_t>(b)]);
      };
      EXPECT_LE(relative_difference(own(y), layer({.x = own(x)}).y), 3e-5) << b;
    }
  }
}

TEST(Efficient, PackedSequencesDoNotSeeEachOther) {
  const Tensor starts = Tensor::ids({4}, {0, 5, 6, 14});
  for (Named m : methods(width / heads, heads)) {
    if (m.name == "synthesizer") continue;  // knows tokens by their places
    SCOPED_TRACE(m.name);
    if (m.name == "window") m.options.global_tokens = 0;  // else projections of their own
    for (const bool causal_too : {false, true}) {
      if (causal_too && !m.causal) continue;
      Parameters table(2);
      const MultiHead layer = layer_of(table, m, width, heads);
      const Tensor x = random_tensor({1, 14, width}, 7, -1, 1, Dtype::f32);
      Pattern who = packed(starts);
      if (causal_too) who = who & causal();
      const Tensor y = layer({.x = x, .who = who}).y;
      const auto s = starts.read<int32_t>();
      for (size_t i = 0; i + 1 < s.size(); ++i) {
        const Tensor alone =
            layer({.x = slice(x, 1, s[i], s[i + 1]), .who = causal_too ? causal() : Pattern()}).y;
        EXPECT_LE(relative_difference(slice(y, 1, s[i], s[i + 1]), alone), 3e-5) << i;
      }
    }
  }
}

double step_error(const MultiHead& layer, int64_t T, int64_t prompt) {
  const Tensor x = random_tensor({2, T, width}, 8, -1, 1, Dtype::f32);
  const Tensor whole = layer({.x = x, .who = causal()}).y;
  KeyValueCache cache;
  std::vector<Tensor> parts;
  for (int64_t t = 0; t < T;) {
    const int64_t m = t == 0 ? prompt : 1;
    parts.push_back(
        layer
            .step({.x = slice(x, 1, t, t + m), .who = m > 1 ? causal_lower_right() : Pattern()},
                  cache)
            .y);
    t += m;
  }
  EXPECT_EQ(cache.length(), T);
  return relative_difference(concat(parts, 1), whole);
}

TEST(Efficient, StepByStepEqualsTheWhole) {
  for (const Named& m : methods(width / heads, heads)) {
    if (!m.causal) continue;
    SCOPED_TRACE(m.name + " " + m.options.synthesizer);
    Parameters table(2);
    const MultiHead layer = layer_of(table, m, width, heads);
    EXPECT_LE(step_error(layer, 17, 1), 3e-5);
    EXPECT_LE(step_error(layer, 17, 9), 3e-5);
  }
}

TEST(BrokenMechanism, ForgetsItsSumsBetweenSteps) {
  SelfAttention broken = linear_self_attention();
  broken.step = [step = broken.step](const AttentionInputs& in, KeyValueCache& cache) {
    KeyValueCache fresh;
    cache.keep_sums({}, in.q.dim(1));
    return step(in, fresh);
  };
  Parameters table(2);
  const MultiHead layer(
      table, width,
      {.heads = heads, .self = {[broken](Scope, int64_t, int64_t, int64_t) { return broken; }}});
  EXPECT_GT(step_error(layer, 17, 1), 1e-2);
}

TEST(Efficient, ALinearDecoderKeepsAsMuchAfterAHundredStepsAsAfterOne) {
  for (const char* name : {"linear", "random_features"}) {
    Parameters table(2);
    const MultiHead layer = layer_of(table, {name, small_options(3, 2), true}, width, heads);
    KeyValueCache cache;
    const Tensor x = random_tensor({2, 1, width}, 8, -1, 1, Dtype::f32);
    std::vector<int64_t> sizes;
    for (int t = 0; t < 100; ++t) {
      layer.step({.x = x}, cache);
      sizes.push_back(0);
      for (const Tensor& sum : cache.sums()) sizes.back() += sum.elements();
    }
    EXPECT_EQ(sizes.front(), sizes.back());
    EXPECT_EQ(cache.length(), 100);
    EXPECT_EQ(cache.room(), 0);
    // A beam's hypotheses change places.
    const Tensor before = cache.sums()[0];
    cache.select(Tensor::ids({3}, {1, 1, 0}));
    expect_same_bits(slice(cache.sums()[0], 0, 2, 3), slice(before, 0, 0, 1));
  }
}

// --- Where a method leaves nothing out it is full attention. ---

constexpr int64_t B = 2, T = 12, H = 2, D = 4;

// How far from all pairs a method is, whole and, where it has that form, causal.
double distance_from_full(const std::string& name, const AttentionOptions& o, bool causal_too,
                          const std::function<void(Parameters&)>& prepare = {}) {
  double worst = 0;
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Parameters table(3, dtype);
    const SelfAttention self = made(name, table, o);
    if (prepare) prepare(table);
    for (const bool causal_now : {false, true}) {
      if (causal_now && !causal_too) continue;
      AttentionInputs in = some_inputs(B, T, H, D, dtype);
      if (causal_now) in.who = causal();
      worst = std::max(worst, relative_difference(self.attend(in).context, attend(in).context));
    }
  }
  return worst;
}

constexpr double equal = 1e-5;

TEST(EfficientLimit, AWindowOfTheWholeLength) {
  AttentionOptions o = small_options(D, H);
  o.window = 2 * T, o.global_tokens = 0;
  EXPECT_LE(distance_from_full("window", o, true), equal);
  o.window = T / 2;
  EXPECT_GT(distance_from_full("window", o, true), 1e-3) << "half a window is not the whole";
  o.global_tokens = T;
  EXPECT_LE(distance_from_full("window", o, true), equal) << "all tokens are global";
}

TEST(EfficientLimit, SparsePatternsThatJoinToAll) {
  AttentionOptions o = small_options(D, H);
  o.block = 1;
  EXPECT_LE(distance_from_full("sparse_strided", o, true), equal);
  o.block = 3, o.summary_tokens = 3;
  EXPECT_LE(distance_from_full("sparse_fixed", o, true), equal);
  o.summary_tokens = 2;
  EXPECT_GT(distance_from_full("sparse_fixed", o, true), 1e-3);
  o.block = 3, o.random_blocks = 9, o.global_tokens = 2;
  EXPECT_LE(distance_from_full("bigbird", o, false), equal);
  o.random_blocks = 1;
  EXPECT_GT(distance_from_full("bigbird", o, false), 1e-3);
}

TEST(EfficientLimit, OneBucketIsAllPairsOfUnitKeysThatPreferOthers) {
  AttentionOptions o = small_options(D, H);
  o.buckets = 1;
  for (const bool causal_now : {false, true}) {
    Parameters table(3);
    AttentionInputs in = some_inputs(B, T, H, D, Dtype::f32);
    in.k = in.q;
    if (causal_now) in.who = causal();
    AttentionInputs full = in;
    const Tensor q = in.q;
    full.k = q / sqrt(sum(square(q), -1, true));
    Tensor bias = Tensor::zeros({T, T});
    for (int64_t i = 0; i < T; ++i) bias.write()[static_cast<size_t>(i * T + i)] = -1000;
    full.bias = bias;
    EXPECT_LE(relative_difference(made("lsh", table, o).attend(in).context, attend(full).context),
              equal);
    o.buckets = 4;
    EXPECT_GT(relative_difference(made("lsh", table, o).attend(in).context, attend(full).context),
              1e-3);
    o.buckets = 1;
  }
}

TEST(EfficientLimit, ARankOfTheWholeLengthWithIdentities) {
  AttentionOptions o = small_options(D, H);
  o.rank = o.longest_keys = T;
  const auto identities = [](Parameters& table) {
    for (const char* name : {"keys", "values"}) {
      Tensor one = Tensor::zeros({T, T}, Dtype::f64);
      for (int64_t i = 0; i < T; ++i) one.write<double>()[static_cast<size_t>(i * T + i)] = 1;
      table[name] = one.to(table[name].value().dtype());
    }
  };
  EXPECT_LE(distance_from_full("low_rank", o, false, identities), equal);
  EXPECT_GT(distance_from_full("low_rank", o, false), 1e-3);
}

TEST(EfficientLimit, ALandmarkForEachToken) {
  AttentionOptions o = small_options(D, H);
  o.landmarks = T, o.conv_width = 0, o.pinv_steps = 24;
  Parameters table(3, Dtype::f64);
  const AttentionInputs in = some_inputs(B, T, H, D, Dtype::f64);
  EXPECT_LE(relative_difference(made("nystrom", table, o).attend(in).context, attend(in).context),
            equal);
  o.landmarks = 3;
  EXPECT_GT(relative_difference(made("nystrom", table, o).attend(in).context, attend(in).context),
            1e-3);
}

TEST(EfficientLimit, OneBlockThatIsSortedToItself) {
  AttentionOptions o = small_options(D, H);
  o.block = T;
  EXPECT_LE(distance_from_full("sinkhorn", o, false), equal);
  o.block = T + 5;
  EXPECT_LE(distance_from_full("sinkhorn", o, false), equal);
  o.block = 4;
  EXPECT_GT(distance_from_full("sinkhorn", o, false), 1e-3);
}

TEST(Efficient, SinkhornMakesRowsAndColumnsSumToOne) {
  const Tensor x = random_tensor({2, 5, 5}, 1, -2, 2);
  const Tensor all = Tensor::full({2, 5, 5}, 1, Dtype::i32);
  const Tensor p = sinkhorn(x, all, 50);
  expect_close(sum(p, -1), Tensor::full({2, 5}, 1, Dtype::f64), 1e-6);
  expect_close(sum(p, -2), Tensor::full({2, 5}, 1, Dtype::f64), 1e-6);
  const Tensor once = sinkhorn(x, all, 1);
  EXPECT_GT(relative_difference(sum(once, -2), Tensor::full({2, 5}, 1, Dtype::f64)), 1e-3);
}

TEST(Efficient, TheIterativeInverseInverts) {
  const Tensor noise = random_tensor({2, 6, 6}, 1, 0, 1);
  Tensor a = noise;
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t i = 0; i < 6; ++i)
      a.write<double>()[static_cast<size_t>((b * 6 + i) * 6 + i)] += 4;
  }
  const Tensor one = matmul(a, iterative_pinv(a, 12));
  for (int64_t i = 0; i < 72; ++i) {
    EXPECT_NEAR(one.read<double>()[static_cast<size_t>(i)], i / 6 % 6 == i % 6, 1e-8);
  }
}

// --- Random features ---

// Root mean square error, and mean error, of phi(x) . phi(y) as an estimate of e^(x . y).
struct Estimate {
  double error, bias;
};
Estimate estimate(int64_t m, bool broken = false) {
  constexpr int64_t d = 4, pairs = 16, draws = 400;
  const Tensor x = random_tensor({pairs, d}, 1, -0.7, 0.7),
               y = random_tensor({pairs, d}, 2, -0.7, 0.7);
  Random random(5);
  double square_sum = 0, sum_of = 0;
  for (int64_t n = 0; n < draws; ++n) {
    const Tensor w = orthogonal_gaussian(random, m, d);
    // The broken one forgets |x|^2 / 2.
    const Tensor less =
        broken ? sum(square(x), -1, true) * -0.5 : Tensor::zeros({pairs, 1}, Dtype::f64);
    const Tensor f = positive_features(x, w, less), g = positive_features(y, w);
    for (int64_t i = 0; i < pairs; ++i) {
      double dot = 0, exact = 0;
      for (int64_t c = 0; c < m; ++c) {
        dot += f.read<double>()[static_cast<size_t>(i * m + c)] *
               g.read<double>()[static_cast<size_t>(i * m + c)];
      }
      for (int64_t c = 0; c < d; ++c) {
        exact += x.read<double>()[static_cast<size_t>(i * d + c)] *
                 y.read<double>()[static_cast<size_t>(i * d + c)];
      }
      const double e = dot / std::exp(exact) - 1;
      square_sum += e * e, sum_of += e;
    }
  }
  const double count = pairs * draws;
  return {std::sqrt(square_sum / count), sum_of / count};
}

TEST(RandomFeatures, EstimateSoftmaxWithoutBiasAndWithAnErrorThatFallsAsTheRoot) {
  const Estimate few = estimate(8), many = estimate(128);
  // The mean of 6400 estimates, whose own error is error / 80.
  EXPECT_LT(std::abs(few.bias), 4 * few.error / 80);
  EXPECT_LT(std::abs(many.bias), 4 * many.error / 80);
  const double slope = std::log(many.error / few.error) / std::log(128.0 / 8);
  EXPECT_NEAR(slope, -0.5, 0.08);
  EXPECT_GT(std::abs(estimate(128, true).bias), 4 * many.error / 80) << "the broken one is seen";
}

TEST(RandomFeatures, StandAtRightAnglesInGroups) {
  Random random(3);
  const Tensor w = orthogonal_gaussian(random, 10, 4), products = matmul(w, w, Transpose::b);
  const auto p = products.read<double>();
  for (size_t i = 0; i < 10; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (i / 4 == j / 4) {
        EXPECT_NEAR(p[i * 10 + j], 0, 1e-9);
      }
    }
  }
  EXPECT_GT(std::abs(p[4 * 10 + 0]), 1e-3) << "groups are drawn on their own";
}

TEST(RandomFeatures, ComeNearFullAttentionWithManyOfThem) {
  AttentionOptions o = small_options(D, H);
  double last = 1e9;
  for (const int64_t m : {16, 256, 4096}) {
    o.kernel_features = m;
    const double far = distance_from_full("random_features", o, true);
    EXPECT_LT(far, last);
    last = far;
  }
  EXPECT_LT(last, 0.05);
}

// --- Weights ---

TEST(Efficient, WeightsAreThoseThatContextsAreMadeOf) {
  for (const Named& m : methods(D, H)) {
    SCOPED_TRACE(m.name + " " + m.options.synthesizer);
    Parameters table(3);
    AttentionOptions o = m.options;
    o.conv_width = 0;  // beside the attention, and in no weights
    const SelfAttention self = made(m.name, table, o);
    AttentionInputs in = some_inputs(B, T, H, D, Dtype::f32);
    in.name = "here";
    const Tensor plain = self.attend(in).context;
    Recorder recorder;
    const Tensor context = self.attend(in).context;
    expect_same_bits(context, plain);
    const Tensor rows = recorder["here"].rows;  // [B, H, T, T]
    const Tensor v = in.v;
    expect_close(permute(matmul(rows, permute(v, {0, 2, 1, 3})), {0, 2, 1, 3}), context, 2e-5);
    const Entry& entry = find_entry(Entry::Kind::efficient, m.name);
    if (entry.causal || m.name == "bigbird") {
      expect_close(sum(rows, -1), Tensor::full({B, H, T}, 1), 2e-5);
    }
  }
}

TEST(Efficient, WeightsOfLongSequencesAreRefusedInOneSentence) {
  AttentionInputs in;
  in.q = in.k = in.v = Tensor::zeros({1, most_watched_keys + 1, 1, 2});
  in.capture.what = Capture::What::rows;
  Parameters table;
  try {
    made("linear", table, small_options(2, 1)).attend(in);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("4096"), std::string::npos) << error.what();
  }
}

TEST(Efficient, SaysWhatItCannotDo) {
  const auto says = [](const std::string& part, const std::function<void()>& f) {
    try {
      f();
      FAIL() << part;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  Parameters table;
  AttentionInputs in = some_inputs(B, T, H, D, Dtype::f32);
  in.who = causal();
  for (const char* name : {"nystrom", "bigbird", "sinkhorn", "low_rank"}) {
    says("has no causal form", [&] {
      Parameters own;
      made(name, own, small_options(D, H)).attend(in);
    });
  }
  in.who = allow(Tensor::full({T, T}, 1, Dtype::i32));
  says("not by masks", [&] { made("linear", table, small_options(D, H)).attend(in); });
  in.who = window(2, 2);
  says("not a window", [&] { made("linear", table, small_options(D, H)).attend(in); });
  in.who = {};
  AttentionOptions o = small_options(D, H);
  o.longest_keys = T - 1;
  says("up to 11 tokens", [&] { made("low_rank", table, o).attend(in); });
  o.buckets = 3;
  says("come in pairs", [&] { made("lsh", table, o); });
}

}  // namespace
}  // namespace fovea::test
