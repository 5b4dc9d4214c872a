// Learned positions: Gehring et al., "Convolutional Sequence to Sequence Learning", 2017; as in GPT
// and BERT.
//   x_p + W_p, one row of W for each position
#pragma once

#include "fovea/nn/scope.h"
#include "fovea/op/shape.h"

namespace fovea {

struct LearnedPosition {
  Parameter weight;  // [longest, d]

  LearnedPosition(Scope s, int64_t longest, int64_t d, const Init& init = init::normal(0.02))
      : weight(s.param("weight", {longest, d}, init)) {}

  // [T, d], to be added to the inputs of a model; the first row is that of position `offset`.
  Tensor operator()(int64_t T, int64_t offset = 0) const {
    check(offset >= 0 && T >= 0 && offset + T <= weight.dim(0), "learned positions: there are ",
          weight.dim(0), ", asked for ", T, " from ", offset, " on");
    return slice(weight, 0, offset, offset + T);
  }
};

}  // namespace fovea
