// The engine's way into the kernels that work on whole rows of scores, a block of queries at a
// time.
#include "fovea/attention/saved.h"
#include "fovea/kernel/attention_rows.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

using kernel::RowAlign;

struct SavedRows : SavedInputs {
  ScoreMap map;
  Tensor w, center;
  RowAlignment align;

  explicit SavedRows(const PreparedAttention& c)
      : SavedInputs(c),
        map(c.form.map),
        w(c.form.w),
        center(c.start.center),
        align(*c.align.rows) {}

  bool local() const { return align.align == RowAlign::local; }
  kernel::RowsInputs view() const {
    kernel::RowsInputs in;
    in.base = SavedInputs::view();
    in.map = map;
    if (!w.empty()) in.w = w.read().data();
    in.align = align.align;
    in.alpha = align.alpha;
    if (local()) in.centers = {center.read<double>().data(), e.Tq * e.H, e.H, 1};
    in.sigma = align.sigma;
    in.given = align.given;
    return in;
  }

  // From the gradient of the contexts, or that of the weights [B, H, Tq, Tk].
  void backward(kernel::HeadView<const float> dout, kernel::HeadView<const float> dweights,
                InputGradients& dx) const {
    SavedGradients grads(*this, dx.wants(3));
    Tensor dw, dcenter;
    kernel::RowsGradients to{.base = grads.view()};
    if (!w.empty()) {
      dw = Tensor(w.shape());
      to.dw = dw.write().data();
    }
    if (local()) {
      dcenter = Tensor(center.shape(), Dtype::f64);
      to.dcenters = {dcenter.write<double>().data(), e.Tq * e.H, e.H, 1};
    }
    kernel::attention_rows_backward(view(), dout, to, dweights);
    dx.add(0, grads.dq);
    dx.add(1, grads.dk);
    dx.add(2, grads.dv);
    if (!grads.dbias.empty()) dx.add(3, grads.dbias);
    if (!dw.empty()) dx.add(4, dw);
    if (!dcenter.empty()) dx.add(5, dcenter);
  }
};

}  // namespace

std::string rows_declines(const PreparedAttention& c) {
  if (c.form.q.dtype() != Dtype::f32) return "the kernels are for float32";
  if (!c.align.rows) return "this alignment is made of ops";
  if (!c.form.w.empty() && c.form.map == ScoreMap::distance) {
    return "no kernel for an additive score over distances";
  }
  if (!c.form.w.empty() && c.form.w.rank() == 2) return "every head has a w of its own";
  return "";
}

AttentionOutput attend_rows(const PreparedAttention& c) {
  const SavedRows saved(c);
  const auto in = saved.view();
  AttentionOutput out;
  out.context = context_for(c);
  const bool head_major = c.in.into.head_major;
  kernel::AttentionSummary<float> summary;
  const bool summarised = c.wants(Capture::What::summary);
  if (summarised) {
    out.weights = summary_of(c, summary);
    if (saved.align.align == RowAlign::softmax || saved.local()) {
      out.weights.lse = Tensor({c.e.B, c.e.H, c.e.Tq});
    }
  }
  Tensor& lse = out.weights.lse;
  kernel::attention_rows_forward(in, heads_of(out.context, head_major),
                                 lse.empty() ? nullptr : lse.write().data(),
                                 summarised ? &summary : nullptr);
  if (c.wants(Capture::What::rows)) {
    const std::vector<int32_t> queries = asked_queries(c);
    const auto count = static_cast<int64_t>(queries.size());
    out.weights.rows = Tensor({c.e.B, c.e.H, count, c.e.Tk});
    kernel::attention_rows_weights(in, queries.data(), count, out.weights.rows.write().data());
  }

  out.log_probability = c.start.log_probability;
  const auto inputs = [&] {
    return std::vector<Tensor>{saved.q.memory(), saved.k.memory(), saved.v.memory(),
                               saved.bias,       saved.w,          saved.center};
  }();
  const std::span<const Tensor> list(inputs);
  out.context = record("attention_rows", list, out.context,
                       [saved, head_major](const Tensor& dy, InputGradients& dx) {
                         saved.backward(heads_of(dy, head_major), {}, dx);
                       });
  if (!c.wants(Capture::What::with_gradient)) return out;
  const std::vector<int32_t> all = asked_queries(c);
  Tensor weights({c.e.B, c.e.H, c.e.Tq, c.e.Tk});
  kernel::attention_rows_weights(in, all.data(), c.e.Tq, weights.write().data());
  out.weights.rows =
      record("attention_weights", list, weights, [saved](const Tensor& da, InputGradients& dx) {
        const int64_t plane = saved.e.Tq * saved.e.Tk;
        saved.backward({}, {da.read().data(), saved.e.H * plane, saved.e.Tk, plane}, dx);
      });
  return out;
}

}  // namespace fovea
