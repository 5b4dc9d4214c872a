// Plain twin of kernel/conv, and the sizes that both take.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fovea::naive {

// One axis that a kernel slides along: tap k of position j reads place j stride - before + k
// dilation, which is zero where the input has none.
struct ConvAxis {
  int64_t size, kernel;
  int64_t stride = 1, before = 0, after = 0, dilation = 1;

  int64_t reach() const { return (kernel - 1) * dilation + 1; }
  int64_t positions() const { return (size + before + after - reach()) / stride + 1; }
  int64_t place(int64_t position, int64_t tap) const {
    return position * stride - before + tap * dilation;
  }
};

// x[batch, h.size, w.size, in] -> y[batch, h.positions, w.positions, out], with weights
// [out, h.kernel, w.kernel, in / groups]. A sequence is an image of height 1.
struct Conv {
  int64_t batch, in, out, groups;
  ConvAxis h, w;

  int64_t positions() const { return batch * h.positions() * w.positions(); }
  int64_t taps() const { return h.kernel * w.kernel; }
  int64_t weights() const { return out * taps() * (in / groups); }
};

// Calls f(x_at, w_at, y_at) for every product x[x_at] w[w_at] that goes into y[y_at].
template <class F>
void each_product(const Conv& c, const F& f) {
  const int64_t in = c.in / c.groups, out = c.out / c.groups;
  int64_t y_at = 0;
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t i = 0; i < c.h.positions(); ++i) {
      for (int64_t j = 0; j < c.w.positions(); ++j) {
        for (int64_t o = 0; o < c.out; ++o, ++y_at) {
          for (int64_t tap = 0; tap < c.taps(); ++tap) {
            const int64_t row = c.h.place(i, tap / c.w.kernel);
            const int64_t column = c.w.place(j, tap % c.w.kernel);
            if (row < 0 || row >= c.h.size || column < 0 || column >= c.w.size) continue;
            const int64_t pixel = (b * c.h.size + row) * c.w.size + column;
            for (int64_t k = 0; k < in; ++k) {
              f(pixel * c.in + o / out * in + k, (o * c.taps() + tap) * in + k, y_at);
            }
          }
        }
      }
    }
  }
}

// `bias` may be null.
template <class T>
void conv(const Conv& c, T* y, const T* x, const T* w, const T* bias) {
  for (int64_t i = 0; i < c.positions() * c.out; ++i) y[i] = bias ? bias[i % c.out] : T(0);
  each_product(c, [=](int64_t x_at, int64_t w_at, int64_t y_at) { y[y_at] += x[x_at] * w[w_at]; });
}

template <class T>
void conv_grad_input(const Conv& c, T* dx, const T* dy, const T* w) {
  std::fill_n(dx, c.batch * c.h.size * c.w.size * c.in, T(0));
  each_product(c,
               [=](int64_t x_at, int64_t w_at, int64_t y_at) { dx[x_at] += dy[y_at] * w[w_at]; });
}

template <class T>
void conv_grad_weight(const Conv& c, T* dw, const T* dy, const T* x) {
  std::fill_n(dw, c.weights(), T(0));
  each_product(c,
               [=](int64_t x_at, int64_t w_at, int64_t y_at) { dw[w_at] += dy[y_at] * x[x_at]; });
}

}  // namespace fovea::naive
