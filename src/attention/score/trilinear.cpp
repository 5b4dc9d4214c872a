#include "fovea/attention/score/trilinear.h"

#include <cmath>

#include "fovea/attention/score/extend.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/linear.h"

namespace fovea {

Score trilinear_score(Scope s, int64_t d) {
  const Parameter w_q = s.param("query", {1, d}, init::xavier_uniform());
  const Parameter w_k = s.param("key", {1, d}, init::xavier_uniform());
  const Parameter w = s.param("product", {d}, init::normal(1 / std::sqrt(static_cast<double>(d))));
  // [w o q, w_q . q, 1] . [k, 1, w_k . k]
  return [w_q, w_k, w](const Tensor& q, const Tensor& k) {
    check(q.dim(3) == w.dim(0) && k.dim(3) == w.dim(0), "trilinear score: made for queries and ",
          "keys ", w.dim(0), " wide, got ", q.shape(), " and ", k.shape());
    return ScoreForm{extended(extended(q * w, linear(q, w_q)), one_like(q)),
                     extended(extended(k, one_like(k)), linear(k, w_k))};
  };
}

}  // namespace fovea
