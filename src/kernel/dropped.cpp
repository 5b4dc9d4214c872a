#include "fovea/kernel/dropped.h"

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/dropped.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/activation-inl.h"
#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// The next elements of all arrays: a whole vector, or the last ones.
struct Whole {
  static constexpr int64_t count = HWY_LANES(float);
  HWY_INLINE V load(const float* from) const { return hn::LoadU(D(), from); }
  HWY_INLINE void store(V v, float* to) const { hn::StoreU(v, D(), to); }
};
struct Rest {
  int64_t count;
  HWY_INLINE V load(const float* from) const { return load_part(D(), from, count); }
  HWY_INLINE void store(V v, float* to) const { store_part(v, D(), to, count); }
};

// Calls f(i, part, drop) for n elements from i = 0 on, of which the first has the index `first` for
// dropout; drop(v) is what becomes of a vector of them, the same elements for each v.
template <bool drops, class F>
void each_vector(const F& f, int64_t first, int64_t n, const Drop& drop) {
  Dropper dropper(drop.p, drop.key, first);
  auto next = [&](int64_t i, const auto& part) HWY_ATTR {
    if constexpr (drops) {
      const auto dropped = dropper.next(part.count);
      f(i, part, [&](V v) HWY_ATTR { return dropper.without(dropped, v); });
    } else {
      f(i, part, [](V v) HWY_ATTR { return v; });
    }
  };
  int64_t i = 0;
  for (; i + Whole::count <= n; i += Whole::count) next(i, Whole());
  if (i < n) next(i, Rest{n - i});
}

template <class F>
void run(const F& f, int64_t first, int64_t n, const Drop& drop) {
  drop.p > 0 ? each_vector<true>(f, first, n, drop) : each_vector<false>(f, first, n, drop);
}

void add_part(float* y, const float* x, const float* part, int64_t first, int64_t n,
              const Drop& drop) {
  auto add = [=](int64_t i, const auto& at, const auto& drop)
                 HWY_ATTR { at.store(hn::Add(at.load(x + i), drop(at.load(part + i))), y + i); };
  run(add, first, n, drop);
}

template <class F>
void activate_as(float* y, float* slopes, const float* x, int64_t first, int64_t n,
                 const Drop& drop) {
  auto value = [=](int64_t i, const auto& at, const auto& drop)
                   HWY_ATTR { at.store(drop(F{}(D(), at.load(x + i))), y + i); };
  auto value_and_slope = [=](int64_t i, const auto& at, const auto& drop) HWY_ATTR {
    const V v = at.load(x + i);
    at.store(drop(F{}(D(), v)), y + i);
    at.store(drop(F{}.slope(D(), v, v)), slopes + i);  // of relu and gelu it needs no y
  };
  slopes ? run(value_and_slope, first, n, drop) : run(value, first, n, drop);
}

void activate_part(Unary f, float* y, float* slopes, const float* x, int64_t first, int64_t n,
                   const Drop& drop) {
  if (f == Unary::relu) return activate_as<Relu>(y, slopes, x, first, n, drop);
  if (f == Unary::gelu) return activate_as<Gelu>(y, slopes, x, first, n, drop);
  activate_as<GeluTanh>(y, slopes, x, first, n, drop);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(add_part);
HWY_EXPORT(activate_part);

void add_dropped(float* y, const float* x, const float* part, int64_t n, const Drop& drop) {
  parallel_for(n, heavy_grain, [&](int64_t begin, int64_t end) {
    FOVEA_DISPATCH(add_part)
    (y + begin, x + begin, part + begin, drop.first + begin, end - begin, drop);
  });
}

void activate_dropped(Unary f, float* y, float* slopes, const float* x, int64_t n,
                      const Drop& drop) {
  check(f == Unary::relu || f == Unary::gelu || f == Unary::gelu_tanh,
        "activate_dropped: takes relu, gelu and gelu_tanh");
  parallel_for(n, heavy_grain, [&](int64_t begin, int64_t end) {
    FOVEA_DISPATCH(activate_part)
    (f, y + begin, slopes ? slopes + begin : nullptr, x + begin, drop.first + begin, end - begin,
     drop);
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
