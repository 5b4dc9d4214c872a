#include "fovea/attention/score/general.h"

#include "fovea/attention/score/extend.h"
#include "fovea/nn/linear.h"

namespace fovea {

Score general_score(Scope s, int64_t d_q, int64_t d_k) {
  const Linear W(s, d_q, d_k, {.bias = false});
  return [W](const Tensor& q, const Tensor& k) { return ScoreForm{W(q), k}; };
}

Score biased_general_score(Scope s, int64_t d_q, int64_t d_k) {
  const Linear W(s, d_q, d_k);
  return [W](const Tensor& q, const Tensor& k) { return ScoreForm{W(q), k}; };
}

Score activated_general_score(Scope s, int64_t d_q, int64_t d_k, ScoreMap act) {
  const Linear W(s, d_q, d_k, {.bias = false});
  const Parameter b = s.param("bias", {1, 1, 1, 1}, init::zeros());
  // [W q, b] . [k, 1] = k^T W q + b
  return [W, b, act](const Tensor& q, const Tensor& k) {
    return ScoreForm{extended(W(q), b), extended(k, one_like(k)), 1, act};
  };
}

}  // namespace fovea
