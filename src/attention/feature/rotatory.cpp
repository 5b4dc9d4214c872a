#include "fovea/attention/feature/rotatory.h"

namespace fovea {

RotatoryAttention::RotatoryAttention(Scope s, int64_t d_target, int64_t d_context,
                                     const RotatoryOptions& o)
    : hops(o.hops),
      left(s / "left", d_target, d_context, o),
      right(s / "right", d_target, d_context, o),
      target_by_left(s / "target_by_left", d_context, d_target, o),
      target_by_right(s / "target_by_right", d_context, d_target, o) {
  check(o.hops >= 1, "rotatory: needs at least one hop, got ", o.hops);
}

FeatureOutput RotatoryAttention::operator()(const Features& target, const Features& on_left,
                                            const Features& on_right) const {
  FeatureOutput out;
  Tensor r_lt = mean_of(target), r_rt = r_lt, r_l, r_r;
  for (int64_t hop = 0; hop < hops; ++hop) {
    r_l = left(r_lt, on_left, out);
    r_r = right(r_rt, on_right, out);
    r_lt = target_by_left(r_l, target, out);
    r_rt = target_by_right(r_r, target, out);
  }
  out.contexts = {r_l, r_r, r_lt, r_rt};
  return out;
}

}  // namespace fovea
