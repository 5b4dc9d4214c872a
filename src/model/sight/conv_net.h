// Pictures to regions, and to labels, by convolution:
//   stage s of `stages`:  `blocks` blocks of width 2^s times `width`; the first halves both sides
//   plain block:          x = pool(relu(norm(x * W)))
//   residual block:       x = relu(short(x) + norm(relu(norm(x * W1)) * W2))     (He et al. 2015)
//   depthwise block:      W1 channel by channel, and then 1 x 1                  (Howard et al.
//   2017)
// A region is a place of the last stage with its features: attention looks at regions.
#pragma once

#include <optional>
#include <vector>

#include "fovea/base/fields.h"
#include "fovea/model/model.h"
#include "fovea/nn/batch_norm.h"
#include "fovea/nn/conv.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct ConvOptions {
  int64_t stages = 2;           // each halves the sides
  int64_t blocks = 1;           // of a stage
  int64_t width = 32;           // channels of the first stage; each further one has twice as many
  std::string block = "plain";  // plain, residual, depthwise
  double dropout = 0;           // of the regions
};
// All of them, as options of a run.
const Fields<ConvOptions>& conv_fields();

// [B, H, W, C] -> [B, rows columns, features]. Pictures come in from 0 to 1.
class ConvEncoder {
 public:
  // Paths: 0, 1, ... for the blocks. The sizes' height, width and channels are the pictures'.
  ConvEncoder(Scope s, const ModelSizes& sizes, const ConvOptions& options);

  Tensor operator()(const Tensor& pictures) const;

  int64_t rows() const { return rows_; }          // of regions, from the top
  int64_t columns() const { return columns_; }    // of regions, from the left
  int64_t features() const { return features_; }  // of a region

 private:
  struct Block {
    Conv2d first;
    BatchNorm first_norm;
    std::optional<Conv2d> second;  // residual, depthwise
    std::optional<BatchNorm> second_norm;
    std::optional<Conv2d> shortcut;  // residual, where the shape changes
    std::optional<BatchNorm> shortcut_norm;
    bool pool;  // plain: 2 x 2 maximum at the end

    Tensor operator()(const Tensor& x) const;
  };
  static Block block_of(Scope s, int64_t in, int64_t out, bool halves, const std::string& kind);

  std::vector<Block> blocks_;
  int64_t rows_, columns_, features_ = 0;
  double dropout_;
};

// y = W [all regions side by side] + b
class ConvClassifier : public Scorer {
 public:
  ConvClassifier(Scope s, const ModelSizes& sizes, const ConvOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  ConvEncoder encoder_;
  Linear output_;
};

}  // namespace fovea
