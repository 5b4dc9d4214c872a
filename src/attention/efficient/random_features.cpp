#include "fovea/attention/efficient/random_features.h"

#include <algorithm>
#include <cmath>

#include "fovea/attention/efficient/linear.h"
#include "fovea/attention/efficient/spans.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/linear.h"
#include "fovea/op/reduce.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

const std::string name = "random_features";

// x scaled as both sides of q . k / sqrt(d) are.
Tensor scaled_side(const Tensor& x) { return x * std::pow(static_cast<double>(x.dim(-1)), -0.25); }

// log phi without its m^-1/2.
Tensor exponents(const Tensor& x, const Tensor& w) {
  return linear(x, w) - sum(square(x), -1, true) * 0.5;
}

// Features of queries: a factor for each query cancels, so the largest exponent becomes 0.
Tensor query_features(const Tensor& q, const Tensor& w) {
  const Tensor e = exponents(scaled_side(q), w);
  Tensor most;
  {
    const Tape::Pause pause;
    most = max(e, -1, true);
  }
  return exp(e - most);
}

// Features of keys: one factor for all of a head cancels. Where later keys are not known yet there
// is none, and exponents are held where e^x is a number.
Tensor key_features(const Tensor& k, const Tensor& w, bool causal) {
  const Tensor e = exponents(scaled_side(k), w);
  if (causal) return exp(clamp(e, -60, 60));
  Tensor most;
  {
    const Tape::Pause pause;
    most = max(max(e, -1, true), 1, true);
  }
  return exp(e - most);
}

}  // namespace

Tensor orthogonal_gaussian(Random& random, int64_t m, int64_t d) {
  Tensor w({m, d}, Dtype::f64);
  auto to = w.write<double>();
  const auto row = [&](int64_t i) {
    return to.subspan(static_cast<size_t>(i * d), static_cast<size_t>(d));
  };
  const auto dot = [](auto a, auto b) {
    double x = 0;
    for (size_t i = 0; i < a.size(); ++i) x += a[i] * b[i];
    return x;
  };
  for (int64_t i = 0; i < m; ++i) {
    double length = 0;
    do {
      for (double& x : row(i)) x = random.normal();
      for (int64_t j = i / d * d; j < i; ++j) {
        const double along = dot(row(i), row(j));
        for (size_t c = 0; c < row(i).size(); ++c) row(i)[c] -= along * row(j)[c];
      }
      length = std::sqrt(dot(row(i), row(i)));
    } while (length < 1e-6);  // as good as never
    for (double& x : row(i)) x /= length;
  }
  for (int64_t i = 0; i < m; ++i) {
    double length = 0;
    for (int64_t c = 0; c < d; ++c) {
      const double x = random.normal();
      length += x * x;
    }
    for (double& x : row(i)) x *= std::sqrt(length);
  }
  return w;
}

Tensor positive_features(const Tensor& x, const Tensor& w, const Tensor& less) {
  const Tensor e = exponents(x, w);
  return exp(less.empty() ? e : e - less) * (1 / std::sqrt(static_cast<double>(w.dim(0))));
}

SelfAttention random_feature_self_attention(uint64_t seed, int64_t d_head,
                                            const RandomFeatureOptions& o) {
  Random fixed(seed);
  const Tensor w64 = orthogonal_gaussian(fixed, o.kernel_features, d_head);
  const Tensor w32 = w64.to(Dtype::f32);
  const auto features_for = [=](Dtype dtype) {
    Random* random = Tape::random();
    if (!o.redraw || !random) return dtype == Dtype::f32 ? w32 : w64;
    Random drawn(random->bits64());
    return orthogonal_gaussian(drawn, o.kernel_features, d_head).to(dtype);
  };
  SelfAttention self;
  self.attend = [features_for](const AttentionInputs& in) {
    const Tensor w = features_for(in.q.dtype());
    return with_weights(in, name, [&](const AttentionInputs& at) {
      const int64_t B = at.q.dim(0);
      const auto stretches = stretches_of(spans_of(at, name), B, name);
      const bool causal = at.q.dim(1) < at.k.dim(1) ||
                          std::ranges::any_of(stretches, [](const Stretch& s) { return s.causal; });
      const WholeSequences whole = whole_sequences(stretches, B);
      AttentionInputs features = at;
      features.q = query_features(at.q, w);
      const Tensor k = whole.whole ? cleared_behind(at.k, whole.lengths) : Tensor(at.k);
      features.k = key_features(k, w, causal);
      return linear_attention(features, false, name);
    });
  };
  self.step = [w32, w64](const AttentionInputs& in, KeyValueCache& cache) {
    const Tensor& w = in.q.dtype() == Dtype::f32 ? w32 : w64;
    return AttentionOutput{
        linear_attention_step(query_features(in.q, w), key_features(in.k, w, true), in.v, cache),
        {},
        {}};
  };
  return self;
}

}  // namespace fovea
