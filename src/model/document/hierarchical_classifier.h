// One label for a document: words into sentences into the document (Yang et al. 2016, HN-ATT and
// HN-AVE).
//   h_st = GRU(x_s1 .. x_sT)_t   c_s = attend(u_w, h_s1 .. h_sT)
//   g_s = GRU(c_1 .. c_S)_s      c = attend(u_s, g_1 .. g_S)      y = W c + b
// At both levels a Transformer's blocks can stand in the place of the GRU.
#pragma once

#include <optional>

#include "fovea/attention/catalog.h"
#include "fovea/attention/feature/hierarchical.h"
#include "fovea/model/model.h"
#include "fovea/model/text_encoder.h"
#include "fovea/nn/linear.h"

namespace fovea {

class HierarchicalClassifier : public Scorer {
 public:
  // Without attention, the mean at both levels.
  HierarchicalClassifier(Scope s, const ModelSizes& sizes, const TextEncoderOptions& options,
                         const std::optional<AttentionOptions>& attention);

  Output operator()(const ModelInputs& in) const override;

 private:
  TextEncoderOptions options_;
  TextEncoder words_;
  RowEncoder sentences_;
  std::optional<HierarchicalAttention> attention_;
  Linear output_;
};

}  // namespace fovea
