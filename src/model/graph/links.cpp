#include "fovea/model/graph/links.h"

#include <cmath>

#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {

LinkScorer::LinkScorer(Scope s, std::unique_ptr<const Scorer> nodes)
    : nodes_(std::move(nodes)),
      scale_(s.param("link/scale", {1}, init::ones())),
      bias_(s.param("link/bias", {1}, init::zeros())) {}

Scorer::Output LinkScorer::operator()(const ModelInputs& in) const {
  check(!in.rows.empty() && in.rows.dim(0) % 2 == 0 && !in.whole,
        "links: asks about pairs of nodes");
  const Tensor z = (*nodes_)(in).scores;  // [2 pairs, d]
  const int64_t pairs = z.dim(0) / 2, d = z.dim(1);
  const Tensor both = reshape(z, {pairs, 2, d});
  const Tensor dot = sum(slice(both, 1, 0, 1) * slice(both, 1, 1, 2), -1);  // [pairs, 1]
  const Tensor odds = dot * (1 / std::sqrt(static_cast<double>(d))) * scale_ + bias_;
  return {pad(odds, 1, 1, 0)};
}

}  // namespace fovea
