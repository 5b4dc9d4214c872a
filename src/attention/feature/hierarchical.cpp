#include "fovea/attention/feature/hierarchical.h"

#include "fovea/attention/score/additive.h"
#include "fovea/op/index.h"
#include "fovea/op/reduce.h"

namespace fovea {

HierarchicalAttention::HierarchicalAttention(Scope s, std::span<const int64_t> widths,
                                             const FeatureOptions& options) {
  check(!widths.empty(), "hierarchical: needs at least one level");
  FeatureOptions o = options;
  if (!o.score) {
    o.score = [](Scope at, int64_t, int64_t d) { return self_attentive_score(at, d, d); };
  }
  for (size_t i = 0; i < widths.size(); ++i) {
    const Scope at = s / i;
    levels.push_back(
        {at.param("query", {widths[i]}, init::normal(0.1)), Pooling(at, widths[i], widths[i], o)});
  }
}

FeatureOutput HierarchicalAttention::level(size_t i, const RaggedRows& rows) const {
  check(i < levels.size(), "hierarchical: there are ", levels.size(), " levels, and none is ", i);
  FeatureOutput out;
  const Parameter& query = levels[i].query;
  const Tensor asked = broadcast_to(query, {rows.count(), query.dim(0)});
  out.contexts = {levels[i].pooling(asked, features_of(rows), out)};
  return out;
}

FeatureOutput HierarchicalAttention::operator()(const Tensor& rows,
                                                std::span<const Packing> cuts) const {
  check(cuts.size() == levels.size(), "hierarchical: made for ", levels.size(), " levels, got ",
        cuts.size());
  FeatureOutput out;
  Tensor now = rows;
  for (size_t i = 0; i < cuts.size(); ++i) {
    // What a sequence's rows drew is part of what the sequence did.
    const Tensor below = out.log_probability;
    out = level(i, {now, cuts[i]});
    if (!below.empty()) out.drew(scatter_add(below, cuts[i].owners(), cuts[i].count()));
    now = out.contexts[0];
  }
  return out;
}

}  // namespace fovea
