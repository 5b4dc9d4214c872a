// ALiBi: Press, Smith, Lewis, "Train Short, Test Long: Attention with Linear Biases Enables Input
// Length Extrapolation", 2022.
//   e_ij -= m_h |i - j|,   m_h = 2^(-8 h / H), h = 1 ... H
// The paper has keys before the query alone; keys after it are treated alike. When H is no power of
// two, the slopes are those of the next lower power, then every second one of twice that power.
#pragma once

#include <vector>

#include "fovea/attention/position/positions.h"

namespace fovea {

// m_h for each head.
std::vector<double> alibi_slopes(int64_t heads);

// [1, heads, 1, 2 reach + 1]: a number for every distance from -reach to reach.
Tensor alibi_distances(int64_t heads, int64_t reach, Dtype dtype = Dtype::f32);
// [1, heads, Tq, Tk], the same for the whole batch; query i stands where key i + offset does.
Tensor alibi(int64_t heads, int64_t Tq, int64_t Tk, int64_t offset = 0, Dtype dtype = Dtype::f32);

// For MultiHeadOptions::positions: nothing is learned.
PositionsFactory alibi_positions();

}  // namespace fovea
