// Drawing a token from scores.
#pragma once

#include <span>

#include "fovea/base/random.h"

namespace fovea {

struct Sampling {
  double temperature = 1;  // 0: the likeliest
  int64_t top_k = 0;       // only the k likeliest; 0: all
  double top_p = 1;        // only the likeliest whose probabilities first reach p (Holtzman 2019)
};

// `barred`: ids below it are never drawn.
int32_t draw_token(std::span<const float> scores, const Sampling& how, int32_t barred,
                   Random& random);

}  // namespace fovea
