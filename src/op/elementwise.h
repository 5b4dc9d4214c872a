// Arithmetic and functions of single elements. Shapes broadcast: axes align at the end, and an axis
// of size 1 repeats.
#pragma once

#include "fovea/op/tape.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
// Where both are equal the gradient goes to a.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);

// a x + b
Tensor affine(const Tensor& x, double a, double b);
// Sums and products with a number.
inline Tensor operator*(const Tensor& x, double a) { return affine(x, a, 0); }
inline Tensor operator*(double a, const Tensor& x) { return affine(x, a, 0); }
inline Tensor operator/(const Tensor& x, double a) { return affine(x, 1 / a, 0); }
inline Tensor operator+(const Tensor& x, double b) { return affine(x, 1, b); }
inline Tensor operator-(const Tensor& x, double b) { return affine(x, 1, -b); }
inline Tensor operator-(double b, const Tensor& x) { return affine(x, -1, b); }
inline Tensor operator-(const Tensor& x) { return affine(x, -1, 0); }

Tensor exp(const Tensor& x);                              // e^x
Tensor log(const Tensor& x);                              // to base e
Tensor sqrt(const Tensor& x);                             // of x >= 0
Tensor square(const Tensor& x);                           // x^2
Tensor abs(const Tensor& x);                              // |x|, with gradient 0 at 0
Tensor sin(const Tensor& x);                              // of x in radians
Tensor cos(const Tensor& x);                              // of x in radians
Tensor tanh(const Tensor& x);                             // into (-1, 1)
Tensor sigmoid(const Tensor& x);                          // 1 / (1 + e^-x)
Tensor softplus(const Tensor& x);                         // log(1 + e^x)
Tensor relu(const Tensor& x);                             // max(x, 0)
Tensor leaky_relu(const Tensor& x, double slope = 0.01);  // x, but slope x below 0
Tensor elu(const Tensor& x, double a = 1);                // x, but a (e^x - 1) below 0
Tensor gelu(const Tensor& x);                             // exact: x Phi(x)
Tensor gelu_tanh(const Tensor& x);                        // the tanh form, as GPT-2 has it
// Into [low, high]; the gradient outside is zero.
Tensor clamp(const Tensor& x, double low, double high);

// In another real type, with a gradient in its own.
Tensor convert(const Tensor& x, Dtype dtype);

// y += x without a tape: for sums of gradients.
void add_in_place(Tensor& y, const Tensor& x);
// y *= factor, the same way.
void scale_in_place(Tensor& y, double factor);

}  // namespace fovea
