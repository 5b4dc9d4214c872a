#include "fovea/attention/score/similarity.h"

#include "fovea/attention/score/extend.h"
#include "fovea/op/elementwise.h"

namespace fovea {
namespace {

Tensor unit(const Tensor& x) {
  // Far below any length that carries information, and enough to keep a zero vector's slope finite.
  return x / sqrt(sum(square(x), -1, true) + 1e-12);
}

// -|q - k|^2 / 2 = [q, 1, -|q|^2 / 2] . [k, -|k|^2 / 2, 1]
ScoreForm half_squared_distance(const Tensor& q, const Tensor& k) {
  const Tensor q2 = sum(square(q), -1, true) * -0.5, k2 = sum(square(k), -1, true) * -0.5;
  return {extended(extended(q, one_like(q)), q2), extended(extended(k, k2), one_like(k))};
}

}  // namespace

Score cosine_score(Scope s, double beta, bool learn_beta) {
  if (!learn_beta) {
    return [beta](const Tensor& q, const Tensor& k) { return ScoreForm{unit(q), unit(k), beta}; };
  }
  const Parameter b = s.param("beta", {1}, init::constant(beta));
  return [b](const Tensor& q, const Tensor& k) { return ScoreForm{unit(q) * b, unit(k)}; };
}

Score euclidean_score() {
  return [](const Heads& q, const Heads& k) { return ScoreForm{q, k, 1, ScoreMap::distance}; };
}

Score kernel_score(Scope s, int64_t d, double w, bool learn_w) {
  if (!learn_w) {
    return [w](const Tensor& q, const Tensor& k) { return half_squared_distance(q * w, k * w); };
  }
  const Parameter scale = s.param("w", {d}, init::constant(w));
  return [scale](const Tensor& q, const Tensor& k) {
    return half_squared_distance(q * scale, k * scale);
  };
}

}  // namespace fovea
