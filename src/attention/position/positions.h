// How a mechanism learns where its queries and keys stand: by changing both before they are scored,
// or by a bias on the scores that goes by distance. Positions that are added to a model's inputs
// (sinusoidal, learned) need neither.
#pragma once

#include <functional>

#include "fovea/nn/scope.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct Positions {
  // x [B, T, H, D], queries or keys, whose first row stands at `offset`; the same shape comes back.
  std::function<Tensor(const Tensor& x, int64_t offset)> turn{};
  // What AttentionInputs::distances is for q [B, Tq, H, D], whose first row stands where key
  // `offset` does, and so many keys.
  std::function<Tensor(const Tensor& q, int64_t keys, int64_t offset)> distances{};
};

// Makes those of one attention, whose parameters stand under the Scope.
using PositionsFactory = std::function<Positions(Scope, int64_t heads, int64_t d_head)>;

}  // namespace fovea
