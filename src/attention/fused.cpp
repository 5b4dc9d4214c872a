// The engine's way into the fused kernels.
#include "fovea/attention/kept.h"
#include "fovea/kernel/attention_rows.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

kernel::AttentionInputs<float> view_of(const Kept& kept, kernel::Align align) {
  auto in = kept.view();
  in.align = align;
  return in;
}

Tensor exact_rows(const Call& c, const kernel::AttentionInputs<float>& in, const Tensor& lse) {
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

std::string fused_declines(const Call& c) {
  using Kind = Alignment::Kind;
  if (c.form.q.dtype() != Dtype::f32) return "the fused kernels are for float32";
  if (!c.form.w.empty()) return "an additive score is not a product";
  if (c.form.map == ScoreMap::distance) return "a distance is not a product";
  if (c.form.map != ScoreMap::none) return "the score has an activation";
  if (c.align.kind != Kind::softmax && c.align.kind != Kind::sigmoid) {
    return "this alignment needs whole rows of scores";
  }
  return "";
}

AttentionOutput attend_fused(const Call& c) {
  const Kept kept(c);
  const auto align =
      c.align.kind == Alignment::Kind::softmax ? kernel::Align::softmax : kernel::Align::sigmoid;
  const auto in = view_of(kept, align);
  AttentionOutput out;
  out.context = Tensor({c.e.B, c.e.Tq, c.e.H, in.Dv});
  Tensor lse({c.e.B, c.e.H, c.e.Tq});
  kernel::AttentionSummary<float> summary;
  const bool summarised = c.in.capture.what == Capture::What::summary;
  if (summarised) out.weights = summary_of(c, summary);
  // The fused kernel sums softmax weights up alone; of others the rows kernel tells, whose context,
  // with bits of its own, is not used.
  const bool told_by_rows = summarised && align != kernel::Align::softmax;
  kernel::attention_forward(in, heads_of(out.context), lse.write().data(),
                            summarised && !told_by_rows ? &summary : nullptr);
  if (told_by_rows) {
    Tensor unused(out.context.shape());
    kernel::RowsInputs rows;
    rows.base = in;
    rows.align = kernel::RowAlign::sigmoid;
    kernel::attention_rows_forward(rows, heads_of(unused), nullptr, &summary);
  }
  if (c.in.capture.what == Capture::What::rows) out.weights.rows = exact_rows(c, in, lse);
  if (summarised && !told_by_rows) out.weights.lse = lse;

  const Tensor context = out.context;
  out.context = record("attention", {kept.q, kept.k, kept.v, kept.bias}, context,
                       [kept, align, lse, context](const Tensor& dy, InputGradients& dx) {
                         KeptGradients to(kept, dx.wants(3));
                         kernel::attention_backward(view_of(kept, align), heads_of(context),
                                                    heads_of(dy), lse.read().data(), to.view());
                         dx.add(0, to.dq);
                         dx.add(1, to.dk);
                         dx.add(2, to.dv);
                         if (!to.dbias.empty()) dx.add(3, to.dbias);
                       });
  return out;
}

}  // namespace fovea
