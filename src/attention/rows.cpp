// The engine's way into the kernels that work on whole rows of scores, a block of queries at a
// time.
#include "fovea/attention/kept.h"
#include "fovea/kernel/attention_rows.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

using kernel::RowAlign;

struct KeptRows : Kept {
  ScoreMap map;
  Tensor w, center;
  RowAlign align;
  float alpha, sigma;

  explicit KeptRows(const Call& c)
      : Kept(c),
        map(c.form.map),
        w(c.form.w),
        center(c.center),
        align(c.align.kind == Alignment::Kind::softmax   ? RowAlign::softmax
              : c.align.kind == Alignment::Kind::sigmoid ? RowAlign::sigmoid
              : c.align.kind == Alignment::Kind::entmax  ? RowAlign::entmax
                                                         : RowAlign::local),
        alpha(static_cast<float>(c.align.alpha)),
        sigma(static_cast<float>(c.align.reach / 2)) {}

  kernel::RowsInputs view() const {
    kernel::RowsInputs in;
    in.base = Kept::view();
    in.map = map;
    if (!w.empty()) in.w = w.read().data();
    in.align = align;
    in.alpha = alpha;
    if (align == RowAlign::local) in.centers = {center.read<double>().data(), e.Tq * e.H, e.H, 1};
    in.sigma = sigma;
    return in;
  }
};

}  // namespace

std::string rows_declines(const Call& c) {
  using Kind = Alignment::Kind;
  if (c.form.q.dtype() != Dtype::f32) return "the kernels are for float32";
  if (c.align.kind == Kind::hard || c.align.kind == Kind::reinforced) {
    return "an alignment that draws is made of ops";
  }
  if (!c.form.w.empty() && c.form.map == ScoreMap::distance) {
    return "no kernel for an additive score over distances";
  }
  return "";
}

AttentionOutput attend_rows(const Call& c) {
  const KeptRows kept(c);
  const auto in = kept.view();
  AttentionOutput out;
  out.context = Tensor({c.e.B, c.e.Tq, c.e.H, in.base.Dv});
  kernel::AttentionSummary<float> summary;
  const bool summarised = c.in.capture.what == Capture::What::summary;
  if (summarised) {
    out.weights = summary_of(c, summary);
    if (kept.align == RowAlign::softmax || kept.align == RowAlign::local) {
      out.weights.lse = Tensor({c.e.B, c.e.H, c.e.Tq});
    }
  }
  Tensor& lse = out.weights.lse;
  kernel::attention_rows_forward(in, heads_of(out.context),
                                 lse.empty() ? nullptr : lse.write().data(),
                                 summarised ? &summary : nullptr);
  if (c.in.capture.what == Capture::What::rows) {
    const std::vector<int32_t> queries = asked_queries(c);
    const auto count = static_cast<int64_t>(queries.size());
    out.weights.rows = Tensor({c.e.B, c.e.H, count, c.e.Tk});
    kernel::attention_rows_weights(in, queries.data(), count, out.weights.rows.write().data());
  }

  out.context =
      record("attention_rows", {kept.q, kept.k, kept.v, kept.bias, kept.w, kept.center},
             out.context, [kept](const Tensor& dy, InputGradients& dx) {
               KeptGradients grads(kept, dx.wants(3));
               Tensor dw, dcenter;
               kernel::RowsGradients to{.base = grads.view()};
               if (!kept.w.empty()) {
                 dw = Tensor(kept.w.shape());
                 to.dw = dw.write().data();
               }
               if (kept.align == RowAlign::local) {
                 dcenter = Tensor(kept.center.shape(), Dtype::f64);
                 to.dcenters = {dcenter.write<double>().data(), kept.e.Tq * kept.e.H, kept.e.H, 1};
               }
               kernel::attention_rows_backward(kept.view(), heads_of(dy), to);
               dx.add(0, grads.dq);
               dx.add(1, grads.dk);
               dx.add(2, grads.dv);
               if (!grads.dbias.empty()) dx.add(3, grads.dbias);
               if (!dw.empty()) dx.add(4, dw);
               if (!dcenter.empty()) dx.add(5, dcenter);
             });
  return out;
}

}  // namespace fovea
