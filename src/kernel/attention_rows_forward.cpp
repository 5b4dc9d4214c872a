#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/kernel/attention_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/attention_rows_forward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/attention_rows-inl.h"
#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/rows_summary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

void rows_forward(const RowsInputs& inputs, HeadView<float> out, float* lse,
                  const AttentionSummary<float>* summary) {
  const HeadInputs<float>& in = inputs.base;
  RowsPlan plan(inputs);
  const bool pools = summary && summary->map;
  RowsPool pool(plan, summary ? *summary : AttentionSummary<float>());
  Scratch shared(plan.key_bytes(false) + (pools ? pool.bytes(plan) : 0), Scratch::call);
  plan.prepare_keys(shared, false);
  if (pools)
    pool.cells = shared.take<float>(in.B * in.H * plan.blocks * pool.touched * pool.map_cols);
  const bool has_lse = inputs.align == RowAlign::softmax || inputs.align == RowAlign::local;

  const int64_t work = std::min(plan.block, in.Tq) * plan.ld * plan.cost();
  parallel_for(
      in.B * in.H * plan.blocks, 1 + (1 << 18) / (work + 1), [&](int64_t begin, int64_t end) {
        Scratch scratch(RowsTile::bytes(plan));
        const RowsTile tile(plan, scratch);
        for (int64_t i = begin; i < end; ++i) {
          const RowsBlock at = plan.at(i);
          float* to_lse = lse && has_lse ? lse + (at.b * in.H + at.h) * in.Tq + at.first : nullptr;
          weigh_block(plan, at, tile, to_lse);
          if (summary) summarise_block(plan, at, i, tile, *summary, pool);
          for (int64_t r = 0; r < at.rows && in.dropout.rate > 0; ++r) {
            drop_row(in.dropout, at.b * in.H + at.h, at.first + r, at.lo, tile.s + r * plan.ld,
                     at.padded);
          }
          gemm_serial({.m = at.rows,
                       .n = in.Dv,
                       .k = at.n,
                       .lda = plan.ld,
                       .ldb = in.v.row,
                       .ldc = out.row},
                      tile.s, in.v.at(at.b, in.key_head(at.h)) + at.lo * in.v.row,
                      out.at(at.b, at.h) + at.first * out.row);
        }
      });
  if (pools) add_up_maps(plan, *summary, pool);
}

// Queries that follow one another are worked on together.
void rows_weights(const RowsInputs& inputs, const int32_t* queries, int64_t count, float* weights) {
  const HeadInputs<float>& in = inputs.base;
  RowsPlan plan(inputs);
  plan.ld = odd_lines(in.Tk);
  Scratch shared(plan.key_bytes(false), Scratch::call);
  plan.prepare_keys(shared, false);
  const int64_t pieces = (count + plan.block - 1) / plan.block;
  parallel_for(in.B * in.H * pieces, 1, [&](int64_t i, int64_t) {
    Scratch scratch(RowsTile::bytes(plan));
    const RowsTile tile(plan, scratch);
    const int64_t head = i / pieces, last = std::min((i % pieces + 1) * plan.block, count);
    for (int64_t r = i % pieces * plan.block; r < last;) {
      int64_t run = 1;
      while (r + run < last && queries[r + run] == queries[r] + run) ++run;
      const RowsBlock at(in, head / in.H, head % in.H, queries[r], run);
      weigh_block(plan, at, tile, nullptr);
      for (int64_t row = 0; row < run; ++row, ++r) {
        float* to = weights + (head * count + r) * in.Tk;
        std::fill_n(to, in.Tk, 0.0f);
        std::copy_n(tile.s + row * plan.ld, at.n, to + at.lo);
      }
    }
  });
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(rows_forward);
HWY_EXPORT(rows_weights);

void attention_rows_forward(const RowsInputs& in, HeadView<float> out, float* lse,
                            const AttentionSummary<float>* asked) {
  const AttentionSummary<float> sized = asked ? asked->with_size() : AttentionSummary<float>();
  FOVEA_DISPATCH(rows_forward)(in, out, lse, asked ? &sized : nullptr);
}

void attention_rows_weights(const RowsInputs& in, const int32_t* queries, int64_t count,
                            float* weights) {
  FOVEA_DISPATCH(rows_weights)(in, queries, count, weights);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
