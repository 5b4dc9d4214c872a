#include "fovea/kernel/binary.h"

#include <algorithm>

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/binary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

struct Minus {
  V operator()(D, V a, V b) const { return hn::Sub(a, b); }
};
struct Over {
  V operator()(D, V a, V b) const { return hn::Div(a, b); }
};
struct Larger {
  V operator()(D, V a, V b) const { return hn::IfThenElse(hn::Ge(a, b), a, b); }
};
struct Smaller {
  V operator()(D, V a, V b) const { return hn::IfThenElse(hn::Le(a, b), a, b); }
};

template <class F>
struct LeftFixed {
  F f;
  float left;
  V operator()(D d, V b) const { return f(d, hn::Set(d, left), b); }
};
template <class F>
struct RightFixed {
  F f;
  float right;
  V operator()(D d, V a) const { return f(d, a, hn::Set(d, right)); }
};

template <class F>
void run_as(const F& f, float* y, const float* a, const float* b, int64_t n, int64_t step_a,
            int64_t step_b) {
  if (step_a == 1 && step_b == 1) return map2(f, y, a, b, n);
  if (step_a == 1) return map1(RightFixed<F>{f, *b}, y, a, n);
  if (step_b == 1) return map1(LeftFixed<F>{f, *a}, y, b, n);
  // Both repeat: one value fills the run.
  const D d;
  const float same = hn::GetLane(f(d, hn::Set(d, *a), hn::Set(d, *b)));
  std::fill_n(y, n, same);
}

// One run along the innermost axis.
void binary_run(Binary f, float* y, const float* a, const float* b, int64_t n, int64_t step_a,
                int64_t step_b) {
  switch (f) {
    case Binary::add:
      return run_as(Plus{}, y, a, b, n, step_a, step_b);
    case Binary::subtract:
      return run_as(Minus{}, y, a, b, n, step_a, step_b);
    case Binary::multiply:
      return run_as(Times{}, y, a, b, n, step_a, step_b);
    case Binary::divide:
      return run_as(Over{}, y, a, b, n, step_a, step_b);
    case Binary::maximum:
      return run_as(Larger{}, y, a, b, n, step_a, step_b);
    case Binary::minimum:
      return run_as(Smaller{}, y, a, b, n, step_a, step_b);
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(binary_run);

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape result;
  for (int i = -rank; i < 0; ++i) {
    const int64_t da = -i <= a.rank() ? a[i] : 1;
    const int64_t db = -i <= b.rank() ? b[i] : 1;
    check(da == db || da == 1 || db == 1, "broadcast: shapes ", a, " and ", b,
          " do not fit: each axis, counted from the last, must be equal or 1");
    result.push_back(da == 1 ? db : da);
  }
  return result;
}

Broadcast broadcast(const Shape& a, const Shape& b) {
  if (a == b) return {.rank = 1, .dims = {a.elements()}, .step_a = {1}, .step_b = {1}};
  const Shape shape = broadcast_shape(a, b);
  // From the innermost axis outwards; merged axes are collected in reverse and turned round below.
  Broadcast inner_first;
  int64_t size_a = 1, size_b = 1;
  for (int i = -1; i >= -shape.rank(); --i) {
    const int64_t dim = shape[i];
    const int64_t da = -i <= a.rank() ? a[i] : 1, db = -i <= b.rank() ? b[i] : 1;
    if (dim == 1) continue;
    const int64_t step_a = da == 1 ? 0 : size_a, step_b = db == 1 ? 0 : size_b;
    size_a *= da;
    size_b *= db;
    int& rank = inner_first.rank;
    if (rank > 0) {
      const int64_t below = inner_first.dims[rank - 1];
      if (step_a == inner_first.step_a[rank - 1] * below &&
          step_b == inner_first.step_b[rank - 1] * below) {
        inner_first.dims[rank - 1] *= dim;
        continue;
      }
    }
    inner_first.dims[rank] = dim;
    inner_first.step_a[rank] = step_a;
    inner_first.step_b[rank++] = step_b;
  }
  if (inner_first.rank == 0) return {.rank = 1, .dims = {1}, .step_a = {1}, .step_b = {1}};
  Broadcast how{.rank = inner_first.rank};
  for (int i = 0; i < how.rank; ++i) {
    const int from = how.rank - 1 - i;
    how.dims[i] = inner_first.dims[from];
    how.step_a[i] = inner_first.step_a[from];
    how.step_b[i] = inner_first.step_b[from];
  }
  return how;
}

void binary(Binary f, float* y, const float* a, const float* b, const Broadcast& how) {
  const int last = how.rank - 1;
  const int64_t run = how.dims[last], step_a = how.step_a[last], step_b = how.step_b[last];
  if (last == 0) {
    parallel_for(run, light_grain, [=](int64_t begin, int64_t end) {
      FOVEA_DISPATCH(binary_run)
      (f, y + begin, a + begin * step_a, b + begin * step_b, end - begin, step_a, step_b);
    });
    return;
  }
  int64_t runs = 1;
  for (int i = 0; i < last; ++i) runs *= how.dims[i];
  parallel_for(runs, row_grain(light_grain, run), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i, at_a = 0, at_b = 0;
      for (int axis = last - 1; axis >= 0; --axis) {
        const int64_t index = rest % how.dims[axis];
        rest /= how.dims[axis];
        at_a += index * how.step_a[axis];
        at_b += index * how.step_b[axis];
      }
      FOVEA_DISPATCH(binary_run)(f, y + i * run, a + at_a, b + at_b, run, step_a, step_b);
    }
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
