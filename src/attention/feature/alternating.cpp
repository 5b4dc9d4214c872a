#include "fovea/attention/feature/alternating.h"

#include "fovea/attention/score/additive.h"
#include "fovea/op/reduce.h"

namespace fovea {
namespace {

FeatureOptions with_default(FeatureOptions o) {
  if (!o.score) {
    o.score = [](Scope s, int64_t d_q, int64_t d_k) { return additive_score(s, d_q, d_k, d_k); };
  }
  return o;
}

}  // namespace

AlternatingCoAttention::AlternatingCoAttention(Scope s, int64_t d_1, int64_t d_2,
                                               const FeatureOptions& o)
    : start(s.param("start", {d_2}, init::normal(0.1))),
      first(s / "first", d_2, d_1, with_default(o)),
      second(s / "second", d_1, d_2, with_default(o)) {}

FeatureOutput AlternatingCoAttention::operator()(const Features& f_1, const Features& f_2) const {
  FeatureOutput out;
  const Tensor q_0 = broadcast_to(start, {f_1.rows.dim(0), start.dim(0)});
  const Tensor c_0 = first(q_0, f_1, out);
  const Tensor c_2 = second(c_0, f_2, out);
  const Tensor c_1 = first(c_2, f_1, out);
  out.contexts = {c_1, c_2};
  return out;
}

}  // namespace fovea
