#include "fovea/kernel/pooling.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/pooling.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

using naive::Window;
using DI = hn::RebindToSigned<D>;

// One vector of channels, from channel i on. `x` is the window's image.
void max_vector(const Pooling& p, const Window& in, float* y, int32_t* at, const float* x,
                int64_t i) {
  const D d;
  const DI di;
  const auto first = static_cast<int32_t>(in.top * p.w.size + in.left);
  V best = hn::LoadU(d, x + first * p.channels + i);
  auto where = hn::Set(di, first);
  for (int64_t row = in.top; row < in.bottom; ++row) {
    for (int64_t column = in.left; column < in.right; ++column) {
      const auto pixel = static_cast<int32_t>(row * p.w.size + column);
      const V v = hn::LoadU(d, x + pixel * p.channels + i);
      const auto wins = hn::Or(hn::Gt(v, best), hn::IsNaN(v));
      best = hn::IfThenElse(wins, v, best);
      where = hn::IfThenElse(hn::RebindMask(di, wins), hn::Set(di, pixel), where);
    }
  }
  hn::StoreU(best, d, y + i);
  hn::StoreU(where, di, at + i);
}

void max_window(const Pooling& p, const Window& in, float* y, int32_t* at, const float* x) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t i = 0;
  for (; i + lanes <= p.channels; i += lanes) max_vector(p, in, y, at, x, i);
  for (; i < p.channels; ++i) {
    at[i] = -1;
    for (int64_t row = in.top; row < in.bottom; ++row) {
      for (int64_t column = in.left; column < in.right; ++column) {
        const int64_t pixel = row * p.w.size + column;
        const float v = x[pixel * p.channels + i];
        if (at[i] >= 0 && !(v > y[i]) && !std::isnan(v)) continue;
        y[i] = v;
        at[i] = static_cast<int32_t>(pixel);
      }
    }
  }
}

void mean_window(const Pooling& p, const Window& in, float* y, const float* x) {
  const float factor = 1 / static_cast<float>(naive::mean_divisor(p, in));
  std::fill_n(y, p.channels, 0.0f);
  for (int64_t row = in.top; row < in.bottom; ++row) {
    for (int64_t column = in.left; column < in.right; ++column) {
      map2(Plus{}, y, y, x + (row * p.w.size + column) * p.channels, p.channels);
    }
  }
  map1(TimesScalar{factor}, y, y, p.channels);
}

void mean_window_grad(const Pooling& p, const Window& in, float* dx, const float* dy) {
  const AddScaled add{1 / static_cast<float>(naive::mean_divisor(p, in))};
  for (int64_t row = in.top; row < in.bottom; ++row) {
    for (int64_t column = in.left; column < in.right; ++column) {
      float* pixel = dx + (row * p.w.size + column) * p.channels;
      map2(add, pixel, pixel, dy, p.channels);
    }
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(max_window);
HWY_EXPORT(mean_window);
HWY_EXPORT(mean_window_grad);

namespace {

// Calls f(window, position, element where the window's image starts) for all positions.
template <class F>
void each_window(const Pooling& p, const F& f) {
  const int64_t work = p.channels * p.h.kernel * p.w.kernel;
  parallel_for(p.positions(), row_grain(light_grain, work), [&](int64_t begin, int64_t end) {
    for (int64_t position = begin; position < end; ++position) {
      const naive::Window in = naive::window(p, position);
      f(in, position, in.image * p.h.size * p.w.size * p.channels);
    }
  });
}

// Windows may overlap, so an image's gradient is one task's: f(first position, last, element where
// the image starts), once that image's part of dx is zero.
template <class F>
void each_image(const Pooling& p, float* dx, const F& f) {
  const int64_t positions = p.h.positions() * p.w.positions();
  const int64_t image = p.h.size * p.w.size * p.channels;
  parallel_for(p.batch, row_grain(light_grain, image), [&](int64_t begin, int64_t end) {
    std::fill_n(dx + begin * image, (end - begin) * image, 0.0f);
    for (int64_t b = begin; b < end; ++b) f(b * positions, (b + 1) * positions, b * image);
  });
}

}  // namespace

void max_pool(const Pooling& p, float* y, int32_t* at, const float* x) {
  each_window(p, [&](const naive::Window& in, int64_t position, int64_t image) {
    FOVEA_DISPATCH(max_window)
    (p, in, y + position * p.channels, at + position * p.channels, x + image);
  });
}

void max_pool_grad(const Pooling& p, float* dx, const float* dy, const int32_t* at) {
  each_image(p, dx, [&](int64_t begin, int64_t end, int64_t image) {
    for (int64_t position = begin; position < end; ++position) {
      for (int64_t c = 0; c < p.channels; ++c) {
        const int64_t i = position * p.channels + c;
        dx[image + at[i] * p.channels + c] += dy[i];
      }
    }
  });
}

void avg_pool(const Pooling& p, float* y, const float* x) {
  each_window(p, [&](const naive::Window& in, int64_t position, int64_t image) {
    FOVEA_DISPATCH(mean_window)(p, in, y + position * p.channels, x + image);
  });
}

void avg_pool_grad(const Pooling& p, float* dx, const float* dy) {
  each_image(p, dx, [&](int64_t begin, int64_t end, int64_t image) {
    for (int64_t position = begin; position < end; ++position) {
      FOVEA_DISPATCH(mean_window_grad)
      (p, naive::window(p, position), dx + image, dy + position * p.channels);
    }
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
