#include "fovea/attention/position/sinusoidal.h"

#include "fovea/attention/position/angles.h"

namespace fovea {

Tensor sinusoidal(int64_t T, int64_t d, int64_t offset, Dtype dtype, double base) {
  check(T >= 0 && d >= 1 && base > 0,
        "sinusoidal: needs a length, a width and a base above 0, got ", T, ", ", d, " and ", base);
  Tensor y({T, d}, dtype);
  with_real(dtype, [&]<class Real>(Real) {
    const auto to = y.write<Real>();
    Angles((d + 1) / 2, d, base).each(offset, offset + T, [&](int64_t p, auto* cos, auto* sin) {
      Real* row = &to[(p - offset) * d];
      for (int64_t k = 0; k < d; ++k) row[k] = static_cast<Real>(k % 2 ? cos[k / 2] : sin[k / 2]);
    });
  });
  return y;
}

}  // namespace fovea
