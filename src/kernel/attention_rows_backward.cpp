// A block of queries works its weights A out again and goes back through them:
//   dA = dO V^T + dW   dE = align'(A, dA)   dV += A^T dO   dS = dE map'(S)   dQ = dS K   dK += dS^T
//   Q
#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/kernel/attention_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/attention_rows_backward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/attention_rows-inl.h"
#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/rows_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

struct RowsBackTile : RowsTile {
  float *g, *slope;  // [block, ld]: dA, then dE, then dS; map'(S)
  float *da, *dw;    // [block, features], [features]: sums of an additive score

  static int64_t bytes(const RowsPlan& plan) {
    return RowsTile::bytes(plan) + 2 * Scratch::bytes<float>(plan.block * plan.ld) +
           Scratch::bytes<float>(plan.block * plan.features) + Scratch::bytes<float>(plan.features);
  }
  RowsBackTile(const RowsPlan& plan, Scratch& scratch)
      : RowsTile(plan, scratch),
        g(scratch.take<float>(plan.block * plan.ld)),
        slope(scratch.take<float>(plan.block * plan.ld)),
        da(scratch.take<float>(plan.block * plan.features)),
        dw(scratch.take<float>(plan.features)) {}
};

// Row r: g from what the values give to dA.
inline void finish_weight_grad(const RowsBackward& job, const RowsBlock& at,
                               const RowsBackTile& tile, int64_t r) {
  const HeadInputs<float>& in = job.plan.in.base;
  float* g = tile.g + r * job.plan.ld;
  const int64_t i = at.first + r;
  if (job.dout) {
    std::fill(g + at.n, g + at.padded, 0.0f);
    if (in.dropout.rate > 0) drop_row(in.dropout, at.b * in.H + at.h, i, at.lo, g, at.padded);
  } else {
    std::fill_n(g, at.padded, 0.0f);
  }
  if (!job.dweights) return;
  map2(Plus{}, g, g, job.dweights.at(at.b, at.h) + i * job.dweights.row + at.lo, at.n);
}

inline void align_given_back(const RowsBackward& job, const RowsBlock& at,
                             const RowsBackTile& tile) {
  const RowsPlan& plan = job.plan;
  const GivenAlign& given = plan.in.given;
  given.backward(given.self, tile.s, tile.g, at.rows, plan.ld, at.padded);
  for (int64_t r = 0; r < at.rows; ++r) {
    if (tile.dead[r]) std::fill_n(tile.g + r * plan.ld, at.padded, 0.0f);
  }
}

// Row r: g from dA to dE, s to the weights that read the values.
inline void align_row_back(const RowsBackward& job, const RowsBlock& at, const RowsBackTile& tile,
                           int64_t r) {
  const RowsInputs& in = job.plan.in;
  const WeightDropout& dropout = in.base.dropout;
  const AlignGradient row{tile.s + r * job.plan.ld, tile.g + r * job.plan.ld, at.padded};
  const int64_t head = at.b * in.base.H + at.h, i = at.first + r;
  switch (in.align) {
    case RowAlign::softmax:
      softmax_row_grad(row);
      break;
    case RowAlign::sigmoid:
      sigmoid_row_grad(row);
      break;
    case RowAlign::entmax:
      entmax_row_grad(in.alpha, row);
      break;
    case RowAlign::local: {
      const double p = center_of(job.plan, at, r);
      bell_row(tile.bell, row.n, at.lo, p, in.sigma);
      const float dp = local_row_grad(row, tile.bell, at.lo, p, in.sigma);
      if (job.to.dcenters) job.to.dcenters.at(at.b, at.h)[i * job.to.dcenters.row] = dp;
      break;
    }
    case RowAlign::given:
      break;  // align_given_back has done it
  }
  if (dropout.rate > 0) drop_row(dropout, head, i, at.lo, row.a, row.n);
}

inline void give_bias(const RowsBackward& job, const RowsBlock& at, const RowsBackTile& tile,
                      const RowsSums& sums) {
  const HeadInputs<float>& in = job.plan.in.base;
  const HeadView<float>& db = job.to.base.dbias;
  const int64_t group = in.H / in.Hk;
  for (int64_t r = 0; r < at.rows; ++r) {
    float* row = sums.dbias ? sums.dbias + at.h % group * in.Tk
                            : db.at(at.b, at.h) + (at.first + r) * db.row;
    map2(Plus{}, row + at.lo, row + at.lo, tile.g + r * job.plan.ld, at.n);
  }
}

inline void additive_back(const RowsBackward& job, const RowsBlock& at, const RowsBackTile& tile,
                          const RowsSums& sums) {
  const RowsPlan& plan = job.plan;
  const HeadInputs<float>& in = plan.in.base;
  const int64_t key_head = in.key_head(at.h), whole = round_up(at.rows, rows_group);
  const AdditiveForm form = plan.form(at.b, key_head);
  for (int64_t r = at.rows; r < whole; ++r) std::fill_n(tile.g + r * plan.ld, at.padded, 0.0f);
  std::fill_n(tile.da, whole * plan.features, 0.0f);
  std::fill_n(tile.dw, plan.features, 0.0f);
  const float* keys = plan.panels + (at.b * in.Hk + key_head) * plan.features * in.Tk;
  form.with_act([&](const auto& act) {
    additive_grad(act, whole, at.n, plan.features, tile.g, plan.ld, tile.a, tile.da,
                  keys + at.lo * lanes, sums.dk + at.lo * lanes, in.Tk, tile.dw);
  });
  float* dq = job.to.base.dq.at(at.b, at.h) + at.first * job.to.base.dq.row;
  for (int64_t r = 0; r < at.rows; ++r) {
    float* row = dq + r * job.to.base.dq.row;
    for (int64_t f = 0; f < in.D; ++f)
      row[f] = form.c2 * plan.w[f] * tile.da[r * plan.features + f];
    if (form.c0 != 0) *sums.g += form.c0 * sum_of(Same{}, tile.g + r * plan.ld, at.n);
  }
  for (int64_t f = 0; f < in.D; ++f) sums.dw[f] += form.c1 * tile.dw[f];
}

inline void backward_block(const RowsBackward& job, const RowsBlock& at, const RowsBackTile& tile,
                           const RowsSums& sums) {
  const RowsPlan& plan = job.plan;
  const HeadInputs<float>& in = plan.in.base;
  const HeadView<float>& dq = job.to.base.dq;
  if (at.n == 0) {
    for (int64_t i = at.first; i < at.first + at.rows; ++i) {
      std::fill_n(dq.at(at.b, at.h) + i * dq.row, in.D, 0.0f);
      if (job.to.dcenters) job.to.dcenters.at(at.b, at.h)[i * job.to.dcenters.row] = 0;
    }
    return;
  }
  const int64_t key_head = in.key_head(at.h);
  const bool mapped = !plan.in.w && plan.in.map != ScoreMap::none;
  score_block(plan, at, tile, mapped ? tile.slope : nullptr);
  if (plan.in.align == RowAlign::given) align_given(plan, at, tile);
  for (int64_t r = 0; r < at.rows; ++r) align_row(plan, at, tile, r);
  const float* go = job.dout ? job.dout.at(at.b, at.h) + at.first * job.dout.row : nullptr;
  if (go)
    gemm_serial({.transpose_b = true,
                 .m = at.rows,
                 .n = at.n,
                 .k = in.Dv,
                 .lda = job.dout.row,
                 .ldb = in.v.row,
                 .ldc = plan.ld},
                go, in.v.at(at.b, key_head) + at.lo * in.v.row, tile.g);
  for (int64_t r = 0; r < at.rows; ++r) finish_weight_grad(job, at, tile, r);
  if (plan.in.align == RowAlign::given) align_given_back(job, at, tile);
  for (int64_t r = 0; r < at.rows; ++r) align_row_back(job, at, tile, r);
  if (go)
    gemm_serial({.transpose_a = true,
                 .m = at.n,
                 .n = in.Dv,
                 .k = at.rows,
                 .lda = plan.ld,
                 .ldb = job.dout.row,
                 .ldc = sums.dv_row,
                 .beta = 1},
                tile.s, go, sums.dv + at.lo * sums.dv_row);
  if (job.to.base.dbias) give_bias(job, at, tile, sums);
  for (int64_t r = 0; r < at.rows && mapped; ++r) {
    map2(Times{}, tile.g + r * plan.ld, tile.g + r * plan.ld, tile.slope + r * plan.ld, at.n);
  }
  if (plan.pairwise) return additive_back(job, at, tile, sums);
  gemm_serial({.m = at.rows,
               .n = in.D,
               .k = at.n,
               .lda = plan.ld,
               .ldb = in.k.row,
               .ldc = dq.row,
               .alpha = in.scale},
              tile.g, in.k.at(at.b, key_head) + at.lo * in.k.row,
              dq.at(at.b, at.h) + at.first * dq.row);
  gemm_serial({.transpose_a = true,
               .m = at.n,
               .n = in.D,
               .k = at.rows,
               .lda = plan.ld,
               .ldb = in.q.row,
               .ldc = sums.dk_row,
               .alpha = in.scale,
               .beta = 1},
              tile.g, in.q.at(at.b, at.h) + at.first * in.q.row, sums.dk + at.lo * sums.dk_row);
}

// Every parts-th block from `part` on of the heads that share a key head.
HWY_NOINLINE void backward_part(const RowsBackward& job, const RowsBackTile& tile, int64_t b,
                                int64_t key_head, int64_t part) {
  const RowsPlan& plan = job.plan;
  const int64_t H = plan.in.base.H, group = H / plan.in.base.Hk;
  const RowsSums sums = job.sums(b, key_head, part);
  for (int64_t h = key_head * group; h < (key_head + 1) * group; ++h) {
    for (int64_t i = part; i < plan.blocks; i += job.cut.parts) {
      backward_block(job, plan.at((b * H + h) * plan.blocks + i), tile, sums);
    }
  }
}

void rows_backward(const RowsInputs& inputs, HeadView<const float> dout, const RowsGradients& to,
                   HeadView<const float> dweights) {
  const HeadInputs<float>& in = inputs.base;
  if (in.B == 0 || in.Hk == 0) return;
  RowsPlan plan(inputs);
  RowsBackward job{plan, dout, dweights, to, RowsCut(plan, to.base.dbias)};
  Scratch shared(plan.key_bytes(true) + job.bytes(), Scratch::call);
  plan.prepare_keys(shared, true);
  job.take(shared);
  if (to.base.dbias) clear_bias(in, to.base.dbias);

  const RowsCut& cut = job.cut;
  const int64_t work = in.B * in.H * in.Tq * plan.ld * plan.cost() * 3 / cut.tasks;
  parallel_for(cut.tasks, 1 + (1 << 18) / (work + 1), [&](int64_t begin, int64_t end) {
    Scratch scratch(RowsBackTile::bytes(plan));
    const RowsBackTile tile(plan, scratch);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t part = task % cut.parts, head = task / cut.parts;
      const int64_t heads = cut.every_head ? 1 : in.Hk, b = head / heads, g = head % heads;
      for (int64_t x = b; x < (cut.every_batch ? in.B : b + 1); ++x) {
        for (int64_t y = g; y < (cut.every_head ? in.Hk : g + 1); ++y) {
          backward_part(job, tile, x, y, part);
        }
      }
    }
  });
  if (job.own_dk() || job.own_dv()) add_up_keys(job);
  if (cut.shared_bias_row) add_up_bias(job);
  if (inputs.w) add_up_w(job);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(rows_backward);

void attention_rows_backward(const RowsInputs& in, HeadView<const float> dout,
                             const RowsGradients& to, HeadView<const float> dweights) {
  FOVEA_DISPATCH(rows_backward)(in, dout, to, dweights);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
