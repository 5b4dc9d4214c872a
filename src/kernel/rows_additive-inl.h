// Scores that are sums over the features of pairs, e_ij = w . act(a_i + b_j), of a block of
// queries, without the n x n x d numbers in between; a squared distance is one too, with act(x) =
// x^2 and b = -k. Included once for each target.
//
// tanh and sigmoid are both c0 + c1 r of r = 1 / (1 + e^u), u = 2 x and -x, and their slopes are
// c2 (r - r^2). Since e^(c (a + b)) = e^(c a) e^(c b), the exponentials are worked out once for
// every query and key, and a pair costs one multiplication and one reciprocal. Where an exponent
// could leave the range of a float (|c x| > 40) the head goes the slow way, through act(a + b)
// itself.
#if defined(FOVEA_KERNEL_ROWS_ADDITIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_ROWS_ADDITIVE_INL_H_
#undef FOVEA_KERNEL_ROWS_ADDITIVE_INL_H_
#else
#define FOVEA_KERNEL_ROWS_ADDITIVE_INL_H_
#endif

#include "fovea/kernel/activation-inl.h"
#include "fovea/kernel/attention-inl.h"
#include "fovea/kernel/attention_rows.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// 1 / x for x from 1 to 1e36, relative error below 2e-7: half the time of a division.
HWY_INLINE V reciprocal(D d, V x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  const V r = hn::ApproximateReciprocal(x);
  return hn::MulAdd(r, hn::NegMulAdd(x, r, hn::Set(d, 1.0f)), r);
#else
  return hn::Div(hn::Set(d, 1.0f), x);  // elsewhere the estimate has 8 bits
#endif
}

// What is computed for a pair (r) from prepared queries and keys, its value and its slope.
struct ActLogistic {
  HWY_INLINE V operator()(D d, V a, V b) const {
    return reciprocal(d, hn::MulAdd(a, b, hn::Set(d, 1.0f)));
  }
  HWY_INLINE V value(V r) const { return r; }
  HWY_INLINE V slope(D, V r) const { return hn::NegMulAdd(r, r, r); }
};
struct ActTanh {
  HWY_INLINE V operator()(D d, V a, V b) const { return tanh_of(d, hn::Add(a, b)); }
  HWY_INLINE V value(V r) const { return r; }
  HWY_INLINE V slope(D d, V r) const { return hn::NegMulAdd(r, r, hn::Set(d, 1.0f)); }
};
struct ActSigmoid {
  HWY_INLINE V operator()(D d, V a, V b) const { return sigmoid_of(d, hn::Add(a, b)); }
  HWY_INLINE V value(V r) const { return r; }
  HWY_INLINE V slope(D, V r) const { return hn::NegMulAdd(r, r, r); }
};
struct ActRelu {
  HWY_INLINE V operator()(D d, V a, V b) const { return hn::Max(hn::Zero(d), hn::Add(a, b)); }
  HWY_INLINE V value(V r) const { return r; }
  HWY_INLINE V slope(D d, V r) const {
    return hn::IfThenElseZero(hn::Gt(r, hn::Zero(d)), hn::Set(d, 1.0f));
  }
};
HWY_INLINE V leaky_slope_of(D d, V x) {
  const V low = hn::Set(d, static_cast<float>(leaky_slope));
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f), low);
}
struct ActLeakyRelu {
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V x = hn::Add(a, b);  // of x and a part of it, the larger
    return hn::Max(x, hn::Mul(x, hn::Set(d, static_cast<float>(leaky_slope))));
  }
  HWY_INLINE V value(V r) const { return r; }
  HWY_INLINE V slope(D d, V r) const { return leaky_slope_of(d, r); }
};
struct ActNone {
  HWY_INLINE V operator()(D, V a, V b) const { return hn::Add(a, b); }
  HWY_INLINE V value(V r) const { return r; }
  HWY_INLINE V slope(D d, V) const { return hn::Set(d, 1.0f); }
};

struct ActSquare {
  HWY_INLINE V operator()(D, V a, V b) const { return hn::Add(a, b); }
  HWY_INLINE V value(V r) const { return hn::Mul(r, r); }
  HWY_INLINE V slope(D, V r) const { return r; }
};

// How the numbers of one head are prepared and what the sums over r mean.
struct AdditiveForm {
  ScoreMap map;
  float exponent = 0;  // prepared numbers are e^(exponent x); 0: they are x
  float sign = 1;      // of keys
  float c0 = 0, c1 = 1, c2 = 1;

  AdditiveForm(ScoreMap m, bool wide) : map(m) {
    if (map == ScoreMap::distance) sign = -1, c2 = 2;
    if (wide) return;
    if (map == ScoreMap::tanh) exponent = 2, c0 = 1, c1 = -2, c2 = 4;
    if (map == ScoreMap::sigmoid) exponent = -1;
  }

  template <class F>
  void with_act(const F& f) const {
    if (exponent != 0) return f(ActLogistic{});
    switch (map) {
      case ScoreMap::tanh:
        return f(ActTanh{});
      case ScoreMap::sigmoid:
        return f(ActSigmoid{});
      case ScoreMap::relu:
        return f(ActRelu{});
      case ScoreMap::leaky_relu:
        return f(ActLeakyRelu{});
      case ScoreMap::distance:
        return f(ActSquare{});
      case ScoreMap::none:
        return f(ActNone{});
    }
  }

  // y[0 .. padded) from x[0 .. n), padded being n up to whole vectors. Plain numbers are
  // multiplied.
  void prepare(float* y, const float* x, int64_t n, int64_t padded, float times = 1) const {
    if (exponent == 0) return copy_row(y, x, n, times, padded);
    const D d;
    const V factor = hn::Set(d, exponent);
    for (int64_t i = 0; i < padded; i += lanes) {
      const V v = i + lanes <= n ? hn::LoadU(d, x + i) : load_part(d, x + i, n - i);
      hn::Store(hn::Exp(d, hn::Mul(factor, v)), d, y + i);
    }
  }
};

// Whether some |x| is above the limit, or no number.
inline bool leaves_range(const float* x, int64_t n, float limit) {
  const D d;
  const V most = hn::Set(d, limit);
  int64_t i = 0;
  auto inside = hn::Eq(most, most);
  for (; i + lanes <= n; i += lanes) {
    inside = hn::And(inside, hn::Le(hn::Abs(hn::LoadU(d, x + i)), most));
  }
  if (i < n) inside = hn::And(inside, hn::Le(hn::Abs(load_part(d, x + i, n - i)), most));
  return !hn::AllTrue(d, inside);
}

// Sums over features of w r: two queries by NV vectors of keys. Keys lie feature by feature, ld
// apart.
template <int NV, class Act>
HWY_NOINLINE void additive_pair(const Act& act, int64_t features, const float* HWY_RESTRICT w,
                                const float* HWY_RESTRICT a, int64_t a_stride,
                                const float* HWY_RESTRICT keys, int64_t ld, float* HWY_RESTRICT s,
                                int64_t s_stride) {
  const D d;
  V sum[2][NV];
  FOVEA_UNROLL for (int v = 0; v < NV; ++v) sum[0][v] = sum[1][v] = hn::Zero(d);
  for (int64_t f = 0; f < features; ++f, keys += ld) {
    const V a0 = hn::Set(d, a[f]), a1 = hn::Set(d, a[a_stride + f]), weight = hn::Set(d, w[f]);
    FOVEA_UNROLL for (int v = 0; v < NV; ++v) {
      const V key = hn::LoadU(d, keys + v * lanes);
      sum[0][v] = hn::MulAdd(weight, act.value(act(d, a0, key)), sum[0][v]);
      sum[1][v] = hn::MulAdd(weight, act.value(act(d, a1, key)), sum[1][v]);
    }
  }
  FOVEA_UNROLL for (int v = 0; v < NV; ++v) {
    hn::Store(sum[0][v], d, s + v * lanes);
    hn::Store(sum[1][v], d, s + s_stride + v * lanes);
  }
}

// s[rows, n], n a multiple of lanes, rows even.
template <class Act>
void additive_block(const Act& act, int64_t rows, int64_t n, int64_t features, const float* w,
                    const float* a, int64_t a_stride, const float* keys, int64_t ld, float* s,
                    int64_t s_stride) {
  int64_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) {
    for (int64_t i = 0; i < rows; i += 2) {
      additive_pair<4>(act, features, w, a + i * a_stride, a_stride, keys + j, ld,
                       s + i * s_stride + j, s_stride);
    }
  }
  for (; j < n; j += lanes) {
    for (int64_t i = 0; i < rows; i += 2) {
      additive_pair<1>(act, features, w, a + i * a_stride, a_stride, keys + j, ld,
                       s + i * s_stride + j, s_stride);
    }
  }
}

// Four queries against `n` keys, one vector of features: da_i += g_ij slope, db_j += g_ij slope,
// dw += g_ij value. Keys and their sums lie a vector a key.
template <class Act>
HWY_NOINLINE void additive_grad_four(const Act& act, int64_t n, const float* HWY_RESTRICT g,
                                     int64_t g_stride, const float* HWY_RESTRICT a,
                                     float* HWY_RESTRICT da, int64_t a_stride,
                                     const float* HWY_RESTRICT keys, float* HWY_RESTRICT db,
                                     float* HWY_RESTRICT dw) {
  const D d;
  V query[4], sum[4], weight = hn::Zero(d);
  FOVEA_UNROLL for (int i = 0; i < 4; ++i) {
    query[i] = hn::Load(d, a + i * a_stride);
    sum[i] = hn::Load(d, da + i * a_stride);
  }
  for (int64_t j = 0; j < n; ++j) {
    const V key = hn::Load(d, keys + j * lanes);
    V back = hn::Load(d, db + j * lanes);
    FOVEA_UNROLL for (int i = 0; i < 4; ++i) {
      const V grad = hn::Set(d, g[i * g_stride + j]);
      const V r = act(d, query[i], key);
      const V part = hn::Mul(grad, act.slope(d, r));
      sum[i] = hn::Add(sum[i], part);
      back = hn::Add(back, part);
      weight = hn::MulAdd(grad, act.value(r), weight);
    }
    hn::Store(back, d, db + j * lanes);
  }
  FOVEA_UNROLL for (int i = 0; i < 4; ++i) hn::Store(sum[i], d, da + i * a_stride);
  hn::Store(hn::Add(hn::Load(d, dw), weight), d, dw);
}

// rows a multiple of 4, `padded` features in whole vectors; keys and db are [padded / lanes, Tk,
// lanes].
template <class Act>
void additive_grad(const Act& act, int64_t rows, int64_t n, int64_t padded, const float* g,
                   int64_t g_stride, const float* a, float* da, const float* keys, float* db,
                   int64_t Tk, float* dw) {
  constexpr int64_t some = 256;  // keys and their sums stay in the L1 cache while queries pass
  for (int64_t j = 0; j < n; j += some) {
    for (int64_t f = 0; f < padded; f += lanes) {
      for (int64_t i = 0; i < rows; i += 4) {
        additive_grad_four(act, std::min(some, n - j), g + i * g_stride + j, g_stride,
                           a + i * padded + f, da + i * padded + f, padded,
                           keys + f * Tk + j * lanes, db + f * Tk + j * lanes, dw + f);
      }
    }
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_ROWS_ADDITIVE_INL_H_
