// Plain twin of kernel/pooling, and the sizes that both take.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fovea/kernel/naive/conv.h"

namespace fovea::naive {

// x[batch, h.size, w.size, channels] -> y[batch, h.positions, w.positions, channels]. Dilation is
// 1, and padding is smaller than the kernel, so that every window holds at least one element.
struct Pooling {
  int64_t batch, channels;
  ConvAxis h, w;
  bool count_padding =
      true;  // a mean divides by the kernel's size, or by the elements in the window

  int64_t positions() const { return batch * h.positions() * w.positions(); }
  int64_t elements() const { return batch * h.size * w.size * channels; }
};

// The part of a window that lies inside the image: rows [top, bottom), columns [left, right).
struct Window {
  int64_t image, top, bottom, left, right;
  int64_t pixels() const { return (bottom - top) * (right - left); }
};

inline Window window(const Pooling& p, int64_t position) {
  const int64_t column = position % p.w.positions(), row = position / p.w.positions();
  const int64_t top = p.h.place(row % p.h.positions(), 0), left = p.w.place(column, 0);
  return {row / p.h.positions(), std::max<int64_t>(top, 0), std::min(top + p.h.kernel, p.h.size),
          std::max<int64_t>(left, 0), std::min(left + p.w.kernel, p.w.size)};
}

inline int64_t mean_divisor(const Pooling& p, const Window& window) {
  return p.count_padding ? p.h.kernel * p.w.kernel : window.pixels();
}

// Calls f(pixel's number in the image, its element in x, element of y) for every pair of them.
template <class F>
void each_pixel(const Pooling& p, const F& f) {
  for (int64_t position = 0; position < p.positions(); ++position) {
    const Window in = window(p, position);
    for (int64_t c = 0; c < p.channels; ++c) {
      for (int64_t i = in.top; i < in.bottom; ++i) {
        for (int64_t j = in.left; j < in.right; ++j) {
          const int64_t pixel = i * p.w.size + j;
          f(in, pixel, (in.image * p.h.size * p.w.size + pixel) * p.channels + c,
            position * p.channels + c);
        }
      }
    }
  }
}

// y = the maximum, at = the number of its pixel within the image, the first one of equals. NaN
// wins, so that it does not vanish unseen.
template <class T>
void max_pool(const Pooling& p, T* y, int32_t* at, const T* x) {
  std::fill_n(at, p.positions() * p.channels, -1);
  each_pixel(p, [=](const Window&, int64_t pixel, int64_t x_at, int64_t y_at) {
    if (at[y_at] >= 0 && !(x[x_at] > y[y_at]) && !std::isnan(x[x_at])) return;
    y[y_at] = x[x_at];
    at[y_at] = static_cast<int32_t>(pixel);
  });
}

template <class T>
void max_pool_grad(const Pooling& p, T* dx, const T* dy, const int32_t* at) {
  std::fill_n(dx, p.elements(), T(0));
  each_pixel(p, [=](const Window&, int64_t pixel, int64_t x_at, int64_t y_at) {
    if (at[y_at] == pixel) dx[x_at] += dy[y_at];
  });
}

template <class T>
void avg_pool(const Pooling& p, T* y, const T* x) {
  std::fill_n(y, p.positions() * p.channels, T(0));
  each_pixel(p, [=](const Window& in, int64_t, int64_t x_at, int64_t y_at) {
    y[y_at] += x[x_at] / static_cast<T>(mean_divisor(p, in));
  });
}

template <class T>
void avg_pool_grad(const Pooling& p, T* dx, const T* dy) {
  std::fill_n(dx, p.elements(), T(0));
  each_pixel(p, [=](const Window& in, int64_t, int64_t x_at, int64_t y_at) {
    dx[x_at] += dy[y_at] / static_cast<T>(mean_divisor(p, in));
  });
}

}  // namespace fovea::naive
