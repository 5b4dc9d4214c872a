// A matrix product as blocks of product-inl.h. B is packed into panels; A is read where it lies,
// or packed into strips when it is transposed. Included once for each target.
#if defined(FOVEA_KERNEL_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_GEMM_INL_H_
#undef FOVEA_KERNEL_GEMM_INL_H_
#else
#define FOVEA_KERNEL_GEMM_INL_H_
#endif

#include <type_traits>

#include "fovea/kernel/gemm_plan.h"
#include "fovea/kernel/product-inl.h"
#include "fovea/kernel/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// A part of C and what its sums start from: nothing, C, or the bias (one row for all).
struct Target {
  float* c;
  int64_t ldc;
  const float* from;
  int64_t ld_from;

  Target at(int64_t row, int64_t column) const {
    return {c + row * ldc + column, ldc, from ? from + row * ld_from + column : nullptr, ld_from};
  }
  // What the next block of depth adds to.
  Target onward() const { return {c, ldc, c, ldc}; }
};

template <bool by_column, int ROWS>
HWY_INLINE void whole_tile(int64_t depth, const float* a, int64_t lda, const float* b,
                           const Target& t) {
  if (t.from) {
    multiply_onto<2, by_column, true, ROWS>(depth, a, lda, b, t.c, t.ldc, t.from, t.ld_from);
  } else {
    multiply_onto<2, by_column, false, ROWS>(depth, a, lda, b, t.c, t.ldc, nullptr, 0);
  }
}

// At the edges of C a tile is made aside, and the part of it that exists copied.
template <bool by_column, int ROWS>
HWY_INLINE void tile(int64_t depth, const float* a, int64_t lda, const float* b, const Target& t,
                     int64_t rows, int64_t cols) {
  if (rows >= ROWS && cols >= panel) return whole_tile<by_column, ROWS>(depth, a, lda, b, t);
  rows = std::min<int64_t>(rows, ROWS);
  cols = std::min<int64_t>(cols, panel);
  HWY_ALIGN float aside[ROWS * panel] = {};
  for (int64_t r = 0; t.from && r < rows; ++r) {
    std::copy_n(t.from + r * t.ld_from, cols, aside + r * panel);
  }
  whole_tile<by_column, ROWS>(depth, a, lda, b, {aside, panel, aside, panel});
  for (int64_t r = 0; r < rows; ++r) std::copy_n(aside + r * panel, cols, t.c + r * t.ldc);
}

// Strips of A as it is lie far apart: the next is asked for while this one is multiplied, and so
// are the places where its sums go.
HWY_INLINE void prefetch_strip(const float* rows, int64_t ld, int64_t count, int64_t cols) {
  for (int64_t r = 0; r < count; ++r) prefetch_row(rows + r * ld, cols);
}

// Rows that will be multiplied next, asked for bit by bit while others are.
class NextRows {
 public:
  NextRows() = default;
  NextRows(const float* rows, int64_t ld, int64_t count, int64_t cols, int64_t parts)
      : row_(rows),
        end_(rows + count * ld),
        ld_(ld),
        cols_(cols),
        step_((count + parts - 1) / parts) {}

  HWY_INLINE void part() {
    for (int64_t k = 0; k < step_ && row_ != end_; ++k, row_ += ld_) {
      for (int64_t i = 0; i < cols_; i += 16) __builtin_prefetch(row_ + i, 0, 2);
    }
  }

 private:
  const float *row_ = nullptr, *end_ = nullptr;
  int64_t ld_ = 0, cols_ = 0, step_ = 0;
};

// Tiles of rows x cols.
HWY_INLINE int64_t tiles_of(int64_t rows, int64_t cols) {
  return (rows + strip - 1) / strip * ((cols + panel - 1) / panel);
}

// rows x cols of C, A as it is.
inline void multiply_rows(int64_t depth, const float* a, int64_t lda, const float* panels,
                          const Target& t, int64_t rows, int64_t cols, NextRows next) {
  for (int64_t column = 0; column < cols; column += panel, panels += depth * panel) {
    auto block = [&]<int ROWS>(int64_t r, std::integral_constant<int, ROWS>) {
      tile<false, ROWS>(depth, a + r * lda, lda, panels, t.at(r, column), ROWS, cols - column);
    };
    int64_t r = 0;
    for (; r + strip <= rows; r += strip) {
      const int64_t ahead = std::min<int64_t>(strip, rows - r - strip);
      next.part();
      if (column == 0) prefetch_strip(a + (r + strip) * lda, lda, ahead, depth);
      if (t.from == t.c) prefetch_strip(t.c + (r + strip) * t.ldc + column, t.ldc, ahead, 1);
      block(r, std::integral_constant<int, strip>());
    }
    // The last rows, in blocks as large as there are.
    constexpr int most = 2 * short_strip;
    for (; r + most <= rows; r += most) block(r, std::integral_constant<int, most>());
    for (; r + short_strip <= rows; r += short_strip) {
      block(r, std::integral_constant<int, short_strip>());
    }
    for (; r < rows; ++r) block(r, std::integral_constant<int, 1>());
  }
}

// Columns of A^T in strips: to[s][k][i], each strip with room for the whole vectors it is written
// in.
HWY_INLINE int64_t strip_size(int64_t depth) { return depth * strip + panel; }

// sums += some rows, added up by columns.
constexpr int64_t rows_added = 8;
inline void add_rows(float* HWY_RESTRICT sums, const float* HWY_RESTRICT rows, int64_t ld,
                     int64_t count, int64_t cols) {
  const D d;
  int64_t i = 0;
  for (; i + lanes <= cols; i += lanes) {
    V sum = hn::LoadU(d, rows + i);
    for (int64_t r = 1; r < count; ++r) sum = hn::Add(sum, hn::LoadU(d, rows + r * ld + i));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), sum), d, sums + i);
  }
  for (; i < cols; ++i) {
    float sum = 0;
    for (int64_t r = 0; r < count; ++r) sum += rows[r * ld + i];
    sums[i] += sum;
  }
}

// With `sums`, rows of A^T are added up on the way.
inline void pack_strips(float* HWY_RESTRICT to, const float* HWY_RESTRICT a, int64_t lda,
                        int64_t depth, int64_t rows, int64_t readable, float* sums) {
  const D d;
  constexpr int64_t vectors = (strip + lanes - 1) / lanes;
  const int64_t strips = (rows + strip - 1) / strip, size = strip_size(depth);
  // Strips that can be read in whole vectors.
  const int64_t behind_first = readable - vectors * lanes;
  const int64_t whole =
      behind_first < 0 ? 0 : std::min<int64_t>(behind_first / strip + 1, rows / strip);
  for (int64_t k = 0; k < depth; ++k) {
    const float* from = a + k * lda;
    float* into = to + k * strip;
    if (k + rows_ahead < depth) prefetch_row(from + rows_ahead * lda, rows);
    for (int64_t s = 0; s < whole; ++s, from += strip, into += size) {
      // What a vector writes past the strip belongs to the next k, which is still to come.
      FOVEA_UNROLL for (int64_t v = 0; v < vectors; ++v) {
        hn::StoreU(hn::LoadU(d, from + v * lanes), d, into + v * lanes);
      }
    }
    for (int64_t s = whole; s < strips; ++s, from += strip, into += size) {
      for (int64_t i = 0; i < strip; ++i) into[i] = s * strip + i < rows ? from[i] : 0;
    }
    const int64_t added = k % rows_added + 1;
    if (sums && (added == rows_added || k + 1 == depth)) {
      add_rows(sums, a + (k + 1 - added) * lda, lda, added, rows);
    }
  }
}

inline void multiply_strips(int64_t depth, const float* strips, const float* panels,
                            int64_t panel_stride, const Target& t, int64_t rows, int64_t cols,
                            NextRows left, NextRows right) {
  for (int64_t column = 0; column < cols; column += panel, panels += panel_stride) {
    const float* a = strips;
    for (int64_t r = 0; r < rows; r += strip, a += strip_size(depth)) {
      const int64_t ahead = std::clamp<int64_t>(rows - r - strip, 0, strip);
      left.part();
      right.part();
      prefetch_strip(t.c + (r + strip) * t.ldc + column, t.ldc, ahead, 1);
      const Target at = t.at(r, column);
      if (rows - r > 2 * short_strip) {
        tile<true, strip>(depth, a, strip, panels, at, rows - r, cols - column);
      } else if (rows - r > short_strip) {
        tile<true, 2 * short_strip>(depth, a, strip, panels, at, rows - r, cols - column);
      } else {
        tile<true, short_strip>(depth, a, strip, panels, at, rows - r, cols - column);
      }
    }
  }
}

// B's rows [k, k + depth) and columns [column, column + cols), times alpha.
inline void pack_right(const Gemm& g, const float* b, int64_t k, int64_t depth, int64_t column,
                       int64_t cols, float* to, int64_t capacity) {
  if (g.transpose_b) {
    pack_across(to, b + column * g.ldb + k, g.ldb, cols, depth, g.alpha);
  } else {
    pack_along(to, capacity, b + k * g.ldb + column, g.ldb, depth, cols, g.alpha);
  }
}

// A tile of C over a range of depth, all packing its own. `then` is the part whose turn comes after
// it, of no depth where there is none.
inline void multiply_transposed(const Gemm& g, const GemmPart& p, const GemmPart& then,
                                const float* a, const float* b, Target t, float* sums) {
  const int64_t depth = depth_block(p.depth, std::clamp<int64_t>((48 << 10) / p.rows, 128, 256));
  const int64_t strips = (p.rows + strip - 1) / strip * strip_size(depth);
  const int64_t panels = round_up(p.columns, panel) * (depth + 1);
  Scratch scratch(Scratch::bytes<float>(strips) + Scratch::bytes<float>(panels),
                  Scratch::product_chunk);
  float* left = scratch.take<float>(strips);
  float* right = scratch.take<float>(panels);
  const int64_t parts = tiles_of(p.rows, p.columns), end = p.k + p.depth;
  for (int64_t k = p.k; k < end; k += depth, t = t.onward()) {
    const int64_t now = std::min(depth, end - k);
    pack_strips(left, a + k * g.lda + p.row, g.lda, now, p.rows, g.m - p.row, sums);
    // Panels a power of two apart would be written to the same few cache sets.
    const int64_t capacity = g.transpose_b ? now : now + 1;
    pack_right(g, b, k, now, p.column, p.columns, right, capacity);
    const GemmPart rest{p.row, p.rows, p.column, p.columns, k + depth, end - k - depth};
    const GemmPart& next = rest.depth > 0 ? rest : then;
    const int64_t more = std::min(depth, next.depth);
    const NextRows next_left(a + next.k * g.lda + next.row, g.lda, more, next.rows, parts);
    const NextRows next_right(b + next.k * g.ldb + next.column, g.ldb, g.transpose_b ? 0 : more,
                              next.columns, parts);
    multiply_strips(now, left, right, capacity * panel, t, p.rows, p.columns, next_left,
                    next_right);
  }
}

// Some columns of C, each panel of B packed when its turn comes: for few rows.
inline void multiply_columns(const Gemm& g, const Share& columns, const float* a, const float* b,
                             Target t) {
  const int64_t depth = depth_block(g.k, 512);
  Scratch scratch(Scratch::bytes<float>(depth * panel), Scratch::product_chunk);
  float* right = scratch.take<float>(depth * panel);
  for (int64_t k = 0; k < g.k; k += depth, t = t.onward()) {
    const int64_t now = std::min(depth, g.k - k);
    for (int64_t column = columns.begin; column < columns.end; column += panel) {
      const int64_t cols = std::min<int64_t>(panel, columns.end - column);
      pack_right(g, b, k, now, column, cols, right, now);
      multiply_rows(now, a + k, g.lda, right, t.at(0, column), g.m, cols, {});
    }
  }
}

// All of B, block after block of depth, in tasks of its own.
inline int64_t packed_elements(const Gemm& g) { return round_up(g.n, panel) * g.k; }

class PackRight {
 public:
  PackRight(const Gemm& g, const float* b, float* to)
      : g_(g),
        b_(b),
        to_(to),
        depth_(depth_block(g.k, 512)),
        groups_((g.n + at_once - 1) / at_once) {}

  int64_t tasks() const { return groups_ * ((g_.k + depth_ - 1) / depth_); }
  void run(int64_t task) const {
    const int64_t k = task / groups_ * depth_, column = task % groups_ * at_once;
    const int64_t now = std::min(depth_, g_.k - k);
    pack_right(g_, b_, k, now, column, std::min(at_once, g_.n - column),
               to_ + k * round_up(g_.n, panel) + column * now, now);
  }

 private:
  static constexpr int64_t at_once = 4 * panel;
  const Gemm& g_;
  const float* b_;
  float* to_;
  int64_t depth_, groups_;
};

// Some rows of C with such a B.
inline void multiply_packed(const Gemm& g, const Share& rows, const float* a, const float* packed,
                            Target t) {
  const int64_t depth = depth_block(g.k, 512), count = rows.end - rows.begin;
  const int64_t parts = tiles_of(count, g.n);
  t = t.at(rows.begin, 0);
  a += rows.begin * g.lda;
  for (int64_t k = 0; k < g.k; k += depth, t = t.onward()) {
    const int64_t now = std::min(depth, g.k - k), more = std::min(depth, g.k - k - now);
    // The rows' next block of depth, or the first one of as many rows that come after them.
    const NextRows next = more > 0 ? NextRows(a + k + now, g.lda, count, more, parts)
                                   : NextRows(a + count * g.lda, g.lda,
                                              std::min(count, g.m - rows.end), depth, parts);
    multiply_rows(now, a + k, g.lda, packed + k * round_up(g.n, panel), t, count, g.n, next);
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_GEMM_INL_H_
