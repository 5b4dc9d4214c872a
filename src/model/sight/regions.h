// From a picture to what attention looks at: regions of a convolutional net, each with a learned
// vector for its place, since left and right matter to words.
#pragma once

#include "fovea/model/sight/conv_net.h"
#include "fovea/op/elementwise.h"

namespace fovea {

// How regions are made.
struct RegionOptions {
  int64_t stages = 3;           // each halves the sides
  int64_t blocks = 1;           // of a stage
  int64_t channels = 32;        // of the first stage; each further one has twice as many
  std::string block = "plain";  // plain, residual, depthwise
};
// All of them, as options of a run.
const Fields<RegionOptions>& region_fields();
// What a ConvEncoder is told.
inline ConvOptions conv_options(const RegionOptions& o) {
  return {.stages = o.stages, .blocks = o.blocks, .width = o.channels, .block = o.block};
}

// [B, H, W, C] -> [B, rows columns, features]
struct RegionEncoder {
  RegionEncoder(Scope s, const ModelSizes& sizes, const RegionOptions& options)
      : net(s / "net", sizes, conv_options(options)),
        place(s.param("place", {net.rows() * net.columns(), net.features()}, init::normal(0.1))) {}

  Tensor operator()(const Tensor& pictures) const { return net(pictures) + place; }
  int64_t features() const { return net.features(); }  // of a region

  ConvEncoder net;  // before the places
  Parameter place;  // [regions, features]
};

// A model whose keys are regions: tasks that draw them ask how they lie.
class LooksAtRegions {
 public:
  virtual ~LooksAtRegions() = default;
  virtual int64_t region_rows() const = 0;     // from the top
  virtual int64_t region_columns() const = 0;  // from the left
};

}  // namespace fovea
