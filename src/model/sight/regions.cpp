#include "fovea/model/sight/regions.h"

namespace fovea {

const Fields<RegionOptions>& region_fields() {
  using O = RegionOptions;
  static const Fields<O> fields{
      {"stages", &O::stages, "stages; each halves the picture's sides", whole_from(1, 12)},
      {"blocks", &O::blocks, "blocks of a stage", whole_from(1, 64)},
      {"channels", &O::channels, "channels of the first stage; the next has twice as many",
       whole_from(1, 4096)},
      {"conv_block", &O::block, "what a block is", one_of({"plain", "residual", "depthwise"})}};
  return fields;
}

}  // namespace fovea
