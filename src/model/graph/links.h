// Whether there is an edge between two nodes: states of nodes, and their product.
//   p(u - v) = sigmoid(s z_u . z_v / sqrt(d) + b),   z = network(graph)
// Kipf, Welling, "Variational Graph Auto-Encoders", 2016, without the variational part; the network
// is any of those that give labels, with d in the place of labels. s and b are learned.
#pragma once

#include "fovea/model/model.h"
#include "fovea/nn/scope.h"

namespace fovea {

// Asked about pairs: ModelInputs::rows is int32 [2 pairs], the two nodes of each side by side.
// Targets are 1 for an edge, 0 for none.
class LinkScorer : public Scorer {
 public:
  // Paths: those of the network, and link/scale, link/bias.
  LinkScorer(Scope s, std::unique_ptr<const Scorer> nodes);

  // [pairs, 2]: log-odds of no edge, which are 0, and of an edge.
  Output operator()(const ModelInputs& in) const override;

 private:
  std::unique_ptr<const Scorer> nodes_;
  Parameter scale_, bias_;  // [1]
};

}  // namespace fovea
