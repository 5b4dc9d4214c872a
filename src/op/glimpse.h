// The glimpse sensor: Mnih, Heess, Graves, Kavukcuoglu, "Recurrent Models of Visual Attention",
// 2014 (section 3.1).
//   rho(x, l) = [x around l at full sharpness; twice as wide at half the sharpness; ...]
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

struct GlimpseOptions {
  int64_t size = 8;    // pixels of a side, at every scale
  int64_t scales = 1;  // each twice as wide as the one before
};

// Where a glimpse of that side stands whose middle is at `place` of an axis of `pixels`: -1 is one
// edge, 1 the other. Gives the first pixel, which may lie outside.
int64_t glimpse_start(double place, int64_t pixels, int64_t side);

// From pictures [B, H, W, C] around places [B, 2] (down, across): [B, scales size size C], each
// number the mean of the pixels that it covers; what lies outside is 0. Places are constants: a
// step of a pixel has no gradient.
Tensor glimpse(const Tensor& pictures, const Tensor& places, const GlimpseOptions& options);

}  // namespace fovea
