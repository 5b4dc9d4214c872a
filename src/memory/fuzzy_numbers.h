// Arithmetic on numbers that are not certain: each is a distribution over 0 .. M - 1, and what
// comes out has the probability of all pairs that give it. What a neural random-access machine
// computes with (Kurach, Andrychowicz, Sutskever 2016). Sums and differences go round at M.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// What is done to two numbers.
enum class FuzzyOp { add, subtract, less, less_equal, equal, minimum, maximum };

// y_c = sum over a, b with f(a, b) = c of x_a z_b; x and z [B, M].
Tensor fuzzy(FuzzyOp f, const Tensor& x, const Tensor& z);
// x + by, which may be negative: [B, M].
Tensor fuzzy_shifted(const Tensor& x, int64_t by);
// The result for numbers that are certain.
int64_t certain(FuzzyOp f, int64_t a, int64_t b, int64_t M);

}  // namespace fovea
