#include "fovea/kernel/dropped.h"

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/dropped.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/activation-inl.h"
#include "fovea/kernel/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// What becomes of the next `count` elements.
template <bool drops>
struct Next {
  Dropper& dropper;
  int64_t count;
  HWY_INLINE V operator()(V x) const {
    if constexpr (drops) return dropper(x, count);
    return x;
  }
};

// y = f(d, a, b, next) for n elements, of which the first has the index `first`; b may be null and
// is zero then. f calls `next` once.
template <bool drops, class F>
void each_vector(const F& f, float* y, const float* a, const float* b, int64_t first, int64_t n,
                 const Drop& drop) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  Dropper dropper(drop.p, drop.key, first);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V va = hn::LoadU(d, a + i), vb = b ? hn::LoadU(d, b + i) : hn::Zero(d);
    hn::StoreU(f(d, va, vb, Next<drops>{dropper, lanes}), d, y + i);
  }
  if (i == n) return;
  const int64_t rest = n - i;
  const V va = load_part(d, a + i, rest), vb = b ? load_part(d, b + i, rest) : hn::Zero(d);
  store_part(f(d, va, vb, Next<drops>{dropper, rest}), d, y + i, rest);
}

struct AddDropped {
  template <bool drops>
  HWY_INLINE V operator()(D, V x, V part, const Next<drops>& drop) const {
    return hn::Add(x, drop(part));
  }
};
template <class F>
struct Activated {
  template <bool drops>
  HWY_INLINE V operator()(D d, V x, V, const Next<drops>& drop) const {
    return drop(F{}(d, x));
  }
};
template <class F>
struct ActivatedSlope {
  template <bool drops>
  HWY_INLINE V operator()(D d, V x, V dy, const Next<drops>& drop) const {
    // The slope of relu and gelu needs no y.
    return hn::Mul(drop(dy), F{}.slope(d, x, x));
  }
};

template <class F>
void run(const F& f, float* y, const float* a, const float* b, int64_t first, int64_t n,
         const Drop& drop) {
  drop.p > 0 ? each_vector<true>(f, y, a, b, first, n, drop)
             : each_vector<false>(f, y, a, b, first, n, drop);
}

void add_part(float* y, const float* x, const float* part, int64_t first, int64_t n,
              const Drop& drop) {
  run(AddDropped{}, y, x, part, first, n, drop);
}

// With dy: the gradient.
template <class F>
void activate_as(float* y, const float* x, const float* dy, int64_t first, int64_t n,
                 const Drop& drop) {
  dy ? run(ActivatedSlope<F>{}, y, x, dy, first, n, drop)
     : run(Activated<F>{}, y, x, nullptr, first, n, drop);
}

void activate_part(Unary f, float* y, const float* x, const float* dy, int64_t first, int64_t n,
                   const Drop& drop) {
  if (f == Unary::relu) return activate_as<Relu>(y, x, dy, first, n, drop);
  if (f == Unary::gelu) return activate_as<Gelu>(y, x, dy, first, n, drop);
  activate_as<GeluTanh>(y, x, dy, first, n, drop);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(add_part);
HWY_EXPORT(activate_part);

void add_dropped(float* y, const float* x, const float* part, int64_t n, const Drop& drop) {
  parallel_for(n, heavy_grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(add_part)(y + begin, x + begin, part + begin, begin, end - begin, drop);
  });
}

static void activate(Unary f, float* y, const float* x, const float* dy, int64_t n,
                     const Drop& drop) {
  check(f == Unary::relu || f == Unary::gelu || f == Unary::gelu_tanh,
        "activate_dropped: takes relu, gelu and gelu_tanh");
  parallel_for(n, heavy_grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(activate_part)
    (f, y + begin, x + begin, dy ? dy + begin : nullptr, begin, end - begin, drop);
  });
}

void activate_dropped(Unary f, float* y, const float* x, int64_t n, const Drop& drop) {
  activate(f, y, x, nullptr, n, drop);
}

void activate_dropped_grad(Unary f, float* dx, const float* dy, const float* x, int64_t n,
                           const Drop& drop) {
  activate(f, dx, x, dy, n, drop);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
