#include "fovea/attention/efficient/synthesizer.h"

#include "fovea/attention/efficient/spans.h"
#include "fovea/attention/engine.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

const std::string name = "synthesizer";

// Rows [from, to) of a table [longest, H D], for each of B entries: [B, to - from, H, D].
Tensor places(const Tensor& table, int64_t from, int64_t to, int64_t B, int64_t H) {
  const int64_t D = table.dim(1) / H;
  return broadcast_to(reshape(slice(table, 0, from, to), {1, to - from, H, D}),
                      {B, to - from, H, D});
}

}  // namespace

SelfAttention synthesizer_self_attention(Scope s, const SynthesizerOptions& o) {
  const bool dense = o.synthesizer == "dense", random = o.synthesizer == "random";
  check(dense || random || o.synthesizer == "factorized",
        "attention 'synthesizer': there is dense, random and factorized, not '", o.synthesizer,
        "'");
  Parameter weight, columns;
  if (random) {
    weight = s.param("weight", {o.heads, o.longest, o.longest}, init::normal(1));
  } else if (dense) {
    weight = s.param("weight", {o.longest, o.heads * o.d_head}, init::xavier_uniform());
  } else {
    weight = s.param("rows", {o.longest, o.heads * o.rank}, init::normal(0.3));
    columns = s.param("columns", {o.longest, o.heads * o.rank}, init::normal(0.3));
  }
  SelfAttention self;
  self.attend = [=](const AttentionInputs& in) {
    return with_weights(in, name, [&](const AttentionInputs& all) {
      const Spans spans = spans_of(all, name);
      for (int32_t lo : spans.lo) {
        check(lo == 0,
              "attention 'synthesizer' knows tokens by their places: sequences must stand "
              "in batch entries of their own, not packed in one");
      }
      const int64_t B = all.q.dim(0), Tq = all.q.dim(1), Tk = all.k.dim(1), from = Tk - Tq;
      check(Tk <= o.longest, "attention 'synthesizer' has learned weights for up to ", o.longest,
            " tokens, and these are ", Tk);
      AttentionInputs made;
      made.v = all.v, made.who = all.who, made.dropout = all.dropout;
      if (random) {
        made.q = Tensor::zeros({B, Tq, o.heads, 1}, all.q.dtype());
        made.k = Tensor::zeros({B, Tk, o.heads, 1}, all.q.dtype());
        made.bias = reshape(slice(slice(weight, 1, from, Tk), 2, 0, Tk), {1, o.heads, Tq, Tk});
      } else {
        made.q = dense ? relu(all.q) : places(weight, from, Tk, B, o.heads);
        made.k = places(dense ? weight : columns, 0, Tk, B, o.heads);
      }
      return attend_unrecorded(made, dot_score()).context;
    });
  };
  return self;
}

}  // namespace fovea
