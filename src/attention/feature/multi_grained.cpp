#include "fovea/attention/feature/multi_grained.h"

#include "fovea/attention/score/trilinear.h"

namespace fovea {
namespace {

ParallelOptions pooled_affinity(const MultiGrainedOptions& o) {
  ParallelOptions fine;
  fine.score =
      o.affinity ? o.affinity : [](Scope s, int64_t, int64_t d) { return trilinear_score(s, d); };
  fine.align = o.align;
  fine.pooled = true;
  return fine;
}

}  // namespace

MultiGrainedCoAttention::MultiGrainedCoAttention(Scope s, int64_t d_1, int64_t d_2,
                                                 const MultiGrainedOptions& o)
    : coarse(s / "coarse", d_1, d_2, o), fine(s / "fine", d_1, d_2, pooled_affinity(o)) {}

FeatureOutput MultiGrainedCoAttention::operator()(const Features& f_1, const Features& f_2) const {
  FeatureOutput out = coarse(f_1, f_2);
  const FeatureOutput more = fine(f_1, f_2);
  out.contexts.insert(out.contexts.end(), more.contexts.begin(), more.contexts.end());
  out.drew(more.log_probability);
  return out;
}

}  // namespace fovea
