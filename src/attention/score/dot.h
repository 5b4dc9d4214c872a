// Multiplicative scores.
//   dot:    e = q . k                  Luong, Pham, Manning 2015
//   scaled: e = q . k / sqrt(d_k)      Vaswani et al. 2017
#pragma once

#include <cmath>

#include "fovea/attention/contract.h"

namespace fovea {

// Without parameters; queries and keys are equally wide.
inline Score dot_score() {
  return [](const Heads& q, const Heads& k) { return ScoreForm{q, k}; };
}

// The same over the root of the width, so that scores of wide heads do not grow.
inline Score scaled_score() {
  return [](const Heads& q, const Heads& k) {
    return ScoreForm{q, k, 1 / std::sqrt(static_cast<double>(k.dim(-1)))};
  };
}

}  // namespace fovea
