#include "fovea/attention/catalog/entries.h"
#include "fovea/attention/multidim.h"
#include "fovea/attention/multihead.h"
#include "fovea/attention/query/capsule.h"
#include "fovea/attention/query/multihop.h"
#include "fovea/attention/score/map.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

using Options = AttentionOptions;

// [B, T, H, D] -> [B, T, H D]
Tensor merged(const Tensor& x) { return reshape(x, {x.dim(0), x.dim(1), -1}); }

Mechanism multi_head(Scope s, const Options& o) {
  // Null for the scaled product and for softmax: MultiHead then takes its fastest path.
  const MultiHead layer(
      s, o.input_heads * o.d_q,
      {.heads = o.heads,
       .d_memory = o.input_heads * o.d_k,
       .score = o.score == "scaled" ? ScoreFactory() : score_factory(o),
       .align = o.align == "softmax" ? AlignmentFactory() : alignment_factory(o)});
  return [layer](const AttentionInputs& in) {
    MultiHead::Output out = layer({.x = merged(in.q),
                                   .memory = merged(in.k),
                                   .values = merged(in.v),
                                   .who = in.who,
                                   .bias = in.bias,
                                   .offset = in.offset,
                                   .lengths = in.lengths,
                                   .places = in.places,
                                   .capture = in.capture});
    return AttentionOutput{reshape(out.y, in.q.shape()), out.weights, out.log_probability};
  };
}

Mechanism multi_hop(Scope s, const Options& o) {
  const MultiHop layer(s, o.d_q, o.d_k, o.d_v,
                       {.hops = o.hops, .score = score_factory(o), .align = alignment_factory(o)});
  return [layer](const AttentionInputs& in) { return layer(in).hops.back(); };
}

Mechanism multi_dimensional(Scope s, const Options& o) {
  const MultiDimensional layer(s, o.d_q, o.d_k, o.d_v,
                               {.d_w = o.score_width,
                                .act = score_map(o.act),
                                .align = alignment_factory(o)(s / "align", o.d_q)});
  return [layer](const AttentionInputs& in) { return layer(in); };
}

// One input; a capsule for each head. Its reconstructions, side by side.
FeatureMechanism capsules(Scope s, const Options& o) {
  const Capsules layer(s, o.heads, o.d_k, o.d_k, alignment_factory(o));
  return [layer](std::span<const Features> in) {
    check(in.size() == 1, "capsules: look at one input, got ", in.size());
    const Features& f = in[0];
    const Capsules::Output out =
        layer({.k = f.rows, .who = lengths(f.lengths), .lengths = f.lengths});
    const Tensor& r = out.reconstruction;
    return FeatureOutput{{reshape(r, {r.dim(0), -1})}, out.log_probability};
  };
}

}  // namespace

std::vector<Entry> query_entries() {
  constexpr auto kind = Entry::Kind::query;
  return {
      {.id = "Q",
       .name = "single",
       .kind = kind,
       .title = "One query, one attention",
       .paper = "Brauwers, Frasincar 2023 (survey)",
       .equation = "c = sum_j align(score(q, k))_j v_j",
       .laws = set_laws},
      {.id = "Q1",
       .name = "multi_head",
       .kind = kind,
       .title = "Multi-head, with grouped keys",
       .paper = "Vaswani et al. 2017; Ainslie et al. 2023",
       .equation = "concat(attention(q W_i^Q, k W_i^K, v W_i^V)) W^O",
       .options = {"heads"},
       .laws = set_laws,
       .whole = multi_head},
      {.id = "Q2",
       .name = "multi_hop",
       .kind = kind,
       .title = "Multi-hop",
       .paper = "Sukhbaatar et al. 2015; Tran, Niederee 2018",
       .equation = "q_(s+1) = tanh(W_q q_s + W_c c_s + b)",
       .options = {"hops"},
       .laws = set_laws,
       .whole = multi_hop},
      {.id = "Q3",
       .name = "capsules",
       .kind = kind,
       .title = "Capsules, one for each class",
       .paper = "Wang, Sun, Han, Zhu 2018",
       .equation = "c_c = sum_l a_cl v_l, p_c = sigmoid(w_c . c_c + b_c), r_c = p_c c_c",
       .options = {"heads"},
       .features = capsules,
       .reads_score = false},
      {.id = "D1",
       .name = "multi_dimensional",
       .kind = kind,
       .title = "Multi-dimensional: a weight for every feature",
       .paper = "Shen et al. 2018",
       .equation = "e_ij = W_d^T act(W_1 q_i + W_2 k_j + b), aligned feature by feature",
       .options = {"score_width", "act"},
       .laws = set_laws,
       .whole = multi_dimensional,
       .reads_score = false},
  };
}

}  // namespace fovea
