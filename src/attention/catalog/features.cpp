#include "fovea/attention/catalog/entries.h"
#include "fovea/attention/feature/alternating.h"
#include "fovea/attention/feature/hierarchical.h"
#include "fovea/attention/feature/interactive.h"
#include "fovea/attention/feature/meta_embedding.h"
#include "fovea/attention/feature/multi_grained.h"
#include "fovea/attention/feature/parallel.h"
#include "fovea/attention/feature/rotatory.h"
#include "fovea/attention/feature/via.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

using Options = AttentionOptions;
using Several = std::span<const Features>;

// A mechanism of two inputs.
template <class Layer>
FeatureMechanism of_two(const Layer& layer) {
  return [layer](Several in) {
    check(in.size() == 2, "co-attention: is between two inputs, got ", in.size());
    return layer(in[0], in[1]);
  };
}

FeatureMechanism rotatory(Scope s, const Options& o) {
  const RotatoryAttention layer(s, o.d_k, o.d_k, {feature_options(o), o.hops});
  return [layer](Several in) {
    check(in.size() == 3, "rotatory: has a phrase, what is left and what is right of it, got ",
          in.size(), " inputs");
    return layer(in[0], in[1], in[2]);
  };
}

// The first input asks, with the mean of its rows.
FeatureMechanism via(Scope s, const Options& o) {
  const ViaAttention layer(s, o.d_k, o.d_k, o.d_k, feature_options(o));
  return [layer](Several in) {
    check(in.size() == 3, "via: has who asks, words and letters, got ", in.size(), " inputs");
    const int64_t B = in[0].rows.dim(0), d = in[0].rows.dim(2);
    const auto read = layer(reshape(mean_of(in[0]), {B, 1, d}), in[1], in[2]);
    FeatureOutput out;
    out.contexts = {reshape(read.words, {B, d}), reshape(read.letters, {B, d})};
    out.drew(read.log_probability);
    return out;
  };
}

// Two sets of vectors of the same tokens.
FeatureMechanism meta_embedding(Scope s, const Options& o) {
  MetaEmbeddingOptions options;
  static_cast<FeatureOptions&>(options) = feature_options(o);
  options.contextual = o.contextual;
  const MetaEmbedding layer(s, std::vector{o.d_k, o.d_k}, o.d_k, options);
  return [layer](Several in) {
    check(in.size() == 2, "meta-embedding: this one is made for two sets of vectors, got ",
          in.size());
    const Packing cut(offsets_of(in[0].lengths));
    const std::vector<Tensor> sets{pack(in[0].rows, cut.offsets), pack(in[1].rows, cut.offsets)};
    const auto made = layer(sets, cut);
    const int64_t T = in[0].rows.dim(1);
    FeatureOutput out;
    out.contexts = {unpack(made.rows, cut.offsets, T)};
    if (!made.log_probability.empty()) {
      out.drew(sum(unpack(made.log_probability, cut.offsets, T), 1));
    }
    return out;
  };
}

// Laws of contexts of inputs whose rows have no order of their own.
const std::vector<Law> laws{Law::rows_sum_to_one, Law::permutation, Law::padding,
                            Law::nothing_is_zero};

}  // namespace

std::vector<Entry> feature_entries() {
  constexpr auto kind = Entry::Kind::feature;
  return {
      {.id = "F1",
       .name = "alternating",
       .kind = kind,
       .title = "Alternating co-attention",
       .paper = "Lu, Yang, Batra, Parikh 2016",
       .equation = "c0 = attend(q_0, F1), c2 = attend(c0, F2), c1 = attend(c2, F1)",
       .laws = laws,
       .features =
           [](Scope s, const Options& o) {
             return of_two(AlternatingCoAttention(s, o.d_k, o.d_k, feature_options(o)));
           },
       .inputs = 2},
      {.id = "F2",
       .name = "interactive",
       .kind = kind,
       .title = "Interactive co-attention",
       .paper = "Ma, Li, Zhang, Wang 2017",
       .equation = "c1 = attend(mean(F2), F1), c2 = attend(mean(F1), F2)",
       .laws = laws,
       .features =
           [](Scope s, const Options& o) {
             return of_two(InteractiveCoAttention(s, o.d_k, o.d_k, feature_options(o)));
           },
       .inputs = 2},
      {.id = "F3",
       .name = "parallel",
       .kind = kind,
       .title = "Parallel co-attention",
       .paper = "Lu, Yang, Batra, Parikh 2016; Fan, Feng, Zhao 2018; Seo et al. 2017",
       .equation = "A_ij = score(F1_i, F2_j), e1 = w_1 tanh(W_1 F1 + W_2 F2 A^T), e2 = w_2 "
                   "tanh(W_2 F2 + W_1 F1 A); pooled: e1_i = max_j A_ij, e2_j = max_i A_ij",
       .options = {"pooled"},
       .laws = laws,
       .features =
           [](Scope s, const Options& o) {
             return of_two(ParallelCoAttention(s, o.d_k, o.d_k, {feature_options(o), o.pooled}));
           },
       .inputs = 2},
      {.id = "F3",
       .name = "multi_grained",
       .kind = kind,
       .title = "Multi-grained co-attention, coarse and fine",
       .paper = "Fan, Feng, Zhao 2018",
       .equation = "c = [attend(mean(F2), F1); attend(mean(F1), F2); F1 by max_j A_ij; F2 by max_i "
                   "A_ij], A_ij = w . [F1_i; F2_j; F1_i o F2_j]",
       .laws = laws,
       .features =
           [](Scope s, const Options& o) {
             MultiGrainedOptions options;
             static_cast<FeatureOptions&>(options) = feature_options(o);
             return of_two(MultiGrainedCoAttention(s, o.d_k, o.d_k, options));
           },
       .inputs = 2},
      {.id = "F4",
       .name = "rotatory",
       .kind = kind,
       .title = "Rotatory attention",
       .paper = "Zheng, Xia 2018; Wallaart, Frasincar 2019",
       .equation = "r_l = attend(mean(F_t), F_l), r_r = attend(mean(F_t), F_r), r_lt = attend(r_l, "
                   "F_t), r_rt = attend(r_r, F_t)",
       .options = {"hops"},
       .laws = laws,
       .features = rotatory,
       .inputs = 3},
      {.id = "F5",
       .name = "via",
       .kind = kind,
       .title = "Attention-via-attention: letters through words",
       .paper = "Zhao, Zhang 2018",
       .equation = "c_w = attend(q, F_w), c_c = attend(W [q; c_w], F_c), c = [c_w; c_c]",
       .laws = laws,
       .features = via,
       .inputs = 3},
      {.id = "F6",
       .name = "hierarchical",
       .kind = kind,
       .title = "Hierarchical attention, of any depth",
       .paper = "Yang et al. 2016",
       .equation = "c_s = attend(u_w, words of s), c = attend(u_s, [c_1 .. c_n])",
       .laws = laws,
       .features =
           [](Scope s, const Options& o) {
             const HierarchicalAttention layer(s, std::vector{o.d_k}, feature_options(o));
             return [layer](Several in) {
               check(in.size() == 1, "hierarchical: one level reads one input, got ", in.size());
               const Packing cut(offsets_of(in[0].lengths));
               return layer.level(0, {pack(in[0].rows, cut.offsets), cut});
             };
           }},
      {.id = "F7",
       .name = "meta_embedding",
       .kind = kind,
       .title = "Meta-embeddings, dynamic and contextual",
       .paper = "Kiela, Wang, Cho 2018",
       .equation = "x = sum_i a_i (P_i x_i + b_i), a = align_i(score(P_i x_i + b_i)); contextual: "
                   "score(LSTM(P_i x_i1 + b_i, ..)_t)",
       .options = {"contextual"},
       .laws = {Law::rows_sum_to_one, Law::padding, Law::nothing_is_zero},
       .features = meta_embedding,
       .inputs = 2},
  };
}

}  // namespace fovea
