#include "fovea/attention/score/additive.h"

#include "fovea/attention/score/map.h"
#include "fovea/nn/linear.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {

Score additive_score(Scope s, int64_t d_q, int64_t d_k, int64_t d_w, ScoreMap act) {
  const Linear W_1(s / "query", d_q, d_w, {.bias = false}), W_2(s / "key", d_k, d_w);
  const Parameter w = s.param("w", {d_w}, init::xavier_uniform());
  return [W_1, W_2, w, act](const Tensor& q, const Tensor& k) {
    return ScoreForm{W_1(q), W_2(k), 1, act, w};
  };
}

Score self_attentive_score(Scope s, int64_t d_k, int64_t d_w, ScoreMap act) {
  const Linear W(s / "key", d_k, d_w);
  const Parameter w = s.param("w", {d_w}, init::xavier_uniform());
  // With the activation applied to the keys alone, w itself is the query of a product.
  return [W, w, act](const Tensor& q, const Tensor& k) {
    const Tensor query = reshape(w, {1, 1, 1, -1});
    return ScoreForm{broadcast_to(query, {q.dim(0), q.dim(1), q.dim(2), w.dim(0)}),
                     apply(act, W(k))};
  };
}

}  // namespace fovea
