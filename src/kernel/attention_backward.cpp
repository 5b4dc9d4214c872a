// The backward pass recomputes the weights tile by tile from the stored lse:
//   P = e^(S - lse)  dV += P^T dO  dP = dO V^T  dS = P (dP - sum(dO O))  dQ += dS K  dK += dS^T Q
// Tiles lie transposed, a strip of keys by a block of queries: nothing here needs a whole row, and
// two of the three sums (dV, dK) then stay in registers while a strip meets the block.
#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/kernel/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/attention_backward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/attention-inl.h"
#include "fovea/kernel/dispatch-inl.h"

#ifndef FOVEA_KERNEL_ATTENTION_BACKWARD_ONCE_
#define FOVEA_KERNEL_ATTENTION_BACKWARD_ONCE_
namespace fovea::kernel {
struct AttentionBackward {
  const HeadInputs<float>& in;
  HeadView<const float> out, dout;
  const float* lse;
  const AttentionGradients<float>& to;
  bool add_bias_gradient;  // false: every element is written exactly once
  uint32_t threshold;      // of dropout
};

}  // namespace fovea::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// A tile is a query block by a key block: whole numbers of strips and panels for every target.
constexpr int64_t query_block = 192;
constexpr int64_t tile_keys = 96;
constexpr int64_t tile_stride = query_block + 16;
// Keys that are copied out of the strided arrays at a time, with their gradients' sums.
constexpr int64_t most_keys = 8 * tile_keys;

// Some keys of one key head, close together in memory, and the sums of their gradients.
struct KeyBlock {
  int64_t first = 0, count = 0;
  float *k, *v;    // [count, stride], scaled for the scores and for dropout
  float* k_along;  // a pack_along of every tile's keys, scaled for dq
  float *dk, *dv;  // [count, stride]

  // The last strip may pass the last key.
  static constexpr int64_t capacity = most_keys + strip;

  static int64_t bytes(const HeadInputs<float>& in) {
    const int64_t d = round_up(in.D, panel), v = round_up(in.Dv, panel);
    return 3 * Scratch::bytes<float>(capacity * d) + 2 * Scratch::bytes<float>(capacity * v);
  }
  KeyBlock(const HeadInputs<float>& in, Scratch& scratch) {
    k = scratch.take<float>(capacity * round_up(in.D, panel));
    k_along = scratch.take<float>(capacity * round_up(in.D, panel));
    dk = scratch.take<float>(capacity * round_up(in.D, panel));
    v = scratch.take<float>(capacity * round_up(in.Dv, panel));
    dv = scratch.take<float>(capacity * round_up(in.Dv, panel));
  }

  void load(const HeadInputs<float>& in, int64_t b, int64_t key_head, int64_t from, int64_t keys) {
    const int64_t d_stride = round_up(in.D, panel), v_stride = round_up(in.Dv, panel);
    first = from;
    count = keys;
    const float* k_from = in.k.at(b, key_head) + first * in.k.row;
    const float* v_from = in.v.at(b, key_head) + first * in.v.row;
    const float kept = 1 / (1 - in.dropout.rate);
    for (int64_t j = 0; j < count; j += tile_keys) {
      const int64_t some = std::min(tile_keys, count - j);
      pack_along(k_along + j * d_stride, tile_keys, k_from + j * in.k.row, in.k.row, some, in.D,
                 in.scale);
    }
    for (int64_t j = 0; j < count; ++j) {
      if (j + rows_ahead < count) prefetch_row(v_from + (j + rows_ahead) * in.v.row, in.Dv);
      copy_row(k + j * d_stride, k_from + j * in.k.row, in.D, in.scale * log2_e, d_stride);
      copy_row(v + j * v_stride, v_from + j * in.v.row, in.Dv, kept, v_stride);
    }
    std::fill_n(k + count * d_stride, strip * d_stride, 0.0f);
    std::fill_n(v + count * v_stride, strip * v_stride, 0.0f);
    std::fill_n(dk, (count + strip) * d_stride, 0.0f);
    std::fill_n(dv, (count + strip) * v_stride, 0.0f);
  }
};

// One block of queries of one head, packed for the four products it takes part in.
struct QueryBlock {
  const AttentionBackward& job;
  int64_t b, h = 0, first = 0, rows = 0;
  int64_t d_stride, v_stride, columns = 0;  // columns: rows up to whole panels
  float *q_across, *g_across, *q_along, *g_along;
  float *lse2, *delta, *dq;
  int32_t *lo, *hi;
  uint32_t* row_keys;
  Reach* panel_reach;
  float *scores, *slopes, *extra;  // [strip], [key block], [key block] rows of tile_stride

  static int64_t bytes(const HeadInputs<float>& in) {
    const int64_t d = round_up(in.D, panel), v = round_up(in.Dv, panel);
    return Scratch::bytes<float>(query_block * in.D) + Scratch::bytes<float>(query_block * in.Dv) +
           2 * Scratch::bytes<float>(query_block * d) + Scratch::bytes<float>(query_block * v) +
           5 * Scratch::bytes<float>(query_block) + Scratch::bytes<Reach>(query_block / panel) +
           Scratch::bytes<float>(strip * tile_stride) +
           2 * Scratch::bytes<float>(tile_keys * tile_stride);
  }

  QueryBlock(const AttentionBackward& the_job, int64_t batch, Scratch& scratch)
      : job(the_job), b(batch) {
    const HeadInputs<float>& in = job.in;
    d_stride = round_up(in.D, panel);
    v_stride = round_up(in.Dv, panel);
    q_across = scratch.take<float>(query_block * in.D);
    g_across = scratch.take<float>(query_block * in.Dv);
    q_along = scratch.take<float>(query_block * d_stride);
    dq = scratch.take<float>(query_block * d_stride);
    g_along = scratch.take<float>(query_block * v_stride);
    lse2 = scratch.take<float>(query_block);
    delta = scratch.take<float>(query_block);
    lo = scratch.take<int32_t>(query_block);
    hi = scratch.take<int32_t>(query_block);
    row_keys = scratch.take<uint32_t>(query_block);
    panel_reach = scratch.take<Reach>(query_block / panel);
    scores = scratch.take<float>(strip * tile_stride);
    slopes = scratch.take<float>(tile_keys * tile_stride);
    extra = scratch.take<float>(tile_keys * tile_stride);
  }

  Reach load(int64_t first_query, int64_t count) {
    const HeadInputs<float>& in = job.in;
    first = first_query;
    rows = count;
    columns = round_up(rows, panel);
    const float* q = in.q.at(b, h) + first * in.q.row;
    const float* g = job.dout.at(b, h) + first * job.dout.row;
    const float* o = job.out.at(b, h) + first * job.out.row;
    pack_across(q_across, q, in.q.row, rows, in.D, 1);
    pack_across(g_across, g, job.dout.row, rows, in.Dv, 1);
    pack_along(q_along, query_block, q, in.q.row, rows, in.D, in.scale);
    pack_along(g_along, query_block, g, job.dout.row, rows, in.Dv, 1 / (1 - in.dropout.rate));
    std::fill_n(dq, round_up(rows, strip) * d_stride, 0.0f);
    Reach all;
    for (int64_t r = 0; r < columns; ++r) {
      if (r % panel == 0) panel_reach[r / panel] = Reach();
      if (r >= rows) {
        // 2^(0 - 1e30) = 0: a column that stands for no query adds nothing.
        lo[r] = hi[r] = 0;
        lse2[r] = -floor_score;
        delta[r] = 0;
        row_keys[r] = 0;
        continue;
      }
      const int64_t i = first + r, l = in.lo(b, h, i), u = std::max(l, in.hi(b, h, i));
      lo[r] = static_cast<int32_t>(l);
      hi[r] = static_cast<int32_t>(u);
      all.add(l, u);
      panel_reach[r / panel].add(l, u);
      if (in.align == Align::softmax) {
        const float value = job.lse[(b * in.H + h) * in.Tq + i];
        lse2[r] = value == minus_infinity ? -floor_score : value * log2_e;
        delta[r] = sum_of2(Times{}, g + r * job.dout.row, o + r * job.out.row, in.Dv);
      }
      if (job.threshold) row_keys[r] = in.dropout.row_key(b * in.H + h, i);
    }
    return all;
  }
};

// Scores become weights (dropped ones zero), slopes arrive as dP and leave as dS; n queries of one
// key.
template <Align align, bool dropped>
HWY_NOINLINE void slope_row(const QueryBlock& at, int64_t key, int64_t c, int64_t n, float* s,
                            float* slope) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const auto mixed = hn::Set(du, at.job.in.dropout.place(key) * dropout_key_step);
  for (int64_t end = c + n; c < end; c += lanes, s += lanes, slope += lanes) {
    V dp = hn::Load(d, slope), p, kept;
    if constexpr (align == Align::softmax) {
      p = exp2_nonpositive(d, hn::Sub(hn::Load(d, s), hn::Load(d, at.lse2 + c)));
    } else {
      p = sigmoid2(d, hn::Load(d, s));
    }
    kept = p;
    if constexpr (dropped) {
      const auto bits = hn::Xor(hn::Load(du, at.row_keys + c), mixed);
      const auto keep = dropout_keeps(d, bits, at.job.threshold);
      kept = hn::IfThenElseZero(keep, p);
      dp = hn::IfThenElseZero(keep, dp);
    }
    hn::Store(kept, d, s);
    if constexpr (align == Align::softmax) {
      hn::Store(hn::Mul(p, hn::Sub(dp, hn::Load(d, at.delta + c))), d, slope);
    } else {
      hn::Store(hn::Mul(hn::NegMulAdd(p, p, p), dp), d, slope);
    }
  }
}

// Score -inf and slope 0 where the query of the column may not attend this key: chosen, not
// computed, since a key that nobody may attend can hold anything.
inline void limit_row(const QueryBlock& at, int64_t key, int64_t c0, int64_t c1, float* s,
                      float* slope) {
  const D d;
  const hn::RebindToSigned<D> di;
  const auto j = hn::Set(di, static_cast<int32_t>(key));
  const V masked = hn::Set(d, minus_infinity);
  for (int64_t c = c0; c < c1; c += panel, s += panel, slope += panel) {
    const Reach& reach = at.panel_reach[c / panel];
    if (reach.all_lo <= key && key < reach.all_hi) continue;
    for (int64_t v = 0; v < panel; v += lanes) {
      const auto before = hn::Lt(j, hn::Load(di, at.lo + c + v));
      const auto inside =
          hn::RebindMask(d, hn::AndNot(before, hn::Lt(j, hn::Load(di, at.hi + c + v))));
      hn::Store(hn::IfThenElse(inside, hn::Load(d, s + v), masked), d, s + v);
      hn::Store(hn::IfThenElseZero(inside, hn::Load(d, slope + v)), d, slope + v);
    }
  }
}

// Bias and mask of the block's queries for the keys [from, to), laid out as the tile that begins at
// key j0 is.
inline void load_extra(const QueryBlock& at, int64_t j0, int64_t from, int64_t to) {
  HWY_ALIGN float rows[4 * tile_keys];
  float* extra = at.extra + (from - j0) * tile_stride;
  for (int64_t r = 0; r < at.rows; r += 4) {
    const int64_t count = std::min<int64_t>(4, at.rows - r);
    std::fill_n(rows, count * tile_keys, 0.0f);
    for (int64_t i = 0; i < count; ++i) {
      add_bias_and_mask(at.job.in, at.b, at.h, at.first + r + i, from, to, rows + i * tile_keys);
    }
    transpose(extra + r, tile_stride, rows, tile_keys, count, to - from, 1);
  }
  for (int64_t j = 0; j < to - from; ++j) {
    std::fill(extra + j * tile_stride + at.rows, extra + j * tile_stride + at.columns, 0.0f);
  }
}

// One strip of keys, from key j, against the query block; the tile begins at key j0.
inline void backward_strip(const QueryBlock& at, const KeyBlock& keys, int64_t j, int64_t j0) {
  const HeadInputs<float>& in = at.job.in;
  const int64_t count = std::min<int64_t>(strip, keys.first + keys.count - j);
  float* slopes = at.slopes + (j - j0) * tile_stride;
  int64_t c0 = at.columns, c1 = at.columns;
  for (int64_t c = at.columns - panel; c >= 0; c -= panel) {
    const Reach& reach = at.panel_reach[c / panel];
    if (reach.empty() || reach.lo >= j + count || reach.hi <= j) continue;
    if (c0 == at.columns) c1 = c + panel;
    c0 = c;
  }
  for (int64_t r = 0; r < count; ++r) {
    float* row = slopes + r * tile_stride;
    std::fill(row, row + c0, 0.0f);
    std::fill(row + c1, row + at.columns, 0.0f);
  }
  if (c0 >= c1) return;

  const float* k = keys.k + (j - keys.first) * at.d_stride;
  const float* v = keys.v + (j - keys.first) * at.v_stride;
  for (int64_t c = c0; c < c1; c += panel) {
    multiply_block<2, false, false>(in.D, k, at.d_stride, at.q_across + c * in.D, at.scores + c,
                                    tile_stride);
  }
  for (int64_t c = c0; c < c1; c += panel) {
    multiply_block<2, false, false>(in.Dv, v, at.v_stride, at.g_across + c * in.Dv, slopes + c,
                                    tile_stride);
  }
  const auto to_slopes =
      in.align == Align::softmax
          ? (at.job.threshold ? slope_row<Align::softmax, true> : slope_row<Align::softmax, false>)
          : (at.job.threshold ? slope_row<Align::sigmoid, true> : slope_row<Align::sigmoid, false>);
  for (int64_t r = 0; r < count; ++r) {
    float* s = at.scores + r * tile_stride + c0;
    float* slope = slopes + r * tile_stride + c0;
    if (in.bias || in.mask) {
      map2(Plus{}, s, s, at.extra + (j - j0 + r) * tile_stride + c0, c1 - c0);
    }
    limit_row(at, j + r, c0, c1, s, slope);
    to_slopes(at, j + r, c0, c1 - c0, s, slope);
  }
  const int64_t depth = std::min(c1, at.rows) - c0;
  multiply_strip<false, true>(depth, at.scores + c0, tile_stride, at.g_along + c0 * panel,
                              query_block * panel, in.Dv, keys.dv + (j - keys.first) * at.v_stride,
                              at.v_stride);
  multiply_strip<false, true>(depth, slopes + c0, tile_stride, at.q_along + c0 * panel,
                              query_block * panel, in.D, keys.dk + (j - keys.first) * at.d_stride,
                              at.d_stride);
}

// The bias gradient is dS itself, turned back to a row for each query.
inline void give_bias_gradient(const QueryBlock& at, int64_t j0, int64_t from, int64_t to) {
  const HeadView<float>& db = at.job.to.dbias;
  float* rows = db.at(at.b, at.h) + at.first * db.row + from;
  const float* slopes = at.slopes + (from - j0) * tile_stride;
  if (db.row == 0 && at.job.in.Tq > 1) {
    for (int64_t j = 0; j < to - from; ++j) {
      rows[j] += sum_of(Same{}, slopes + j * tile_stride, at.rows);
    }
    return;
  }
  HWY_ALIGN float turned[4 * tile_keys];
  for (int64_t r = 0; r < at.rows; r += 4) {
    const int64_t count = std::min<int64_t>(4, at.rows - r);
    transpose(turned, tile_keys, slopes + r, tile_stride, to - from, count, 1);
    for (int64_t i = 0; i < count; ++i) {
      float* row = rows + (r + i) * db.row;
      if (at.job.add_bias_gradient) {
        map2(Plus{}, row, row, turned + i * tile_keys, to - from);
      } else {
        std::copy_n(turned + i * tile_keys, to - from, row);
      }
    }
  }
}

// Adds what a query block and a key block owe each other to at.dq, keys.dk and keys.dv.
inline void backward_blocks(const QueryBlock& at, const KeyBlock& keys, const Reach& reach) {
  const HeadInputs<float>& in = at.job.in;
  for (int64_t tile = 0; tile < keys.count; tile += tile_keys) {
    const int64_t j0 = keys.first + tile, j1 = keys.first + std::min(tile + tile_keys, keys.count);
    const int64_t from = std::max(reach.lo, j0), to = std::min(reach.hi, j1);
    if (from >= to) continue;
    if (in.bias || in.mask) load_extra(at, j0, from, to);
    for (int64_t j = j0 + (from - j0) / strip * strip; j < to; j += strip) {
      backward_strip(at, keys, j, j0);
    }
    for (int64_t r = 0; r < at.rows; r += strip) {
      Reach mine;
      for (int64_t x = r; x < std::min(r + strip, at.rows); ++x) mine.add(at.lo[x], at.hi[x]);
      const int64_t first = std::max(mine.lo, j0), last = std::min(mine.hi, j1);
      if (first >= last) continue;
      multiply_strip<true, true>(last - first, at.slopes + (first - j0) * tile_stride + r,
                                 tile_stride,
                                 keys.k_along + tile * at.d_stride + (first - j0) * panel,
                                 tile_keys * panel, in.D, at.dq + r * at.d_stride, at.d_stride);
    }
    if (at.job.to.dbias) give_bias_gradient(at, j0, from, to);
  }
}

// Writes or adds sums [rows, cols] to the rows of a gradient.
inline void give_rows(const HeadView<float>& to, int64_t b, int64_t h, int64_t first, int64_t rows,
                      const float* from, int64_t ld, int64_t cols, bool fresh) {
  float* row = to.at(b, h) + first * to.row;
  for (int64_t r = 0; r < rows; ++r, row += to.row, from += ld) {
    if (fresh) {
      copy_row(row, from, cols, 1, cols);
    } else {
      map2(Plus{}, row, row, from, cols);
    }
  }
}

inline void clear_rows(const HeadView<float>& to, int64_t b, int64_t h, int64_t first, int64_t last,
                       int64_t cols) {
  for (int64_t t = first; t < last; ++t) std::fill_n(to.at(b, h) + t * to.row, cols, 0.0f);
}

inline void clear_bias_gradient(const HeadView<float>& to, int64_t b, int64_t h,
                                const HeadInputs<float>& in) {
  if (to.row >= 0) return clear_rows(to, b, h, 0, to.row == 0 ? 1 : in.Tq, in.Tk);
  std::fill_n(to.at(b, h) - (in.Tq - 1), in.Tq + in.Tk - 1, 0.0f);
}

// The keys that queries [from, to) of a head may look at.
inline Reach reach_of(const HeadInputs<float>& in, int64_t b, int64_t h, int64_t from, int64_t to) {
  Reach reach;
  for (int64_t i = from; i < to; ++i) reach.add(in.lo(b, h, i), in.hi(b, h, i));
  return reach;
}

// Queries [q0, q1) of the heads that share a key head, against its keys [k0, k1). Fresh: nothing
// has been added to their gradients before.
HWY_NOINLINE void backward_group(const AttentionBackward& job, int64_t b, int64_t key_head,
                                 int64_t q0, int64_t q1, int64_t k0, int64_t k1, bool fresh) {
  const HeadInputs<float>& in = job.in;
  const AttentionGradients<float>& to = job.to;
  const int64_t group = in.H / in.Hk;
  Scratch scratch(KeyBlock::bytes(in) + QueryBlock::bytes(in));
  KeyBlock keys(in, scratch);
  QueryBlock at(job, b, scratch);
  const int64_t h0 = key_head * group, h1 = h0 + group;
  if (fresh && k0 >= k1) {
    for (int64_t h = h0; h < h1; ++h) clear_rows(to.dq, b, h, q0, q1, in.D);
  }
  for (int64_t j = k0; j < k1; j += most_keys) {
    const int64_t count = std::min(most_keys, k1 - j);
    const bool first_keys = fresh && j == k0;
    // Blocks that no query reaches are passed over unread: windows then cost what they look at.
    bool reached = false;
    for (int64_t h = h0; h < h1; ++h) reached |= reach_of(in, b, h, q0, q1).meets(j, j + count);
    if (!reached) {
      if (fresh) {
        clear_rows(to.dk, b, key_head, j, j + count, in.D);
        clear_rows(to.dv, b, key_head, j, j + count, in.Dv);
      }
      for (int64_t h = h0; first_keys && h < h1; ++h) clear_rows(to.dq, b, h, q0, q1, in.D);
      continue;
    }
    keys.load(in, b, key_head, j, count);
    for (at.h = h0; at.h < h1; ++at.h) {
      for (int64_t i = q0; i < q1; i += query_block) {
        const int64_t end = std::min(i + query_block, q1);
        if (!reach_of(in, b, at.h, i, end).meets(j, j + count)) {
          if (first_keys) clear_rows(to.dq, b, at.h, i, end, in.D);
          continue;
        }
        backward_blocks(at, keys, at.load(i, end - i));
        give_rows(to.dq, b, at.h, i, at.rows, at.dq, at.d_stride, in.D, first_keys);
      }
    }
    give_rows(to.dk, b, key_head, j, keys.count, keys.dk, at.d_stride, in.D, fresh);
    give_rows(to.dv, b, key_head, j, keys.count, keys.dv, at.v_stride, in.Dv, fresh);
  }
}

// How the work is cut, by sizes alone. A unit is the least set of heads that shares no gradient
// with another: the query heads of one key head, or all heads that a summed bias gradient ties
// together. Units are cut further into a grid of splits x splits ranges of queries and keys. The
// cells of one diagonal have no query range and no key range in common, so a diagonal's cells run
// side by side, and the diagonals one after the other: no gradient is written by two threads at
// once, none needs a second buffer, and every sum has one order.
struct Cut {
  int64_t units, splits, query_split, key_split;
  bool over_batch, over_heads;  // the unit takes in every batch entry, every head
};

inline Cut cut_backward(const AttentionBackward& job) {
  const HeadInputs<float>& in = job.in;
  Cut cut{};
  cut.over_batch = job.to.dbias && job.to.dbias.batch == 0 && in.B > 1;
  cut.over_heads = job.to.dbias && job.to.dbias.head == 0 && in.H > 1;
  cut.units = (cut.over_batch ? 1 : in.B) * (cut.over_heads ? 1 : in.Hk);
  constexpr int64_t enough = 16;  // cells to keep many threads busy
  int64_t most = std::max<int64_t>(1, std::min(in.Tq, in.Tk) / query_block);
  if (job.to.dbias && job.to.dbias.row < 0) most = 1;  // cells would share the bias's diagonals
  cut.splits = std::clamp<int64_t>((enough + cut.units - 1) / cut.units, 1, most);
  cut.query_split = round_up((in.Tq + cut.splits - 1) / cut.splits, query_block);
  cut.key_split = round_up((in.Tk + cut.splits - 1) / cut.splits, tile_keys);
  return cut;
}

HWY_NOINLINE void backward_cell(const AttentionBackward& job, const Cut& cut, int64_t unit,
                                int64_t query_part, int64_t key_part) {
  const HeadInputs<float>& in = job.in;
  const int64_t q0 = query_part * cut.query_split, q1 = std::min(q0 + cut.query_split, in.Tq);
  const int64_t k0 = key_part * cut.key_split, k1 = std::min(k0 + cut.key_split, in.Tk);
  const int64_t heads = cut.over_heads ? 1 : in.Hk;
  const int64_t b0 = cut.over_batch ? 0 : unit / heads, b1 = cut.over_batch ? in.B : b0 + 1;
  const int64_t g0 = cut.over_heads ? 0 : unit % heads, g1 = cut.over_heads ? in.Hk : g0 + 1;
  for (int64_t b = b0; b < b1; ++b) {
    for (int64_t g = g0; g < g1; ++g) {
      // The first diagonal meets every range of queries and of keys once.
      backward_group(job, b, g, q0, q1, k0, k1, query_part == key_part);
    }
  }
}

void backward_all(const AttentionBackward& job) {
  const HeadInputs<float>& in = job.in;
  const Cut cut = cut_backward(job);
  if (job.to.dbias && job.add_bias_gradient) {
    const HeadView<float>& to = job.to.dbias;
    const int64_t heads = to.head == 0 ? 1 : in.H, batches = to.batch == 0 ? 1 : in.B;
    parallel_for(batches * heads, 1,
                 [&](int64_t u, int64_t) { clear_bias_gradient(to, u / heads, u % heads, in); });
  }
  for (int64_t diagonal = 0; diagonal < cut.splits; ++diagonal) {
    parallel_for(cut.units * cut.splits, 1, [&](int64_t c, int64_t) {
      const int64_t part = c % cut.splits;
      backward_cell(job, cut, c / cut.splits, (part + diagonal) % cut.splits, part);
    });
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(backward_all);

void attention_backward(const HeadInputs<float>& in, HeadView<const float> out,
                        HeadView<const float> dout, const float* lse,
                        const AttentionGradients<float>& to) {
  const HeadView<float>& db = to.dbias;
  const bool add = db && ((db.batch == 0 && in.B > 1) || (db.head == 0 && in.H > 1) ||
                          (db.row <= 0 && in.Tq > 1) || in.ranges.lo || in.ranges.hi);
  FOVEA_DISPATCH(backward_all)
  ({in, out, dout, lse, to, add, dropout_threshold(in.dropout.rate)});
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
