// Hierarchical attention, words into sentences into documents and on: Yang, Yang, Dyer, He, Smola,
// Hovy, "Hierarchical Attention Networks for Document Classification", 2016.
//   c^(s) = attend(u_w, F^(s)) for each sentence s   c^D = attend(u_s, [c^(1) .. c^(n)])
// with a learned query at each of any number of levels. What is done to the contexts of one level
// before the next reads them (recurrent layers in the paper) is the model's.
#pragma once

#include <span>

#include "fovea/attention/feature/features.h"

namespace fovea {

struct HierarchicalAttention {
  // Features of the rows that each level reads, the innermost first.
  HierarchicalAttention(Scope s, std::span<const int64_t> widths,
                        const FeatureOptions& options = {});

  // One level: a context for each of its sequences.
  FeatureOutput level(size_t i, const RaggedRows& rows) const;
  // All levels, one on top of the other. rows [n, d] are cut as levels[0] says, the contexts of
  // those as levels[1] does, and so on.
  FeatureOutput operator()(const Tensor& rows, std::span<const Packing> levels) const;

  // What one level has learned.
  struct Level {
    Parameter query;  // [d]
    Pooling pooling;  // of the rows of each sequence
  };
  std::vector<Level> levels;  // the innermost first
};

}  // namespace fovea
