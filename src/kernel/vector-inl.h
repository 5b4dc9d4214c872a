// What every SIMD loop needs: whole vectors, then a last part that never touches memory past the
// end. Included once for each target.
#if defined(FOVEA_KERNEL_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_VECTOR_INL_H_
#undef FOVEA_KERNEL_VECTOR_INL_H_
#else
#define FOVEA_KERNEL_VECTOR_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The first `count` lanes from memory, zero in the others; and the first lanes to memory. Where
// instructions take a mask, they leave the rest of memory alone.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
inline V load_part(D d, const float* from, int64_t count) {
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
}
inline void store_part(V v, D d, float* to, int64_t count) {
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, to);
}
#else
inline V load_part(D d, const float* from, int64_t count) {
  HWY_ALIGN float lanes[hn::MaxLanes(d)] = {};
  std::memcpy(lanes, from, count * sizeof(float));
  return hn::Load(d, lanes);
}
inline void store_part(V v, D d, float* to, int64_t count) {
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  std::memcpy(to, lanes, count * sizeof(float));
}
#endif

// y[i] = f(d, x[i]) for whole vectors and the rest. F has `V operator()(D, V) const`.
template <class F>
void map1(const F& f, float* y, const float* x, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, x + i)), d, y + i);
  if (i < n) store_part(f(d, load_part(d, x + i, n - i)), d, y + i, n - i);
}

template <class F>
void map2(const F& f, float* y, const float* a, const float* b, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(f(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  }
  if (i < n) {
    store_part(f(d, load_part(d, a + i, n - i), load_part(d, b + i, n - i)), d, y + i, n - i);
  }
}

template <class F>
void map3(const F& f, float* y, const float* a, const float* b, const float* c, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(f(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, c + i)), d, y + i);
  }
  if (i < n) {
    const int64_t rest = n - i;
    store_part(
        f(d, load_part(d, a + i, rest), load_part(d, b + i, rest), load_part(d, c + i, rest)), d,
        y + i, rest);
  }
}

// The sum of f(d, x[i]). Four running sums keep the adders busy; their order depends on n alone.
template <class F>
float sum_of(const F& f, const float* x, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, f(d, hn::LoadU(d, x + i)));
    s1 = hn::Add(s1, f(d, hn::LoadU(d, x + i + lanes)));
    s2 = hn::Add(s2, f(d, hn::LoadU(d, x + i + 2 * lanes)));
    s3 = hn::Add(s3, f(d, hn::LoadU(d, x + i + 3 * lanes)));
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::Add(s0, f(d, hn::LoadU(d, x + i)));
  if (i < n) {
    const V last = f(d, load_part(d, x + i, n - i));
    s1 = hn::Add(s1, hn::IfThenElseZero(hn::FirstN(d, n - i), last));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

template <class F>
float sum_of2(const F& f, const float* a, const float* b, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V s0 = hn::Zero(d), s1 = s0;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    s0 = hn::Add(s0, f(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
    s1 = hn::Add(s1, f(d, hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes)));
  }
  for (; i + lanes <= n; i += lanes) {
    s0 = hn::Add(s0, f(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)));
  }
  if (i < n) {
    const V last = f(d, load_part(d, a + i, n - i), load_part(d, b + i, n - i));
    s1 = hn::Add(s1, hn::IfThenElseZero(hn::FirstN(d, n - i), last));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
}

inline float max_of(const float* x, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V lowest = hn::Set(d, -__builtin_huge_valf());
  V best = lowest;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) best = hn::Max(best, hn::LoadU(d, x + i));
  if (i < n) {
    best = hn::Max(best, hn::IfThenElse(hn::FirstN(d, n - i), load_part(d, x + i, n - i), lowest));
  }
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

// Functors that several kernels pass to the loops above.
struct Same {
  V operator()(D, V x) const { return x; }
};
struct Plus {
  V operator()(D, V a, V b) const { return hn::Add(a, b); }
};
struct Times {
  V operator()(D, V a, V b) const { return hn::Mul(a, b); }
};
struct TimesScalar {
  float factor;
  V operator()(D d, V x) const { return hn::Mul(hn::Set(d, factor), x); }
};
struct AddScaled {
  float factor;
  V operator()(D d, V y, V x) const { return hn::MulAdd(hn::Set(d, factor), x, y); }
};

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_VECTOR_INL_H_
