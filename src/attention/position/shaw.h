// Relative positions, a learned vector for each distance: Shaw, Uszkoreit, Vaswani, "Self-Attention
// with Relative Position Representations", 2018.
//   e_ij = q_i . (k_j + a_clip(j - i)) / sqrt(d)
// The second term is a bias made from the queries. The paper also has vectors for the values, which
// are left out: they would need all weights in memory.
#pragma once

#include "fovea/attention/position/positions.h"

namespace fovea {

struct ShawPosition {
  Parameter keys;  // a: [2 reach + 1, d], distances -reach to reach, shared by all heads

  ShawPosition(Scope s, int64_t d, int64_t reach);

  // q [B, Tq, H, d] -> scale q_i . a_d for every distance d, [B, H, Tq, 2 reach + 1].
  Tensor distances(const Tensor& q, double scale) const;
  // The same for every key, [B, H, Tq, Tk]; query i stands where key i +
  // offset does.
  Tensor bias(const Tensor& q, int64_t Tk, int64_t offset, double scale) const;
};

// For the scaled score, as the paper has it.
PositionsFactory shaw_positions(int64_t reach = 16);

}  // namespace fovea
