// Multiplicative scores.
//   dot:    e = q . k                  Luong, Pham, Manning 2015
//   scaled: e = q . k / sqrt(d_k)      Vaswani et al. 2017
#pragma once

#include <cmath>

#include "fovea/attention/contract.h"

namespace fovea {

inline Score dot_score() {
  return [](const Tensor& q, const Tensor& k) { return ScoreForm{q, k}; };
}

inline Score scaled_score() {
  return [](const Tensor& q, const Tensor& k) {
    return ScoreForm{q, k, 1 / std::sqrt(static_cast<double>(k.dim(-1)))};
  };
}

}  // namespace fovea
