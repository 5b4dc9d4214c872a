// y = f(x), element by element, and its slope.
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/unary.h"

namespace fovea::kernel {

using naive::Unary;

// y[i] = f(x[i]). `a` and `b` are what the function's line in naive/unary.h says. y may be x.
void unary(Unary f, float* y, const float* x, int64_t n, float a, float b);
// dx[i] = dy[i] f'(x[i]), given y = f(x).
void unary_grad(Unary f, float* dx, const float* dy, const float* x, const float* y, int64_t n,
                float a, float b);

// The plain twins, on all threads.
void unary(Unary f, double* y, const double* x, int64_t n, double a, double b);
void unary_grad(Unary f, double* dx, const double* dy, const double* x, const double* y, int64_t n,
                double a, double b);

}  // namespace fovea::kernel
