#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/kernel/attention_edges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/attention_edges_forward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/edges_plan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

inline void read_edges(const EdgesPlan& plan, const EdgeUnit& u, const EdgeQuery& at,
                       const EdgesTile& tile, const float* s, const HeadView<float>& out) {
  const int64_t Dv = plan.in.base.Dv;
  std::fill_n(tile.sums, plan.H * Dv, 0.0f);
  edge_sums(at.n, {s, plan.stride, nullptr}, values_of(plan, u, at), plan.v.pieces, plan.H, Dv,
            tile.sums);
  unpack_row(out, u.b, u.h, at.i, tile.sums, plan.H, Dv);
}

inline void clear_room(const EdgesPlan& plan, const EdgeUnit& u, const EdgeView<float>& weights) {
  const int64_t used = plan.in.lists.offsets[(u.set + 1) * (plan.in.base.Tq + 1) - 1];
  for (int64_t h = u.h; h < u.h + plan.H; ++h) {
    std::fill(weights.at(u.b, h) + used, weights.at(u.b, h) + plan.in.lists.edges, 0.0f);
  }
}

void edges_forward(const EdgesInputs& inputs, HeadView<float> out, EdgeView<float> weights) {
  const HeadInputs<float>& in = inputs.base;
  if (in.B == 0 || in.H == 0 || in.Tq == 0) return;
  EdgesPlan plan(inputs);
  Scratch shared(plan.bytes(), Scratch::call);
  plan.take(shared);
  const int64_t blocks = plan.blocks(in.Tq), room = plan.longest * plan.stride;
  parallel_for(plan.units() * blocks, 1, [&](int64_t task, int64_t) {
    Scratch scratch(EdgesTile::bytes(plan) + Scratch::bytes<float>(room));
    const EdgesTile tile(plan, scratch);
    float* s = scratch.take<float>(room);
    const EdgeUnit u = plan.unit(task / blocks);
    if (weights && task % blocks == 0) clear_room(plan, u, weights);
    const EdgeBlock block(inputs.lists.offsets + u.set * (in.Tq + 1), in.Tq, task % blocks);
    for (int64_t i = block.first; i < block.last; ++i) {
      const EdgeQuery at(plan, u, i);
      score_edges(plan, u, at, tile, s, nullptr);
      align_edges(plan, at, tile, s);
      for (int64_t h = 0; h < plan.H && weights; ++h) {
        float* to = weights.at(u.b, u.h + h) + at.first;
        for (int64_t e = 0; e < at.n; ++e) to[e] = s[e * plan.stride + h];
      }
      set_row_keys(plan, u, at, tile);
      drop_edges(plan, at, tile, s);
      read_edges(plan, u, at, tile, s, out);
    }
  });
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(edges_forward);

void attention_edges_forward(const EdgesInputs& in, HeadView<float> out, EdgeView<float> weights) {
  FOVEA_DISPATCH(edges_forward)(in, out, weights);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
