// The product that attention and matrix products are made of: a block of sums held in registers,
// and the packing it reads from. Included once for each target.
#if defined(FOVEA_KERNEL_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_PRODUCT_INL_H_
#undef FOVEA_KERNEL_PRODUCT_INL_H_
#else
#define FOVEA_KERNEL_PRODUCT_INL_H_
#endif

#include <hwy/cache_control.h>

#include <algorithm>

#include "fovea/kernel/vector-inl.h"

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

constexpr int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Rows of a block for the end of a sequence, where a whole strip would mostly be padding.
constexpr int short_strip = strip / 3;

// C[ROWS x NV vectors] = A B over `depth`, plus what stands at `from` when `add`: C itself, or one
// row for all (ld_from = 0). B is one packed panel, row k at b + k * panel. A is broadcast: element
// (i, k) at a[i * lda + k], or a[k * lda + i] when it lies by columns. What it adds to comes last:
// sums of one block of depth are then rounded apart from those of the others.
template <int NV, bool by_column, bool add, int ROWS = strip>
HWY_NOINLINE void multiply_onto(int64_t depth, const float* HWY_RESTRICT a, int64_t lda,
                                const float* HWY_RESTRICT b, float* c, int64_t ldc,
                                const float* from, int64_t ld_from) {
  const D d;
  V sum[ROWS][NV];
  FOVEA_UNROLL for (int i = 0; i < ROWS; ++i) {
    FOVEA_UNROLL for (int v = 0; v < NV; ++v) sum[i][v] = hn::Zero(d);
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
    FOVEA_UNROLL for (int v = 0; v < NV; ++v) {
      if (add) sum[i][v] = hn::Add(sum[i][v], hn::LoadU(d, from + i * ld_from + v * lanes));
      hn::StoreU(sum[i][v], d, c + i * ldc + v * lanes);
    }
  }
}

// C (+)= A B.
template <int NV, bool by_column, bool add, int ROWS = strip>
HWY_INLINE void multiply_block(int64_t depth, const float* a, int64_t lda, const float* b, float* c,
                               int64_t ldc) {
  multiply_onto<NV, by_column, add, ROWS>(depth, a, lda, b, c, ldc, c, ldc);
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
// Vectors of as many elements as a block of the transpose has rows.
#if HWY_MAX_BYTES >= 32
using Dt = hn::FixedTag<float, 8>;
#else
using Dt = hn::FixedTag<float, 4>;
#endif
using Vt = hn::Vec<Dt>;
constexpr int64_t turned = HWY_MAX_BYTES >= 32 ? 8 : 4;

// 4 x 4 in each 128-bit part.
HWY_INLINE void transpose4(Dt d, Vt* v) {
  const Vt t0 = hn::InterleaveLower(d, v[0], v[2]), t1 = hn::InterleaveLower(d, v[1], v[3]);
  const Vt t2 = hn::InterleaveUpper(d, v[0], v[2]), t3 = hn::InterleaveUpper(d, v[1], v[3]);
  v[0] = hn::InterleaveLower(d, t0, t1);
  v[1] = hn::InterleaveUpper(d, t0, t1);
  v[2] = hn::InterleaveLower(d, t2, t3);
  v[3] = hn::InterleaveUpper(d, t2, t3);
}

// to[c * ld_to + r] = scale * from[r * ld_from + c] for a square of `turned` rows.
HWY_INLINE void transpose_square(Dt d, float* HWY_RESTRICT to, int64_t ld_to,
                                 const float* HWY_RESTRICT from, int64_t ld_from, Vt scale) {
  Vt v[turned];
  FOVEA_UNROLL for (int64_t r = 0; r < turned; ++r) {
    v[r] = hn::Mul(scale, hn::LoadU(d, from + r * ld_from));
  }
  FOVEA_UNROLL for (int64_t r = 0; r < turned; r += 4) transpose4(d, v + r);
#if HWY_MAX_BYTES >= 32
  FOVEA_UNROLL for (int64_t c = 0; c < 4; ++c) {
    hn::StoreU(hn::ConcatLowerLower(d, v[c + 4], v[c]), d, to + c * ld_to);
    hn::StoreU(hn::ConcatUpperUpper(d, v[c + 4], v[c]), d, to + (c + 4) * ld_to);
  }
#else
  FOVEA_UNROLL for (int64_t c = 0; c < 4; ++c) hn::StoreU(v[c], d, to + c * ld_to);
#endif
}
#endif

// to[c * ld_to + r] = scale * from[r * ld_from + c]
inline void transpose(float* HWY_RESTRICT to, int64_t ld_to, const float* HWY_RESTRICT from,
                      int64_t ld_from, int64_t rows, int64_t cols, float scale) {
  int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  const Dt d;
  const Vt s = hn::Set(d, scale);
  for (; r + turned <= rows; r += turned) {
    const float* f = from + r * ld_from;
    int64_t c = 0;
    for (; c + turned <= cols; c += turned) {
      transpose_square(d, to + c * ld_to + r, ld_to, f + c, ld_from, s);
    }
    for (; c < cols; ++c) {
      for (int64_t i = 0; i < turned; ++i) to[c * ld_to + r + i] = scale * f[i * ld_from + c];
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
    // A cache line of every row at a time: all the lines that are written then stay at hand.
    for (int64_t c = 0; c < cols; c += 16) {
      transpose(to + c * panel, panel, from + r * ld + c, ld, count,
                std::min<int64_t>(16, cols - c), scale);
    }
  }
}

// Rows as they are, in panels of columns: to[p][r][c], `capacity` rows a panel; zeros for the
// columns that the last panel lacks. For a product that contracts over the rows (P V).
inline void pack_along(float* to, int64_t capacity, const float* from, int64_t ld, int64_t rows,
                       int64_t cols, float scale) {
  const D d;
  const V s = hn::Set(d, scale);
  for (int64_t r = 0; r < rows; ++r, from += ld) {
    if (r + rows_ahead < rows) prefetch_row(from + rows_ahead * ld, cols);
    float* into = to + r * panel;
    int64_t c = 0;
    for (; c + panel <= cols; c += panel, into += capacity * panel) {
      hn::Store(hn::Mul(s, hn::LoadU(d, from + c)), d, into);
      hn::Store(hn::Mul(s, hn::LoadU(d, from + c + lanes)), d, into + lanes);
    }
    if (c < cols) copy_row(into, from + c, cols - c, scale, panel);
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_PRODUCT_INL_H_
