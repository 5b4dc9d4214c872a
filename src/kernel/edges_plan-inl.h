// How a call of attention_edges.h is cut, and what its passes share: the scores and weights of one
// query's edges. Included once for each target.
#if defined(FOVEA_KERNEL_EDGES_PLAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_EDGES_PLAN_INL_H_
#undef FOVEA_KERNEL_EDGES_PLAN_INL_H_
#else
#define FOVEA_KERNEL_EDGES_PLAN_INL_H_
#endif

#include "fovea/base/parallel.h"
#include "fovea/kernel/edges_align-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

constexpr int64_t edges_block = 1024;  // edges and nodes that a task takes
constexpr int64_t pair_tile = 32;      // edges whose functions of pairs are held at a time

// The heads of one batch entry that share lists.
struct EdgeUnit {
  int64_t b, h, set;
};

// Where the heads of a row begin, and how such rows are cut into vectors.
struct EdgeLayout {
  int64_t* heads = nullptr;
  bool flat = false;
  EdgePieces pieces;

  static int64_t bytes(int64_t H, int64_t features) {
    return Scratch::bytes<int64_t>(H) + Scratch::bytes<EdgePiece>(H * features);
  }
  EdgeLayout() = default;
  EdgeLayout(int64_t stride, int64_t group, int64_t H, int64_t features, Scratch& scratch)
      : heads(scratch.take<int64_t>(H)), flat(true) {
    for (int64_t h = 0; h < H; ++h) {
      heads[h] = h / group * stride;
      flat = flat && heads[h] == h * features;
    }
    pieces = EdgePieces(scratch.take<EdgePiece>(H * features), heads, flat, H, features);
  }
};

struct EdgesPlan {
  const EdgesInputs& in;
  int64_t H;        // heads of a unit
  int64_t stride;   // of an edge's numbers
  int64_t longest;  // most edges of a query
  int64_t ld;       // of rows, one for each head
  bool pairwise, mapped, by_rows;
  EdgeLayout q, k, v, tile;  // tile: functions of pairs, packed
  float* w = nullptr;        // [H, D] of all heads: weights of the sums over pairs, or ones

  explicit EdgesPlan(const EdgesInputs& inputs)
      : in(inputs), H(in.lists.head == 0 ? in.base.H : 1), stride(H > 4 ? round_up(H, eight) : H) {
    const bool down = in.align == RowAlign::softmax || in.align == RowAlign::sigmoid;
    by_rows = H <= 4 || !down;
    pairwise = in.w || in.map == ScoreMap::distance;
    mapped = !in.w && in.map != ScoreMap::none;
    longest = 0;
    for (int64_t set = 0; set < sets(); ++set) {
      const int64_t* offsets = in.lists.offsets + set * (in.base.Tq + 1);
      for (int64_t i = 0; i < in.base.Tq; ++i) {
        longest = std::max(longest, offsets[i + 1] - offsets[i]);
      }
    }
    ld = round_up(longest, lanes);
  }
  int64_t sets() const {
    return 1 + in.lists.set(in.base.B - 1, in.lists.head == 0 ? 0 : in.base.H - 1);
  }
  int64_t units() const { return in.base.B * (in.base.H / H); }
  EdgeUnit unit(int64_t i) const {
    const int64_t heads = in.base.H / H, b = i / heads, h = i % heads * H;
    return {b, h, in.lists.set(b, h)};
  }
  int64_t blocks(int64_t nodes) const { return (nodes + in.lists.edges) / edges_block + 1; }

  int64_t bytes() const {
    return 2 * EdgeLayout::bytes(H, in.base.D) + EdgeLayout::bytes(H, in.base.Dv) +
           EdgeLayout::bytes(H, in.base.D) + Scratch::bytes<float>(in.base.H * in.base.D);
  }
  void take(Scratch& scratch) {
    const int64_t group = in.base.H / in.base.Hk;
    q = EdgeLayout(in.base.q.head, 1, H, in.base.D, scratch);
    k = EdgeLayout(in.base.k.head, group, H, in.base.D, scratch);
    v = EdgeLayout(in.base.v.head, group, H, in.base.Dv, scratch);
    tile = EdgeLayout(in.base.D, 1, H, in.base.D, scratch);
    w = scratch.take<float>(in.base.H * in.base.D);
    for (int64_t h = 0; h < in.base.H; ++h) {
      for (int64_t f = 0; f < in.base.D; ++f) {
        w[h * in.base.D + f] = in.w ? in.w[h * in.w_head + f] : 1.0f;
      }
    }
  }
};

// The nodes of block i: as many as have about edges_block edges, by their offsets alone.
struct EdgeBlock {
  int64_t first, last;
  EdgeBlock(const int64_t* offsets, int64_t nodes, int64_t i)
      : first(node_at(offsets, nodes, i * edges_block)),
        last(node_at(offsets, nodes, (i + 1) * edges_block)) {}

  // The first node with so many nodes and edges before it.
  static int64_t node_at(const int64_t* offsets, int64_t nodes, int64_t before) {
    int64_t low = 0, high = nodes;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (offsets[middle] + middle < before) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

// Working memory of a thread.
struct EdgesTile {
  float *own, *go, *sums;  // packed rows: of a query or key, of its output's gradient, of sums
  float* pairs;            // [pair_tile, H, D]
  float *rows, *grads;     // [H, ld], when heads are aligned one by one
  uint32_t* row_keys;      // [stride], of dropout
  uint8_t* dead;           // [H]

  static int64_t bytes(const EdgesPlan& plan) {
    const HeadInputs<float>& in = plan.in.base;
    const int64_t widest = plan.H * std::max(in.D, in.Dv);
    return 3 * Scratch::bytes<float>(widest) + Scratch::bytes<float>(pair_tile * plan.H * in.D) +
           2 * Scratch::bytes<float>(plan.H * plan.ld) + Scratch::bytes<uint32_t>(plan.stride) +
           Scratch::bytes<uint8_t>(plan.H);
  }
  EdgesTile(const EdgesPlan& plan, Scratch& scratch) {
    const HeadInputs<float>& in = plan.in.base;
    const int64_t widest = plan.H * std::max(in.D, in.Dv);
    own = scratch.take<float>(widest);
    go = scratch.take<float>(widest);
    sums = scratch.take<float>(widest);
    pairs = scratch.take<float>(pair_tile * plan.H * in.D);
    rows = scratch.take<float>(plan.H * plan.ld);
    grads = scratch.take<float>(plan.H * plan.ld);
    row_keys = scratch.take<uint32_t>(plan.stride);
    dead = scratch.take<uint8_t>(plan.H);
  }
};

// One query and its edges.
struct EdgeQuery {
  int64_t i, first, n;  // first: the number of its first edge
  const int32_t* keys;
  int64_t known;  // keys from here to the end of the lists

  EdgeQuery(const EdgesPlan& plan, const EdgeUnit& u, int64_t query) : i(query) {
    const int64_t* offsets = plan.in.lists.offsets + u.set * (plan.in.base.Tq + 1);
    first = offsets[i];
    n = offsets[i + 1] - first;
    keys = plan.in.lists.keys + u.set * plan.in.lists.edges + first;
    known = offsets[plan.in.base.Tq] - first;
  }
};

inline EdgeRows rows_of(const HeadView<const float>& view, const EdgeLayout& layout, int64_t b,
                        int64_t head, const int32_t* index, int64_t known) {
  return {view.at(b, head), view.row, layout.heads, index, known, layout.flat};
}
inline EdgeRows keys_of(const EdgesPlan& plan, const EdgeUnit& u, const EdgeQuery& at) {
  const HeadInputs<float>& in = plan.in.base;
  return rows_of(in.k, plan.k, u.b, in.key_head(u.h), at.keys, at.known);
}
inline EdgeRows values_of(const EdgesPlan& plan, const EdgeUnit& u, const EdgeQuery& at) {
  const HeadInputs<float>& in = plan.in.base;
  return rows_of(in.v, plan.v, u.b, in.key_head(u.h), at.keys, at.known);
}
inline EdgeRows pairs_of(const EdgesPlan& plan, const EdgesTile& tile) {
  return {tile.pairs, plan.H * plan.in.base.D, plan.tile.heads, nullptr, 0, true};
}

// A row of some heads, packed and multiplied.
inline void pack_row(float* to, const float* from, const EdgeLayout& layout, int64_t H,
                     int64_t features, float times = 1) {
  if (layout.flat) return copy_short(to, from, H * features, times);
  for (int64_t h = 0; h < H; ++h)
    copy_short(to + h * features, from + layout.heads[h], features, times);
}

// A packed row to where its heads lie.
inline void unpack_row(const HeadView<float>& to, int64_t b, int64_t head, int64_t t,
                       const float* from, int64_t H, int64_t features) {
  float* row = to.at(b, head) + t * to.row;
  if (to.head == features || H == 1) return copy_short(row, from, H * features);
  for (int64_t h = 0; h < H; ++h) copy_short(row + h * to.head, from + h * features, features);
}

// s[n, stride] = scores of a query's edges; leaves the packed query in tile.own. slope: [n, stride]
// or null.
inline void score_edges(const EdgesPlan& plan, const EdgeUnit& u, const EdgeQuery& at,
                        const EdgesTile& tile, float* s, float* slope) {
  const HeadInputs<float>& in = plan.in.base;
  const float* q = in.q.at(u.b, u.h) + at.i * in.q.row;
  pack_row(tile.own, q, plan.q, plan.H, in.D, plan.pairwise ? 1 : in.scale);
  const EdgeRows keys = keys_of(plan, u, at);
  if (plan.pairwise) {
    for (int64_t e = 0; e < at.n; e += pair_tile) {
      const int64_t some = std::min(pair_tile, at.n - e);
      pair_rows<PairValue>(plan.in.map, tile.own, keys.from(e), some, plan.H, in.D, tile.pairs);
      edge_dots(plan.w + u.h * in.D, pairs_of(plan, tile), some, plan.H, in.D, s + e * plan.stride,
                plan.stride);
    }
  } else {
    edge_dots(tile.own, keys, at.n, plan.H, in.D, s, plan.stride);
  }
  if (plan.mapped) map_edges(plan.in.map, s, slope, at.n * plan.stride);
  for (int64_t h = 0; h < plan.H && plan.in.bias; ++h) {
    const float* bias = plan.in.bias.at(u.b, u.h + h) + at.first;
    for (int64_t e = 0; e < at.n; ++e) s[e * plan.stride + h] += bias[e];
  }
}

inline void align_edges(const EdgesPlan& plan, const EdgeQuery& at, const EdgesTile& tile,
                        float* s) {
  if (!plan.by_rows) {
    if (plan.in.align == RowAlign::softmax) return softmax_columns(s, at.n, plan.stride);
    return sigmoid_columns(s, at.n, plan.stride);
  }
  const int64_t padded = round_up(at.n, lanes);
  columns_to_rows(s, at.n, plan.stride, plan.H, minus_infinity, tile.rows, plan.ld);
  for (int64_t h = 0; h < plan.H; ++h) {
    float* row = tile.rows + h * plan.ld;
    if (plan.in.align == RowAlign::softmax) softmax_row(row, padded);
    if (plan.in.align == RowAlign::sigmoid) sigmoid_row(row, padded);
    if (plan.in.align == RowAlign::entmax) entmax_row(plan.in.alpha, row, padded);
    if (plan.in.align == RowAlign::given) tile.dead[h] = all_forbidden(row, padded);
  }
  if (plan.in.align == RowAlign::given) {
    plan.in.given.forward(plan.in.given.self, tile.rows, plan.H, plan.ld, padded);
    for (int64_t h = 0; h < plan.H; ++h) {
      if (tile.dead[h]) std::fill_n(tile.rows + h * plan.ld, padded, 0.0f);
    }
  }
  rows_to_columns(tile.rows, plan.ld, at.n, plan.stride, plan.H, s);
}

inline void set_row_keys(const EdgesPlan& plan, const EdgeUnit& u, const EdgeQuery& at,
                         const EdgesTile& tile) {
  const HeadInputs<float>& in = plan.in.base;
  if (in.dropout.rate <= 0) return;
  for (int64_t h = 0; h < plan.stride; ++h) {
    tile.row_keys[h] = dropout_row_key(in.dropout.seed, u.b * in.H + u.h + h, at.i);
  }
}
inline void drop_edges(const EdgesPlan& plan, const EdgeQuery& at, const EdgesTile& tile,
                       float* s) {
  if (plan.in.base.dropout.rate <= 0) return;
  drop_edges(plan.in.base.dropout, tile.row_keys, at.keys, at.n, plan.stride, plan.H, s);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_EDGES_PLAN_INL_H_
