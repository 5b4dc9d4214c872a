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

// y = f(d, a, b, bias, next) over rows, of which the first begins with element `first`; b and bias
// may be null and are zero then. f calls `next` once.
template <bool drops, class F>
void each_vector(const F& f, float* y, const float* a, const float* b, const float* bias,
                 int64_t first, Rows n, const Drop& drop) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  Dropper dropper(drop.p, drop.key, first);
  for (int64_t row = first; row < first + n.rows * n.C; row += n.C) {
    int64_t i = 0;
    for (; i + lanes <= n.C; i += lanes) {
      const V vb = b ? hn::LoadU(d, b + row + i) : hn::Zero(d);
      const V vbias = bias ? hn::LoadU(d, bias + i) : hn::Zero(d);
      const V va = hn::LoadU(d, a + row + i);
      hn::StoreU(f(d, va, vb, vbias, Next<drops>{dropper, lanes}), d, y + row + i);
    }
    if (i < n.C) {
      const int64_t rest = n.C - i;
      const V vb = b ? load_part(d, b + row + i, rest) : hn::Zero(d);
      const V vbias = bias ? load_part(d, bias + i, rest) : hn::Zero(d);
      const V va = load_part(d, a + row + i, rest);
      store_part(f(d, va, vb, vbias, Next<drops>{dropper, rest}), d, y + row + i, rest);
    }
  }
}

struct AddDropped {
  template <bool drops>
  HWY_INLINE V operator()(D, V x, V part, V bias, const Next<drops>& drop) const {
    return hn::Add(x, drop(hn::Add(part, bias)));
  }
};
template <class F>
struct Activated {
  template <bool drops>
  HWY_INLINE V operator()(D d, V x, V, V bias, const Next<drops>& drop) const {
    return drop(F{}(d, hn::Add(x, bias)));
  }
};
template <class F>
struct ActivatedSlope {
  template <bool drops>
  HWY_INLINE V operator()(D d, V x, V dy, V bias, const Next<drops>& drop) const {
    // The slope of relu and gelu needs no y.
    return hn::Mul(drop(dy), F{}.slope(d, hn::Add(x, bias), x));
  }
};

template <class F>
void run(const F& f, float* y, const float* a, const float* b, const float* bias, int64_t first,
         Rows n, const Drop& drop) {
  drop.p > 0 ? each_vector<true>(f, y, a, b, bias, first, n, drop)
             : each_vector<false>(f, y, a, b, bias, first, n, drop);
}

void add_part(float* y, const float* x, const float* part, const float* bias, int64_t first, Rows n,
              const Drop& drop) {
  run(AddDropped{}, y, x, part, bias, first, n, drop);
}

// With dy: the gradient.
template <class F>
void activate_as(float* y, const float* x, const float* dy, const float* bias, int64_t first,
                 Rows n, const Drop& drop) {
  dy ? run(ActivatedSlope<F>{}, y, x, dy, bias, first, n, drop)
     : run(Activated<F>{}, y, x, nullptr, bias, first, n, drop);
}

void activate_part(Unary f, float* y, const float* x, const float* dy, const float* bias,
                   int64_t first, Rows n, const Drop& drop) {
  if (f == Unary::relu) return activate_as<Relu>(y, x, dy, bias, first, n, drop);
  if (f == Unary::gelu) return activate_as<Gelu>(y, x, dy, bias, first, n, drop);
  activate_as<GeluTanh>(y, x, dy, bias, first, n, drop);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(add_part);
HWY_EXPORT(activate_part);

void add_dropped(float* y, const float* x, const float* part, const float* bias, Rows n,
                 const Drop& drop) {
  parallel_for(n.rows, row_grain(heavy_grain, n.C), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(add_part)(y, x, part, bias, begin * n.C, {end - begin, n.C}, drop);
  });
}

static void activate(Unary f, float* y, const float* x, const float* dy, const float* bias, Rows n,
                     const Drop& drop) {
  check(f == Unary::relu || f == Unary::gelu || f == Unary::gelu_tanh,
        "activate_dropped: takes relu, gelu and gelu_tanh");
  parallel_for(n.rows, row_grain(heavy_grain, n.C), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(activate_part)
    (f, y, x, dy, bias, begin * n.C, {end - begin, n.C}, drop);
  });
}

void activate_dropped(Unary f, float* y, const float* x, const float* bias, Rows n,
                      const Drop& drop) {
  activate(f, y, x, nullptr, bias, n, drop);
}

void activate_dropped_grad(Unary f, float* dx, const float* dy, const float* x, const float* bias,
                           Rows n, const Drop& drop) {
  activate(f, dx, x, dy, bias, n, drop);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
