#include "fovea/attention/score/location.h"

#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {

Score location_score(Scope s, int64_t d_q, int64_t longest) {
  const Parameter W = s.param("weight", {longest, d_q}, init::xavier_uniform());
  // (W q)_j is the product of q with row j: the rows of W take the place of the keys.
  return [W, longest](const Tensor& q, const Tensor& k) {
    check(k.dim(1) <= longest, "location score: made for at most ", longest, " keys, got ",
          k.dim(1));
    const Tensor rows = reshape(slice(W, 0, 0, k.dim(1)), {1, k.dim(1), 1, -1});
    return ScoreForm{q, broadcast_to(rows, {k.dim(0), k.dim(1), k.dim(2), W.dim(1)})};
  };
}

}  // namespace fovea
