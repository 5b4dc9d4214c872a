// The engine's way into the fused kernels.
#include "fovea/attention/saved.h"
#include "fovea/kernel/attention_rows.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

kernel::HeadInputs<float> view_of(const SavedInputs& saved, kernel::Align align) {
  auto in = saved.view();
  in.align = align;
  return in;
}

Tensor exact_rows(const PreparedAttention& c, const kernel::HeadInputs<float>& in,
                  const Tensor& lse) {
  const std::vector<int32_t> queries = asked_queries(c);
  const auto count = static_cast<int64_t>(queries.size());
  Tensor rows({c.e.B, c.e.H, count, c.e.Tk});
  float* to = rows.write().data();
  for (int64_t b = 0; b < c.e.B; ++b) {
    for (int64_t h = 0; h < c.e.H; ++h, to += count * c.e.Tk) {
      kernel::attention_weights(in, lse.read().data(), b, h, queries.data(), count, to);
    }
  }
  return rows;
}

}  // namespace

std::string fused_declines(const PreparedAttention& c) {
  if (c.form.q.dtype() != Dtype::f32) return "the fused kernels are for float32";
  if (!c.form.w.empty()) return "an additive score is not a product";
  if (c.form.map == ScoreMap::distance) return "a distance is not a product";
  if (c.form.map != ScoreMap::none) return "the score has an activation";
  if (c.wants(Capture::What::with_gradient)) return "weights with a gradient come from whole rows";
  using kernel::RowAlign;
  const auto& rows = c.align.rows;
  if (!rows || (rows->align != RowAlign::softmax && rows->align != RowAlign::sigmoid)) {
    return "this alignment needs whole rows of scores";
  }
  return "";
}

AttentionOutput attend_fused(const PreparedAttention& c) {
  const SavedInputs saved(c);
  const auto align = c.align.rows->align == kernel::RowAlign::softmax ? kernel::Align::softmax
                                                                      : kernel::Align::sigmoid;
  const auto in = view_of(saved, align);
  AttentionOutput out;
  out.context = context_for(c);
  const bool head_major = c.in.into.head_major;
  Tensor lse({c.e.B, c.e.H, c.e.Tq});
  kernel::AttentionSummary<float> summary;
  const bool summarised = c.wants(Capture::What::summary);
  if (summarised) out.weights = summary_of(c, summary);
  // The fused kernel sums softmax weights up alone; of others the rows kernel tells, whose context,
  // with bits of its own, is not used.
  const bool told_by_rows = summarised && align != kernel::Align::softmax;
  kernel::attention_forward(in, heads_of(out.context, head_major), lse.write().data(),
                            summarised && !told_by_rows ? &summary : nullptr);
  if (told_by_rows) {
    Tensor unused(out.context.shape());
    kernel::RowsInputs rows;
    rows.base = in;
    rows.align = kernel::RowAlign::sigmoid;
    kernel::attention_rows_forward(rows, heads_of(unused, head_major), nullptr, &summary);
  }
  if (c.wants(Capture::What::rows)) out.weights.rows = exact_rows(c, in, lse);
  if (summarised && !told_by_rows) out.weights.lse = lse;

  const Tensor context = out.context;
  out.log_probability = c.start.log_probability;
  out.context = record(
      "attention", {saved.q.memory(), saved.k.memory(), saved.v.memory(), saved.bias}, context,
      [saved, align, lse, context, head_major](const Tensor& dy, InputGradients& dx) {
        SavedGradients to(saved, dx.wants(3));
        kernel::attention_backward(view_of(saved, align), heads_of(context, head_major),
                                   heads_of(dy, head_major), lse.read().data(), to.view());
        dx.add(0, to.dq);
        dx.add(1, to.dk);
        dx.add(2, to.dv);
        if (!to.dbias.empty()) dx.add(3, to.dbias);
      });
  return out;
}

}  // namespace fovea
