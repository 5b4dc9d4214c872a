// How a matrix product is cut into tasks. It follows from the sizes alone, so that any number of
// threads adds up the same sums in the same order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fovea/kernel/naive/gemm.h"

namespace fovea::kernel {

using naive::Gemm;

// What one task makes: rows and columns of C, summed over a range of depth.
struct GemmPart {
  int64_t row, rows, column, columns, k, depth;
};

// Equal blocks of depth, none longer than `most`.
inline int64_t depth_block(int64_t depth, int64_t most) {
  const int64_t blocks = std::max<int64_t>(1, (depth + most - 1) / most);
  return (depth + blocks - 1) / blocks;
}

// The i-th of `parts` nearly equal shares of n things that come `unit` at a time.
struct Share {
  int64_t begin, end;
};
inline Share share_of(int64_t n, int64_t unit, int64_t i, int64_t parts) {
  const int64_t units = (n + unit - 1) / unit;
  return {std::min(n, units * i / parts * unit), std::min(n, units * (i + 1) / parts * unit)};
}

// Tasks worth having: so many that threads which are held up do not hold up the others, each with
// a million multiplications or so.
inline int64_t tasks_wanted(const Gemm& g) {
  return std::clamp<int64_t>(g.m * g.n / 1024 * g.k / 1024, 1, 64);
}

// Cuts along rows, columns and depth.
struct GemmCut {
  int64_t rows = 1, columns = 1, depth = 1;
  int64_t tasks() const { return rows * columns * depth; }
};

// For A^T B, the gradient of weights. A task packs its part of both, so cutting rows packs B again
// and cutting columns A; cutting the depth makes sums that have to be added up. The cheapest is
// taken: packing costs a cycle for each element or so, adding up one and a half.
inline GemmCut cut_transposed(const Gemm& g) {
  const int64_t wanted = std::min<int64_t>(16, tasks_wanted(g));
  const int64_t least_rows = (g.m + 255) / 256, least_columns = (g.n + 511) / 512;
  const int64_t most_rows = std::min(std::max<int64_t>(1, g.m / 48), least_rows + 8);
  const int64_t most_columns = std::min(std::max<int64_t>(1, g.n / 64), least_columns + 8);
  GemmCut best;
  double least = -1;
  for (int64_t rows = least_rows; rows <= most_rows; ++rows) {
    for (int64_t columns = least_columns; columns <= most_columns; ++columns) {
      int64_t depth = 1;
      while (rows * columns * depth < wanted && g.k / (2 * depth) >= 128) depth *= 2;
      const double packed = static_cast<double>(g.k * (g.m * columns + g.n * rows));
      const double added = static_cast<double>(g.m * g.n * (depth - 1));
      const double missing =
          static_cast<double>(std::max<int64_t>(0, wanted - rows * columns * depth));
      const double cost = packed + 1.5 * added + missing * 1e6;
      if (least >= 0 && cost >= least) continue;
      least = cost;
      best = {rows, columns, depth};
    }
  }
  return best;
}

}  // namespace fovea::kernel
