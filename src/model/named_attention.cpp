#include "fovea/model/named_attention.h"

#include "fovea/attention/engine.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

Tensor with_one_head(const Tensor& x) { return reshape(x, {x.dim(0), x.dim(1), 1, x.dim(2)}); }

AttentionChoice with_widths(AttentionChoice choice, int64_t d_q, int64_t d_k) {
  choice.options.d_q = d_q;
  choice.options.d_k = choice.options.d_v = d_k;
  return choice;
}

}  // namespace

NamedAttention::NamedAttention(Scope s, AttentionChoice choice, int64_t d_q, int64_t d_k)
    : name(s.path()),
      choice_(with_widths(std::move(choice), d_q, d_k)),
      score_(find_entry(Entry::Kind::score, choice_.score).score(s / "score", choice_.options)),
      align_(find_entry(Entry::Kind::alignment, choice_.align)
                 .alignment(s / "align", choice_.options)) {}

NamedAttention::Output NamedAttention::operator()(const Inputs& in) const {
  const int64_t B = in.q.dim(0), Tq = in.q.dim(1);
  Pattern who = lengths(in.lengths);
  if (const auto& pattern = find_entry(Entry::Kind::alignment, choice_.align).pattern) {
    who = who & pattern(choice_.options,
                        in.step < 0 ? query_places(B, Tq, 1) : Tensor::full({B, Tq, 1}, in.step));
  }
  Alignment align = align_;
  if (align.center) {
    // A center is a part of the sentence, not of the sentence and its padding.
    const Tensor n = in.lengths.to(Dtype::f64).reshaped({B, 1, 1});
    align.center = [part = align_.center, n](const Tensor& q, int64_t) {
      return convert(part(q, 1), Dtype::f64) * n;
    };
  }
  AttentionInputs inputs;
  inputs.q = with_one_head(in.q);
  inputs.k = inputs.v = with_one_head(in.memory);
  inputs.who = who;
  inputs.random = in.random;
  inputs.name = name;
  const AttentionOutput out = attend(inputs, score_, align);
  return {reshape(out.context, {B, Tq, in.memory.dim(2)}),
          out.log_probability.empty() ? Tensor() : reshape(out.log_probability, {B, Tq})};
}

}  // namespace fovea
