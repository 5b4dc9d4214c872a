// Two passes. By query: weights are worked out again, then dA, dE and dQ; the weights that read
// values and dS stay, two numbers for every edge and head. By key: dV and dK are sums over the
// edges of one key, in the order of their numbers.
#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/kernel/attention_edges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/attention_edges_backward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/edges_plan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

struct EdgesBackward {
  const EdgesPlan& plan;
  HeadView<const float> dout;
  const EdgesGradients& to;
  EdgeView<const float> dweights;
  EdgeLayout go{};           // rows of dout
  int64_t room = 0;          // numbers of one unit
  int64_t blocks = 0;        // of queries
  float* kept = nullptr;     // [units at once, E, 2, stride]: weights and dS
  float* dw = nullptr;       // [units at once, blocks, H, D]
  double* dw_all = nullptr;  // [all heads, D]
};

inline void align_edges_back(const EdgesPlan& plan, const EdgeQuery& at, const EdgesTile& tile,
                             const float* a, float* g) {
  const RowAlign align = plan.in.align;
  if (!plan.by_rows) {
    if (align == RowAlign::softmax) return softmax_columns_grad(a, g, at.n, plan.stride);
    return sigmoid_columns_grad(a, g, at.n, plan.stride);
  }
  // tile.rows holds the weights since align_edges.
  const int64_t padded = round_up(at.n, lanes);
  columns_to_rows(g, at.n, plan.stride, plan.H, 0, tile.grads, plan.ld);
  for (int64_t h = 0; h < plan.H; ++h) {
    const AlignGradient row{tile.rows + h * plan.ld, tile.grads + h * plan.ld, padded};
    if (align == RowAlign::softmax) softmax_row_grad(row);
    if (align == RowAlign::sigmoid) sigmoid_row_grad(row);
    if (align == RowAlign::entmax) entmax_row_grad(plan.in.alpha, row);
  }
  if (align == RowAlign::given) {
    plan.in.given.backward(plan.in.given.self, tile.rows, tile.grads, plan.H, plan.ld, padded);
    for (int64_t h = 0; h < plan.H; ++h) {
      if (tile.dead[h]) std::fill_n(tile.grads + h * plan.ld, padded, 0.0f);
    }
  }
  rows_to_columns(tile.grads, plan.ld, at.n, plan.stride, plan.H, g);
}

// g = dA
inline void weight_grads(const EdgesBackward& job, const EdgeUnit& u, const EdgeQuery& at,
                         const EdgesTile& tile, float* g) {
  const EdgesPlan& plan = job.plan;
  const int64_t Dv = plan.in.base.Dv;
  if (job.dout) {
    pack_row(tile.go, job.dout.at(u.b, u.h) + at.i * job.dout.row, job.go, plan.H, Dv);
    edge_dots(tile.go, values_of(plan, u, at), at.n, plan.H, Dv, g, plan.stride);
    drop_edges(plan, at, tile, g);
  } else {
    std::fill_n(g, at.n * plan.stride, 0.0f);
  }
  for (int64_t h = 0; h < plan.H && job.dweights; ++h) {
    const float* more = job.dweights.at(u.b, u.h + h) + at.first;
    for (int64_t e = 0; e < at.n; ++e) g[e * plan.stride + h] += more[e];
  }
}

// sums += the gradients of a row that meets `rows` with coefficients, but for the factors that all
// edges share.
template <template <ScoreMap> class Op>
void add_pairs(const EdgesPlan& plan, const float* own, const EdgeRows& rows,
               const EdgeFactors& factors, int64_t n, const EdgesTile& tile, float* sums) {
  const int64_t features = plan.in.base.D;
  for (int64_t e = 0; e < n; e += pair_tile) {
    const int64_t some = std::min(pair_tile, n - e);
    pair_rows<Op>(plan.in.map, own, rows.from(e), some, plan.H, features, tile.pairs);
    edge_sums(some, factors.from(e), pairs_of(plan, tile), plan.tile.pieces, plan.H, features,
              sums);
  }
}

// Those factors.
inline void multiply_sums(const EdgesPlan& plan, const EdgeUnit& u, float* sums) {
  const int64_t n = plan.H * plan.in.base.D;
  if (plan.in.w) return multiply_short(sums, plan.w + u.h * plan.in.base.D, n);
  copy_short(sums, sums, n, plan.in.map == ScoreMap::distance ? 2 : plan.in.base.scale);
}

inline void query_back(const EdgesBackward& job, const EdgeUnit& u, const EdgeQuery& at,
                       int64_t slot, const EdgesTile& tile, float* slope, float* a, float* g,
                       float* dw) {
  const EdgesPlan& plan = job.plan;
  const HeadInputs<float>& in = plan.in.base;
  score_edges(plan, u, at, tile, a, plan.mapped ? slope : nullptr);
  align_edges(plan, at, tile, a);
  set_row_keys(plan, u, at, tile);
  weight_grads(job, u, at, tile, g);
  align_edges_back(plan, at, tile, a, g);
  for (int64_t h = 0; h < plan.H && job.to.dbias; ++h) {
    float* to = job.to.dbias.at(u.b, u.h + h) + at.first;
    for (int64_t e = 0; e < at.n; ++e) to[e] += g[e * plan.stride + h];
  }
  if (plan.mapped) multiply_short(g, slope, at.n * plan.stride);

  const EdgeRows keys = keys_of(plan, u, at);
  const EdgeFactors factors{g, plan.stride, nullptr};
  std::fill_n(tile.sums, plan.H * in.D, 0.0f);
  if (plan.pairwise) {
    add_pairs<PairSlope>(plan, tile.own, keys, factors, at.n, tile, tile.sums);
    if (dw) add_pairs<PairValue>(plan, tile.own, keys, factors, at.n, tile, dw);
  } else {
    edge_sums(at.n, factors, keys, plan.k.pieces, plan.H, in.D, tile.sums);
  }
  multiply_sums(plan, u, tile.sums);
  unpack_row(job.to.dq, u.b, u.h, at.i, tile.sums, plan.H, in.D);
  drop_edges(plan, at, tile, a);
  // What the other pass reads of an edge lies together: it comes from memory.
  float* kept = job.kept + slot * job.room + at.first * 2 * plan.stride;
  for (int64_t e = 0; e < at.n; ++e, kept += 2 * plan.stride) {
    copy_short(kept, a + e * plan.stride, plan.stride);
    copy_short(kept + plan.stride, g + e * plan.stride, plan.stride);
  }
}

// Block `block` of the unit that has place `slot`.
inline void queries_back(const EdgesBackward& job, const EdgeUnit& u, int64_t slot, int64_t block) {
  const EdgesPlan& plan = job.plan;
  const int64_t Tq = plan.in.base.Tq, width = plan.H * plan.in.base.D;
  const int64_t numbers = plan.longest * plan.stride;
  Scratch scratch(EdgesTile::bytes(plan) + 3 * Scratch::bytes<float>(numbers));
  const EdgesTile tile(plan, scratch);
  float *a = scratch.take<float>(numbers), *g = scratch.take<float>(numbers);
  float* slope = scratch.take<float>(numbers);
  float* dw = job.dw ? job.dw + (slot * job.blocks + block) * width : nullptr;
  if (dw) std::fill_n(dw, width, 0.0f);
  const EdgeBlock range(plan.in.lists.offsets + u.set * (Tq + 1), Tq, block);
  for (int64_t i = range.first; i < range.last; ++i) {
    const EdgeQuery at(plan, u, i);
    query_back(job, u, at, slot, tile, slope, a, g, dw);
  }
}

// Adds the sums of query heads to the row of the key heads they share.
inline void give_sums(const HeadView<float>& to, int64_t b, int64_t key_head, int64_t j,
                      const float* sums, int64_t H, int64_t features, int64_t group) {
  if (H > 1 && group == 1 && to.head == features) features *= H, H = 1;
  for (int64_t h = 0; h < H; ++h) {
    float* row = to.at(b, key_head + h / group) + j * to.row;
    add_short(row, sums + h * features, features);
  }
}

inline void clear_row(const HeadView<float>& to, int64_t b, int64_t head, int64_t t, int64_t H,
                      int64_t features) {
  float* row = to.at(b, head) + t * to.row;
  if (to.head == features) features *= H, H = 1;
  for (int64_t h = 0; h < H; ++h) std::fill_n(row + h * to.head, features, 0.0f);
}

// dK and dV of key j, from the lists of one unit.
inline void key_back(const EdgesBackward& job, const EdgeUnit& u, int64_t slot, int64_t j,
                     const EdgesTile& tile) {
  const EdgesPlan& plan = job.plan;
  const HeadInputs<float>& in = plan.in.base;
  const EdgeLists& lists = plan.in.lists;
  const int64_t* offsets = lists.key_offsets + u.set * (in.Tk + 1);
  const int64_t first = offsets[j], n = offsets[j + 1] - first, known = offsets[in.Tk] - first;
  const int32_t* edges = lists.key_edges + u.set * lists.edges + first;
  const int32_t* queries = lists.key_queries + u.set * lists.edges + first;
  const int64_t group = in.H / in.Hk, key_head = in.key_head(u.h);
  const float* kept = job.kept + slot * job.room;
  if (job.dout) {
    std::fill_n(tile.sums, plan.H * in.Dv, 0.0f);
    edge_sums(n, {kept, 2 * plan.stride, edges},
              rows_of(job.dout, job.go, u.b, u.h, queries, known), job.go.pieces, plan.H, in.Dv,
              tile.sums);
    give_sums(job.to.dv, u.b, key_head, j, tile.sums, plan.H, in.Dv, group);
  }
  std::fill_n(tile.sums, plan.H * in.D, 0.0f);
  const EdgeFactors factors{kept + plan.stride, 2 * plan.stride, edges};
  const EdgeRows rows = rows_of(in.q, plan.q, u.b, u.h, queries, known);
  if (plan.pairwise) {
    pack_row(tile.own, in.k.at(u.b, key_head) + j * in.k.row, plan.k, plan.H, in.D);
    add_pairs<PairSlope>(plan, tile.own, rows, factors, n, tile, tile.sums);
  } else {
    edge_sums(n, factors, rows, plan.q.pieces, plan.H, in.D, tile.sums);
  }
  multiply_sums(plan, u, tile.sums);
  give_sums(job.to.dk, u.b, key_head, j, tile.sums, plan.H, in.D, group);
}

// Block `block` of the keys of `members` units from `first` on, which have the places from `slot`
// on: heads with lists of their own that share a key head, or one unit.
inline void keys_back(const EdgesBackward& job, int64_t first, int64_t slot, int64_t members,
                      int64_t block) {
  const EdgesPlan& plan = job.plan;
  const HeadInputs<float>& in = plan.in.base;
  Scratch scratch(EdgesTile::bytes(plan));
  const EdgesTile tile(plan, scratch);
  const EdgeUnit lead = plan.unit(first);
  const EdgeBlock range(plan.in.lists.key_offsets + lead.set * (in.Tk + 1), in.Tk, block);
  const int64_t key_head = in.key_head(lead.h), key_heads = plan.H == 1 ? 1 : in.Hk;
  for (int64_t j = range.first; j < range.last; ++j) {
    clear_row(job.to.dk, lead.b, key_head, j, key_heads, in.D);
    clear_row(job.to.dv, lead.b, key_head, j, key_heads, in.Dv);
    for (int64_t m = 0; m < members; ++m) key_back(job, plan.unit(first + m), slot + m, j, tile);
  }
}

inline void add_dw(const EdgesBackward& job, const EdgeUnit& u, int64_t slot) {
  const int64_t width = job.plan.H * job.plan.in.base.D;
  double* all = job.dw_all + u.h * job.plan.in.base.D;
  for (int64_t block = 0; block < job.blocks; ++block) {
    const float* some = job.dw + (slot * job.blocks + block) * width;
    for (int64_t f = 0; f < width; ++f) all[f] += some[f];
  }
}

inline void give_dw(const EdgesBackward& job) {
  const EdgesInputs& in = job.plan.in;
  const int64_t H = in.base.H, features = in.base.D;
  for (int64_t f = 0; f < H * features; ++f) {
    if (in.w_head != 0) {
      job.to.dw[f / features * in.w_head + f % features] = static_cast<float>(job.dw_all[f]);
    } else if (f >= features) {
      job.dw_all[f % features] += job.dw_all[f];
    }
  }
  for (int64_t f = 0; f < features && in.w_head == 0; ++f) {
    job.to.dw[f] = static_cast<float>(job.dw_all[f]);
  }
}

void edges_backward(const EdgesInputs& inputs, HeadView<const float> dout, const EdgesGradients& to,
                    EdgeView<const float> dweights) {
  const HeadInputs<float>& in = inputs.base;
  if (in.B == 0 || in.H == 0) return;
  EdgesPlan plan(inputs);
  EdgesBackward job{plan, dout, to, dweights};
  job.room = inputs.lists.edges * 2 * plan.stride;
  job.blocks = plan.blocks(in.Tq);
  const int64_t key_blocks = plan.blocks(in.Tk);
  // Units that go together: as many as keep memory small, and always all that share a key head.
  const int64_t members = inputs.lists.head == 0 ? 1 : in.H / in.Hk;
  const int64_t fit = (int64_t{1} << 22) / (1 + job.room * members);
  const int64_t at_once = members * std::clamp<int64_t>(fit, 1, plan.units() / members);
  const bool with_dw = inputs.w && to.dw;
  const int64_t parts = with_dw ? at_once * job.blocks * plan.H * in.D : 0;
  const int64_t sums = with_dw ? in.H * in.D : 0;

  Scratch shared(plan.bytes() + EdgeLayout::bytes(plan.H, in.Dv) +
                     Scratch::bytes<float>(at_once * job.room) + Scratch::bytes<float>(parts) +
                     Scratch::bytes<double>(sums),
                 Scratch::call);
  plan.take(shared);
  job.go = EdgeLayout(dout.head, 1, plan.H, in.Dv, shared);
  job.kept = shared.take<float>(at_once * job.room);
  if (with_dw) {
    job.dw = shared.take<float>(parts);
    job.dw_all = shared.take<double>(sums);
    std::fill_n(job.dw_all, sums, 0.0);
  }
  const EdgeView<float>& dbias = to.dbias;
  for (int64_t head = 0; head < in.B * in.H && dbias; ++head) {
    std::fill_n(dbias.at(head / in.H, head % in.H), inputs.lists.edges, 0.0f);
  }
  // One unit's blocks have edges of their own; units may share numbers of a bias.
  const bool shares_bias = dbias && ((dbias.batch == 0 && in.B > 1) ||
                                     (dbias.head == 0 && in.H > 1 && inputs.lists.head != 0));
  for (int64_t first = 0; first < plan.units(); first += at_once) {
    const int64_t count = std::min(at_once, plan.units() - first);
    const int64_t together = shares_bias ? 1 : count;
    for (int64_t from = 0; from < count; from += together) {
      parallel_for(together * job.blocks, 1, [&](int64_t task, int64_t) {
        const int64_t slot = from + task / job.blocks;
        queries_back(job, plan.unit(first + slot), slot, task % job.blocks);
      });
    }
    parallel_for(count / members * key_blocks, 1, [&](int64_t task, int64_t) {
      const int64_t slot = task / key_blocks * members;
      keys_back(job, first + slot, slot, members, task % key_blocks);
    });
    for (int64_t slot = 0; slot < count && with_dw; ++slot) {
      add_dw(job, plan.unit(first + slot), slot);
    }
  }
  if (with_dw) give_dw(job);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(edges_backward);

void attention_edges_backward(const EdgesInputs& in, HeadView<const float> dout,
                              const EdgesGradients& to, EdgeView<const float> dweights) {
  FOVEA_DISPATCH(edges_backward)(in, dout, to, dweights);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
