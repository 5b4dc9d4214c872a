#include "fovea/op/glimpse.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/parallel.h"

namespace fovea {
namespace {

struct Sensor {
  int64_t B, H, W, C;
  GlimpseOptions o;

  int64_t features() const { return o.scales * o.size * o.size * C; }

  // f(feature, pixel, part) for every pixel, a number of its picture, that a feature of the glimpse
  // is made of; channels are to be added to both.
  template <class F>
  void each(double down, double across, const F& f) const {
    int64_t feature = 0;
    for (int64_t scale = 0; scale < o.scales; ++scale) {
      const int64_t cell = int64_t{1} << scale, side = o.size * cell;
      const int64_t top = glimpse_start(down, H, side), left = glimpse_start(across, W, side);
      const double part = 1.0 / static_cast<double>(cell * cell);
      for (int64_t i = 0; i < o.size; ++i) {
        const int64_t y0 = std::max<int64_t>(0, top + i * cell),
                      y1 = std::min(H, top + (i + 1) * cell);
        for (int64_t j = 0; j < o.size; ++j, feature += C) {
          const int64_t x0 = std::max<int64_t>(0, left + j * cell),
                        x1 = std::min(W, left + (j + 1) * cell);
          for (int64_t y = y0; y < y1; ++y) {
            for (int64_t x = x0; x < x1; ++x) f(feature, (y * W + x) * C, part);
          }
        }
      }
    }
  }
};

}  // namespace

int64_t glimpse_start(double place, int64_t pixels, int64_t side) {
  // Whatever the place is, the result can be reckoned with.
  const double middle = std::clamp((place + 1) / 2, -4.0, 5.0) * static_cast<double>(pixels);
  return static_cast<int64_t>(std::floor(middle - static_cast<double>(side) / 2 + 0.5));
}

Tensor glimpse(const Tensor& pictures, const Tensor& places, const GlimpseOptions& options) {
  check(pictures.rank() == 4 && places.shape() == Shape{pictures.dim(0), 2} &&
            places.dtype() == pictures.dtype(),
        "glimpse: needs pictures [B, H, W, C] and places [B, 2], got ", pictures.shape(), " and ",
        places.shape());
  check(options.size >= 1 && options.scales >= 1 && options.scales <= 16,
        "glimpse: needs a size of at least 1 and 1 to 16 scales, got ", options.size, " and ",
        options.scales);
  const Sensor s{pictures.dim(0), pictures.dim(1), pictures.dim(2), pictures.dim(3), options};
  const int64_t pixels = s.H * s.W * s.C;
  Tensor y = Tensor::zeros({s.B, s.features()}, pictures.dtype());
  with_real(y.dtype(), [&]<class T>(T) {
    T* to = y.write<T>().data();
    const T *from = pictures.read<T>().data(), *at = places.read<T>().data();
    parallel_for(s.B, 8, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        T* out = to + b * s.features();
        const T* picture = from + b * pixels;
        s.each(static_cast<double>(at[2 * b]), static_cast<double>(at[2 * b + 1]),
               [&](int64_t feature, int64_t pixel, double part) {
                 for (int64_t c = 0; c < s.C; ++c) {
                   out[feature + c] += picture[pixel + c] * static_cast<T>(part);
                 }
               });
      }
    });
  });
  return record(
      "glimpse", {pictures}, y,
      [s, pixels, places, shape = pictures.shape()](const Tensor& dy, InputGradients& dx) {
        Tensor g = Tensor::zeros(shape, dy.dtype());
        with_real(dy.dtype(), [&]<class T>(T) {
          T* to = g.write<T>().data();
          const T *slope = dy.read<T>().data(), *at = places.read<T>().data();
          for (int64_t b = 0; b < s.B; ++b) {
            s.each(static_cast<double>(at[2 * b]), static_cast<double>(at[2 * b + 1]),
                   [&](int64_t feature, int64_t pixel, double part) {
                     for (int64_t c = 0; c < s.C; ++c) {
                       to[b * pixels + pixel + c] +=
                           slope[b * s.features() + feature + c] * static_cast<T>(part);
                     }
                   });
          }
        });
        dx.add(0, std::move(g));
      });
}

}  // namespace fovea
