// A Transformer over patches of a picture: Dosovitskiy et al., "An Image Is Worth 16x16 Words",
// 2020.
//   x_p = E patch_p + W_p,  x = blocks(x),  y = V mean_p(norm(x_p)) + b
// The mean of all patches stands where the paper has a token of its own; its appendix finds both
// alike. Pictures whose sides no patch divides are continued with 0.
#pragma once

#include "fovea/attention/position/learned.h"
#include "fovea/model/model.h"
#include "fovea/model/transformer/block.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct PatchOptions {
  int64_t patch = 4;  // pixels of a side
};
// As options of a run.
const Fields<PatchOptions>& patch_fields();

// Labels for pictures; its blocks are those of `options`.
class PatchTransformer : public Scorer {
 public:
  PatchTransformer(Scope s, const ModelSizes& sizes, const PatchOptions& patches,
                   const TransformerOptions& options);
  Output operator()(const ModelInputs& in) const override;

  int64_t rows() const { return rows_; }        // of patches, from the top
  int64_t columns() const { return columns_; }  // of patches, from the left

 private:
  Tensor patches_of(const Tensor& pictures) const;  // [B rows columns, patch^2 C]

  TransformerOptions options_;
  int64_t patch_, rows_, columns_;
  Linear embedding_;
  LearnedPosition positions_;
  std::vector<TransformerBlock> blocks_;
  LayerNorm norm_;
  Linear output_;
};

}  // namespace fovea
