#include "fovea/attention/position/rotary.h"

#include "fovea/attention/position/angles.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

constexpr int64_t grain =
    32;  // positions a chunk turns, and so how often it starts from a real sine

// x's rows turned by sign times their angle.
template <class T>
void turn(T* y, const T* x, const Shape& shape, int64_t offset, const RotaryOptions& o,
          double sign) {
  const int64_t B = shape[0], Tx = shape[1], H = shape[2], D = shape[3], width = o.width,
                n = width / 2;
  const Angles angles(n, width, o.base);
  const bool halves = o.pairs == RotaryOptions::Pairs::halves;
  parallel_for(Tx, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> c(n), s(n);
    angles.each(offset + begin, offset + end, [&](int64_t p, const double* cos, const double* sin) {
      for (int64_t i = 0; i < n; ++i) {
        c[i] = static_cast<T>(cos[i]);
        s[i] = static_cast<T>(sign * sin[i]);
      }
      for (int64_t b = 0; b < B; ++b) {
        for (int64_t h = 0; h < H; ++h) {
          const int64_t at = ((b * Tx + p - offset) * H + h) * D;
          const T* from = x + at;
          T* to = y + at;
          if (halves) {
            for (int64_t i = 0; i < n; ++i) {
              to[i] = from[i] * c[i] - from[i + n] * s[i];
              to[i + n] = from[i] * s[i] + from[i + n] * c[i];
            }
          } else {
            for (int64_t i = 0; i < n; ++i) {
              to[2 * i] = from[2 * i] * c[i] - from[2 * i + 1] * s[i];
              to[2 * i + 1] = from[2 * i] * s[i] + from[2 * i + 1] * c[i];
            }
          }
          std::copy(from + width, from + D, to + width);
        }
      }
    });
  });
}

Tensor turned(const Tensor& x, int64_t offset, const RotaryOptions& o, double sign) {
  Tensor y(x.shape(), x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    turn(y.write<T>().data(), x.read<T>().data(), x.shape(), offset, o, sign);
  });
  return y;
}

}  // namespace

Tensor rotary(const Tensor& x, int64_t offset, const RotaryOptions& options) {
  check(x.rank() == 4, "rotary: needs [B, T, H, D], got ", x.shape());
  RotaryOptions o = options;
  if (o.width == 0) o.width = x.dim(3);
  check(o.width % 2 == 0 && o.width > 0 && o.width <= x.dim(3),
        "rotary: turns pairs of features, but ", o.width, " of ", x.dim(3), " were to turn");
  return record(
      "rotary", {x}, turned(x, offset, o, 1),
      [offset, o](const Tensor& dy, InputGradients& dx) { dx.add(0, turned(dy, offset, o, -1)); });
}

PositionsFactory rotary_positions(const RotaryOptions& options) {
  return [options](Scope, int64_t, int64_t) {
    return Positions{
        .turn = [options](const Tensor& x, int64_t offset) { return rotary(x, offset, options); }};
  };
}

}  // namespace fovea
