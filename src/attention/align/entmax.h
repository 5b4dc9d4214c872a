// Sparse alignments: exact projections with exact gradients.
//   entmax:     a_j = max((alpha - 1) e_j - t, 0)^(1 / (alpha - 1)), with the t at which they sum
//   to
//               1: Peters, Niculae, Martins, "Sparse Sequence-to-Sequence Models", 2019
//   sparsemax:  alpha = 2: Martins, Astudillo 2016
#pragma once

#include "fovea/attention/alignment.h"

namespace fovea {

Alignment entmax_alignment(double alpha = 1.5);  // alpha in (1, 2]
Alignment sparsemax_alignment();                 // entmax with alpha = 2

// Alpha-entmax along the last axis.
Tensor entmax(const Tensor& z, double alpha);
inline Tensor sparsemax(const Tensor& z) { return entmax(z, 2); }

}  // namespace fovea
