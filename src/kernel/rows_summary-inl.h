// What a summary says of whole rows of weights. Included once for each target.
#if defined(FOVEA_KERNEL_ROWS_SUMMARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_ROWS_SUMMARY_INL_H_
#undef FOVEA_KERNEL_ROWS_SUMMARY_INL_H_
#else
#define FOVEA_KERNEL_ROWS_SUMMARY_INL_H_
#endif

#include "fovea/kernel/attention_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// The heaviest keys of a row, heaviest first, the first key of equal ones first. keys may be null.
inline void top_of_row(const float* a, int64_t n, int64_t first_key, int64_t top, int32_t* keys,
                       float* weights) {
  const D d;
  if (keys) std::fill_n(keys, top, -1);
  std::fill_n(weights, top, 0.0f);
  if (top <= 0) return;
  for (int64_t j = 0; j < n; j += lanes) {
    const V v = hn::Load(d, a + j);
    if (hn::AllFalse(d, hn::Gt(v, hn::Set(d, weights[top - 1])))) continue;
    for (int64_t l = j; l < j + lanes; ++l) {
      if (!(a[l] > weights[top - 1])) continue;
      int64_t at = top - 1;
      for (; at > 0 && a[l] > weights[at - 1]; --at) {
        weights[at] = weights[at - 1];
        if (keys) keys[at] = keys[at - 1];
      }
      weights[at] = a[l];
      if (keys) keys[at] = static_cast<int32_t>(first_key + l);
    }
  }
}

struct EntropyTerm {
  V operator()(D d, V a) const {
    const auto some = hn::Gt(a, hn::Zero(d));
    return hn::Mul(hn::Neg(a), hn::Log(d, hn::IfThenElse(some, a, hn::Set(d, 1.0f))));
  }
};

// Pooled maps: a block's rows first go to cells of its own, which are added up in order afterwards,
// so that blocks may come from any thread.
struct RowsPool {
  int64_t map_rows, map_cols, queries;
  int64_t touched;  // rows of the map that one block may touch
  float* cells;     // [B * H * blocks, touched, map_cols]

  RowsPool(const RowsPlan& plan, const AttentionSummary<float>& to)
      : map_rows(to.map_rows), map_cols(to.map_cols), queries(plan.in.base.Tq) {
    const int64_t most = (plan.block * map_rows + queries - 1) / std::max<int64_t>(1, queries) + 1;
    touched = std::min(map_rows, most);
  }
  int64_t bytes(const RowsPlan& plan) const {
    return Scratch::bytes<float>(plan.in.base.B * plan.in.base.H * plan.blocks * touched *
                                 map_cols);
  }
  int64_t row_of(int64_t query) const { return query * map_rows / queries; }
  // The first query of a row of the map, or of a later one when it has none.
  int64_t begin_of(int64_t row) const { return (row * queries + map_rows - 1) / map_rows; }
};

// The weight that a row gives to each column of the map.
inline void pool_row(const float* a, const RowsBlock& at, int64_t Tk, int64_t map_cols, float share,
                     float* cells) {
  for (int64_t c = at.lo * map_cols / Tk; c < map_cols; ++c) {
    const int64_t begin = std::max((c * Tk + map_cols - 1) / map_cols, at.lo);
    const int64_t end = std::min(((c + 1) * Tk + map_cols - 1) / map_cols, at.lo + at.n);
    if (begin >= at.lo + at.n) break;
    if (begin < end) cells[c] += share * sum_of(Same{}, a + (begin - at.lo), end - begin);
  }
}

inline void summarise_block(const RowsPlan& plan, const RowsBlock& at, int64_t index,
                            const RowsTile& tile, const AttentionSummary<float>& to,
                            const RowsPool& pool) {
  const HeadInputs<float>& in = plan.in.base;
  const int64_t first_row = (at.b * in.H + at.h) * in.Tq + at.first;
  float* cells = nullptr;
  if (to.map) {
    cells = pool.cells + index * pool.touched * pool.map_cols;
    std::fill_n(cells, pool.touched * pool.map_cols, 0.0f);
  }
  for (int64_t r = 0; r < at.rows; ++r) {
    const float* a = tile.s + r * plan.ld;
    const int64_t row = first_row + r;
    if (to.top_keys || to.top_weights) {
      // No more than the row has, so that the bell's room is enough; its work is done.
      const int64_t some = std::min(to.top, at.padded), rest = std::max<int64_t>(to.top, 0) - some;
      int32_t* keys = to.top_keys ? to.top_keys + row * to.top : nullptr;
      float* tops = to.top_weights ? to.top_weights + row * to.top : tile.bell;
      top_of_row(a, at.padded, at.lo, some, keys, tops);
      if (keys) std::fill_n(keys + some, rest, -1);
      if (to.top_weights) std::fill_n(tops + some, rest, 0.0f);
    }
    if (to.entropy) to.entropy[row] = sum_of(EntropyTerm{}, a, at.padded);
    if (to.map && at.n > 0) {
      const int64_t map_row = pool.row_of(at.first + r);
      const int64_t share = pool.begin_of(map_row + 1) - pool.begin_of(map_row);
      pool_row(a, at, in.Tk, pool.map_cols, 1 / static_cast<float>(share),
               cells + (map_row - pool.row_of(at.first)) * pool.map_cols);
    }
  }
}

inline void add_up_maps(const RowsPlan& plan, const AttentionSummary<float>& to,
                        const RowsPool& pool) {
  const int64_t cols = pool.map_cols;
  parallel_for(plan.in.base.B * plan.in.base.H, 1, [&](int64_t head, int64_t) {
    float* map = to.map + head * pool.map_rows * cols;
    std::fill_n(map, pool.map_rows * cols, 0.0f);
    for (int64_t i = 0; i < plan.blocks; ++i) {
      const int64_t first = i * plan.block;
      const int64_t last = std::min(first + plan.block, pool.queries) - 1;
      const int64_t row = pool.row_of(first), count = pool.row_of(last) - row + 1;
      const float* cells = pool.cells + (head * plan.blocks + i) * pool.touched * cols;
      // Rows of the map that no query of the block is in hold zeros.
      for (int64_t r = 0; r < count; ++r) {
        map2(Plus{}, map + (row + r) * cols, map + (row + r) * cols, cells + r * cols, cols);
      }
    }
  });
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_ROWS_SUMMARY_INL_H_
