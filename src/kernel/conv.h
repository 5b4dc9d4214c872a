// Convolution over images [batch, height, width, channels] and, as images of height 1, sequences.
// Features come last as everywhere in Fovea: a window's row is then one run of memory, which is all
// that gathering it for a matrix product has to copy.
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/conv.h"

namespace fovea::kernel {

using naive::Conv;
using naive::ConvAxis;

// Elements of working memory that each of the three below needs as `room`; the twins need none.
enum class ConvPass { forward, grad_input, grad_weight };
int64_t conv_room(const Conv& c, ConvPass pass);

// The cut into tasks depends on the sizes alone: same bits with any number of threads.
void conv(const Conv& c, float* y, const float* x, const float* w, const float* bias, float* room);
void conv_grad_input(const Conv& c, float* dx, const float* dy, const float* w, float* room);
void conv_grad_weight(const Conv& c, float* dw, const float* dy, const float* x, float* room);

inline void conv(const Conv& c, double* y, const double* x, const double* w, const double* bias,
                 double*) {
  naive::conv(c, y, x, w, bias);
}
inline void conv_grad_input(const Conv& c, double* dx, const double* dy, const double* w, double*) {
  naive::conv_grad_input(c, dx, dy, w);
}
inline void conv_grad_weight(const Conv& c, double* dw, const double* dy, const double* x,
                             double*) {
  naive::conv_grad_weight(c, dw, dy, x);
}

}  // namespace fovea::kernel
