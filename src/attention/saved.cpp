#include "fovea/attention/saved.h"

#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

// A bias as [b, h, q, Tk] with each of b, h, q whole or 1: keys must be there, the rest may repeat.
Tensor four_axes(const Tensor& bias, const Extent& e) {
  Shape shape;
  for (int axis = -4; axis < 0; ++axis) {
    shape.push_back(-axis <= bias.rank() ? bias.dim(axis) : 1);
  }
  const Shape full{e.B, e.H, e.Tq, e.Tk};
  for (int axis = 0; axis < 4; ++axis) {
    check(shape[axis] == full[axis] || shape[axis] == 1, "attend: a bias ", bias.shape(),
          " does not broadcast to [batch, heads, queries, keys] = ", full);
  }
  const Tensor four = reshape(bias, shape);
  shape.set(3, e.Tk);
  return broadcast_to(four, shape);
}

template <class View>
View bias_view(decltype(View::data) data, const Shape& s, bool by_diagonal, int64_t Tq) {
  if (by_diagonal) {  // a query's row begins one element before that of the query above it
    return {data + Tq - 1, s[0] == 1 ? 0 : s[1] * s[3], -1, s[1] == 1 ? 0 : s[3]};
  }
  return {data, s[0] == 1 ? 0 : s[1] * s[2] * s[3], s[2] == 1 ? 0 : s[3],
          s[1] == 1 ? 0 : s[2] * s[3]};
}

}  // namespace

SavedInputs::SavedInputs(const PreparedAttention& c)
    : e(c.e),
      Hk(c.Hk),
      q(c.form.q.to_record()),
      k(c.form.k.to_record()),
      v(c.in.v.to_record()),
      bias(c.bias.empty() || c.by_diagonal ? c.bias : four_axes(c.bias, c.e)),
      by_diagonal(c.by_diagonal),
      scale(static_cast<float>(c.form.scale)),
      who(c.who->edges ? std::make_shared<ResolvedPattern>(c.who->dense(c.e)) : c.who),
      dropout{static_cast<float>(c.dropout), c.seed} {}

kernel::HeadInputs<float> SavedInputs::view() const {
  kernel::HeadInputs<float> in;
  in.B = e.B, in.H = e.H, in.Hk = Hk, in.Tq = e.Tq, in.Tk = e.Tk;
  in.D = q.dim(3), in.Dv = v.dim(3);
  in.scale = scale;
  in.q = q.view(), in.k = k.view(), in.v = v.view();
  if (!who->lo.empty()) {
    in.ranges = {who->lo.data(), who->hi.data(),
                 who->range_batches == 1 ? 0 : who->range_heads * e.Tq,
                 who->range_heads == 1 ? 0 : e.Tq};
  }
  if (!who->mask.empty()) {
    const int64_t plane = e.Tq * e.Tk;
    in.mask = {who->mask.data(), who->mask_batches == 1 ? 0 : who->mask_heads * plane, e.Tk,
               who->mask_heads == 1 ? 0 : plane};
  }
  if (!bias.empty()) {
    in.bias = bias_view<kernel::HeadView<const float>>(bias.read().data(), bias.shape(),
                                                       by_diagonal, e.Tq);
  }
  in.dropout = dropout;
  return in;
}

SavedGradients::SavedGradients(const SavedInputs& saved, bool with_bias)
    : saved(saved),
      dq(saved.q.memory().shape()),
      dk(saved.k.memory().shape()),
      dv(saved.v.memory().shape()) {
  if (with_bias && !saved.bias.empty()) dbias = Tensor(saved.bias.shape());
}

kernel::AttentionGradients<float> SavedGradients::view() {
  kernel::AttentionGradients<float> to{saved.q.over(dq.write().data()),
                                       saved.k.over(dk.write().data()),
                                       saved.v.over(dv.write().data()),
                                       {}};
  if (!dbias.empty()) {
    to.dbias = bias_view<kernel::HeadView<float>>(dbias.write().data(), dbias.shape(),
                                                  saved.by_diagonal, saved.e.Tq);
  }
  return to;
}

Tensor context_for(const PreparedAttention& c) {
  const ContextMemory& into = c.in.into;
  const int64_t Dv = c.in.v.dim(3);
  const Shape shape =
      into.head_major ? Shape{c.e.B, c.e.H, c.e.Tq, Dv} : Shape{c.e.B, c.e.Tq, c.e.H, Dv};
  return into.memory.empty() ? Tensor(shape) : Tensor::borrow_to_write(shape, into.memory);
}

Weights summary_of(const PreparedAttention& c, kernel::AttentionSummary<float>& to) {
  const Capture& ask = c.in.capture;
  Weights w;
  w.top_keys = Tensor({c.e.B, c.e.H, c.e.Tq, ask.top}, Dtype::i32);
  w.top_weights = Tensor({c.e.B, c.e.H, c.e.Tq, ask.top});
  w.entropy = Tensor({c.e.B, c.e.H, c.e.Tq});
  w.map = Tensor({c.e.B, c.e.H, ask.map_rows, ask.map_cols});
  to.top = ask.top;
  to.map_rows = ask.map_rows, to.map_cols = ask.map_cols;
  to.top_keys = w.top_keys.write<int32_t>().data();
  to.top_weights = w.top_weights.write().data();
  to.entropy = w.entropy.write().data();
  to.map = w.map.write().data();
  return w;
}

}  // namespace fovea
