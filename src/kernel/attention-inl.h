// The pieces that fused attention is made of: a register-blocked product, the packing it reads
// from, and what happens to a row of scores. Included once for each target.
#if defined(FOVEA_KERNEL_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_ATTENTION_INL_H_
#undef FOVEA_KERNEL_ATTENTION_INL_H_
#else
#define FOVEA_KERNEL_ATTENTION_INL_H_
#endif

#include <hwy/cache_control.h>

#include <algorithm>

#include "fovea/kernel/attention.h"
#include "fovea/kernel/attention_scratch.h"
#include "fovea/kernel/math-inl.h"

// Accumulators stay in registers only when these loops are unrolled completely.
#ifdef __clang__
#define FOVEA_UNROLL _Pragma("clang loop unroll(full)")
#else
#define FOVEA_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

constexpr int lanes = HWY_LANES(float);
constexpr int panel = 2 * lanes;  // columns of one packed panel
// Rows of the register block: two vectors each, beside two of B and a broadcast, fill 16 or 32
// registers.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_ARCH_ARM_A64
constexpr int strip = 12;
#else
constexpr int strip = 6;
#endif

constexpr float log2_e = 1.44269504089f;
constexpr float ln_2 = 0.69314718056f;
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
// Stands in for "no score yet": finite, so that -inf minus it is -inf and never NaN.
constexpr float floor_score = -1e30f;

constexpr int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Rows of a block for the end of a sequence, where a whole strip would mostly be padding.
constexpr int short_strip = strip / 3;

// C[ROWS x NV vectors] (+)= A B over `depth`. B is one packed panel, row k at b + k * panel. A is
// broadcast: element (i, k) at a[i * lda + k], or a[k * lda + i] when it lies by columns.
template <int NV, bool by_column, bool add, int ROWS = strip>
HWY_NOINLINE void multiply_block(int64_t depth, const float* HWY_RESTRICT a, int64_t lda,
                                 const float* HWY_RESTRICT b, float* HWY_RESTRICT c, int64_t ldc) {
  const D d;
  V sum[ROWS][NV];
  FOVEA_UNROLL for (int i = 0; i < ROWS; ++i) {
    FOVEA_UNROLL for (int v = 0; v < NV; ++v) {
      sum[i][v] = add ? hn::LoadU(d, c + i * ldc + v * lanes) : hn::Zero(d);
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    V right[NV];
    FOVEA_UNROLL for (int v = 0; v < NV; ++v) right[v] = hn::Load(d, b + v * lanes);
    FOVEA_UNROLL for (int i = 0; i < ROWS; ++i) {
      const V left = hn::Set(d, by_column ? a[i] : a[i * lda]);
      FOVEA_UNROLL for (int v = 0; v < NV; ++v) sum[i][v] = hn::MulAdd(left, right[v], sum[i][v]);
    }
    b += panel;
    a += by_column ? lda : 1;
  }
  FOVEA_UNROLL for (int i = 0; i < ROWS; ++i) {
    FOVEA_UNROLL for (int v = 0; v < NV; ++v) hn::StoreU(sum[i][v], d, c + i * ldc + v * lanes);
  }
}

// C[ROWS x cols] (+)= A B, B in panels `panel_stride` apart. C has room for cols rounded up to
// lanes.
template <bool by_column, bool add, int ROWS = strip>
HWY_INLINE void multiply_strip(int64_t depth, const float* a, int64_t lda, const float* b,
                               int64_t panel_stride, int64_t cols, float* c, int64_t ldc) {
  for (; cols > lanes; cols -= panel) {
    multiply_block<2, by_column, add, ROWS>(depth, a, lda, b, c, ldc);
    b += panel_stride;
    c += panel;
  }
  if (cols > 0) multiply_block<1, by_column, add, ROWS>(depth, a, lda, b, c, ldc);
}

#if HWY_TARGET != HWY_SCALAR
using D4 = hn::FixedTag<float, 4>;
using V4 = hn::Vec<D4>;

HWY_INLINE void transpose4(D4 d, V4& a, V4& b, V4& c, V4& e) {
  const V4 t0 = hn::InterleaveLower(d, a, c), t1 = hn::InterleaveLower(d, b, e);
  const V4 t2 = hn::InterleaveUpper(d, a, c), t3 = hn::InterleaveUpper(d, b, e);
  a = hn::InterleaveLower(d, t0, t1);
  b = hn::InterleaveUpper(d, t0, t1);
  c = hn::InterleaveLower(d, t2, t3);
  e = hn::InterleaveUpper(d, t2, t3);
}
#endif

// to[c * ld_to + r] = scale * from[r * ld_from + c]
inline void transpose(float* HWY_RESTRICT to, int64_t ld_to, const float* HWY_RESTRICT from,
                      int64_t ld_from, int64_t rows, int64_t cols, float scale) {
  int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  const D4 d;
  const V4 s = hn::Set(d, scale);
  for (; r + 4 <= rows; r += 4) {
    const float* f = from + r * ld_from;
    int64_t c = 0;
    for (; c + 4 <= cols; c += 4) {
      V4 v0 = hn::Mul(s, hn::LoadU(d, f + c)), v1 = hn::Mul(s, hn::LoadU(d, f + ld_from + c));
      V4 v2 = hn::Mul(s, hn::LoadU(d, f + 2 * ld_from + c));
      V4 v3 = hn::Mul(s, hn::LoadU(d, f + 3 * ld_from + c));
      transpose4(d, v0, v1, v2, v3);
      float* t = to + c * ld_to + r;
      hn::StoreU(v0, d, t);
      hn::StoreU(v1, d, t + ld_to);
      hn::StoreU(v2, d, t + 2 * ld_to);
      hn::StoreU(v3, d, t + 3 * ld_to);
    }
    for (; c < cols; ++c) {
      for (int64_t i = 0; i < 4; ++i) to[c * ld_to + r + i] = scale * f[i * ld_from + c];
    }
  }
#endif
  for (; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) to[c * ld_to + r] = scale * from[r * ld_from + c];
  }
}

// Rows of one head lie H * D apart, out of reach of the hardware's prefetchers; asking for each a
// few rows ahead turns waiting for memory into streaming.
constexpr int64_t rows_ahead = 8;
HWY_INLINE void prefetch_row(const float* row, int64_t n) {
  for (int64_t i = 0; i < n; i += 16) hwy::Prefetch(row + i);
}

// The part-th of `parts` equal shares of some rows, for work that has as many steps.
HWY_INLINE void prefetch_share(const float* rows, int64_t ld, int64_t count, int64_t cols,
                               int64_t part, int64_t parts) {
  for (int64_t r = count * part / parts; r < count * (part + 1) / parts; ++r) {
    prefetch_row(rows + r * ld, cols);
  }
}

// y = scale * x, then zeros up to `padded`.
inline void copy_row(float* HWY_RESTRICT y, const float* HWY_RESTRICT x, int64_t n, float scale,
                     int64_t padded) {
  const D d;
  const V s = hn::Set(d, scale);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Mul(s, hn::LoadU(d, x + i)), d, y + i);
  for (; i < n; ++i) y[i] = scale * x[i];
  for (; i < padded; ++i) y[i] = 0;
}

// Rows as the columns of panels: to[p][c][r] with `panel` rows of `from` in each p; zeros for the
// rows that the last panel lacks. For a product that contracts over the columns (Q K^T).
inline void pack_across(float* to, const float* from, int64_t ld, int64_t rows, int64_t cols,
                        float scale) {
  for (int64_t r = 0; r < rows; r += panel, to += cols * panel) {
    const int64_t count = std::min<int64_t>(panel, rows - r);
    for (int64_t next = r + panel; next < std::min(r + 2 * panel, rows); ++next) {
      prefetch_row(from + next * ld, cols);
    }
    if (count < panel) std::fill_n(to, cols * panel, 0.0f);
    transpose(to, panel, from + r * ld, ld, count, cols, scale);
  }
}

// Rows as they are, in panels of columns: to[p][r][c], `capacity` rows a panel; zeros for the
// columns that the last panel lacks. For a product that contracts over the rows (P V).
inline void pack_along(float* to, int64_t capacity, const float* from, int64_t ld, int64_t rows,
                       int64_t cols, float scale) {
  for (int64_t r = 0; r < rows; ++r, from += ld) {
    if (r + rows_ahead < rows) prefetch_row(from + rows_ahead * ld, cols);
    for (int64_t c = 0; c < cols; c += panel) {
      const int64_t count = std::min<int64_t>(panel, cols - c);
      copy_row(to + c * capacity + r * panel, from + c, count, scale, panel);
    }
  }
}

// The keys that some query of a set may attend, and those that every one of them may.
struct Reach {
  int64_t lo = std::numeric_limits<int64_t>::max(), hi = 0;
  int64_t all_lo = 0, all_hi = std::numeric_limits<int64_t>::max();
  void add(int64_t l, int64_t h) {
    all_lo = std::max(all_lo, l);
    all_hi = std::min(all_hi, h);
    if (l >= h) return;
    lo = std::min(lo, l);
    hi = std::max(hi, h);
  }
  bool empty() const { return lo >= hi; }
  bool meets(int64_t from, int64_t to) const { return !empty() && lo < to && hi > from; }
};

// Scores are kept times log2(e), so that the exponential is a power of two. Adds bias and mask of
// one query to its scores for the keys [first, last); s[0] belongs to key `first`.
inline void add_bias_and_mask(const AttentionInputs<float>& in, int64_t b, int64_t h, int64_t i,
                              int64_t first, int64_t last, float* s) {
  const D d;
  const int64_t n = last - first;
  if (in.bias) {
    const float* bias = in.bias.at(b, h) + i * in.bias.row + first;
    const V unit = hn::Set(d, log2_e);
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      hn::StoreU(hn::MulAdd(hn::LoadU(d, bias + j), unit, hn::LoadU(d, s + j)), d, s + j);
    }
    for (; j < n; ++j) s[j] += bias[j] * log2_e;
  }
  if (in.mask) {
    const uint8_t* may = in.mask.at(b, h) + i * in.mask.row + first;
    const hn::Rebind<uint8_t, D> bytes;
    const hn::RebindToSigned<D> ints;
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      const auto no = hn::Eq(hn::PromoteTo(ints, hn::LoadU(bytes, may + j)), hn::Zero(ints));
      const V masked = hn::Set(d, minus_infinity);
      hn::StoreU(hn::IfThenElse(hn::RebindMask(d, no), masked, hn::LoadU(d, s + j)), d, s + j);
    }
    for (; j < n; ++j) {
      if (!may[j]) s[j] = minus_infinity;
    }
  }
}

// The vector twin of dropout_bits: all ones in the lanes that stay.
HWY_INLINE hn::Mask<D> dropout_keeps(D d, hn::Vec<hn::RebindToUnsigned<D>> mixed,
                                     uint32_t threshold) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  auto x = mixed;
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(du, 0x7feb352du));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<15>(x)), hn::Set(du, 0x846ca68bu));
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  // Comparing signed after flipping the top bit: older targets have no unsigned comparison.
  const auto top = hn::Set(du, 0x80000000u);
  const auto bits = hn::BitCast(di, hn::Xor(x, top));
  const auto low = hn::Set(di, static_cast<int32_t>(threshold ^ 0x80000000u));
  return hn::RebindMask(d, hn::Not(hn::Lt(bits, low)));
}

// The largest of n scores; n is a multiple of `panel`.
HWY_INLINE float row_maximum(const float* s, int64_t n) {
  const D d;
  V m0 = hn::Load(d, s), m1 = hn::Load(d, s + lanes);
  for (int64_t j = panel; j < n; j += panel) {
    m0 = hn::Max(m0, hn::Load(d, s + j));
    m1 = hn::Max(m1, hn::Load(d, s + j + lanes));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(m0, m1)));
}

// s = 2^(s - top); returns the sum, and on request adds sum s log2(s) to log_sum.
template <bool with_logs>
HWY_INLINE float exponentiate(float* s, int64_t n, float top, float* log_sum = nullptr) {
  const D d;
  const V shift = hn::Set(d, top);
  V t0 = hn::Zero(d), t1 = t0, log0 = t0, log1 = t0;
  for (int64_t j = 0; j < n; j += panel) {
    const V x0 = exp2_clamp(d, hn::Sub(hn::Load(d, s + j), shift));
    const V x1 = exp2_clamp(d, hn::Sub(hn::Load(d, s + j + lanes), shift));
    const V p0 = exp2_clamped(d, x0), p1 = exp2_clamped(d, x1);
    t0 = hn::Add(t0, p0);
    t1 = hn::Add(t1, p1);
    if constexpr (with_logs) {  // of the clamped x: 0 * -inf would be NaN
      log0 = hn::MulAdd(p0, x0, log0);
      log1 = hn::MulAdd(p1, x1, log1);
    }
    hn::Store(p0, d, s + j);
    hn::Store(p1, d, s + j + lanes);
  }
  if constexpr (with_logs) *log_sum += hn::GetLane(hn::SumOfLanes(d, hn::Add(log0, log1)));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(t0, t1)));
}

inline void squash(float* s, int64_t n) {
  const D d;
  for (int64_t j = 0; j < n; j += lanes) hn::Store(sigmoid2(d, hn::Load(d, s + j)), d, s + j);
}

// Zero where the hash says so; what stays is scaled once, when the row is finished.
inline void drop(float* s, int64_t n, uint32_t row_key, int64_t first_key, uint32_t threshold) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const auto key = hn::Set(du, row_key);
  const auto step = hn::Set(du, dropout_key_step);
  auto j = hn::Iota(du, static_cast<uint32_t>(first_key));
  for (int64_t at = 0; at < n; at += lanes) {
    const auto keep = dropout_keeps(d, hn::Xor(key, hn::Mul(j, step)), threshold);
    hn::Store(hn::IfThenElseZero(keep, hn::Load(d, s + at)), d, s + at);
    j = hn::Add(j, hn::Set(du, static_cast<uint32_t>(lanes)));
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_ATTENTION_INL_H_
