#include "fovea/attention/catalog/entries.h"
#include "fovea/attention/score/additive.h"
#include "fovea/attention/score/dot.h"
#include "fovea/attention/score/general.h"
#include "fovea/attention/score/location.h"
#include "fovea/attention/score/map.h"
#include "fovea/attention/score/similarity.h"
#include "fovea/attention/score/trilinear.h"

namespace fovea {
namespace {

using Options = AttentionOptions;

}  // namespace

std::vector<Entry> score_entries() {
  constexpr auto kind = Entry::Kind::score;
  return {
      {.id = "G1",
       .name = "dot",
       .kind = kind,
       .title = "Multiplicative",
       .paper = "Luong, Pham, Manning 2015",
       .equation = "e = q . k",
       .options = {},
       .laws = set_laws,
       .score = [](Scope, const Options&) { return dot_score(); }},
      {.id = "G2",
       .name = "scaled",
       .kind = kind,
       .title = "Scaled multiplicative",
       .paper = "Vaswani et al. 2017",
       .equation = "e = q . k / sqrt(d_k)",
       .options = {},
       .laws = set_laws,
       .score = [](Scope, const Options&) { return scaled_score(); }},
      {.id = "G3",
       .name = "general",
       .kind = kind,
       .title = "General (bilinear)",
       .paper = "Luong, Pham, Manning 2015",
       .equation = "e = k^T W q",
       .options = {},
       .laws = set_laws,
       .score = [](Scope s, const Options& o) { return general_score(s, o.d_q, o.d_k); }},
      {.id = "G4",
       .name = "biased_general",
       .kind = kind,
       .title = "Biased general",
       .paper = "Sordoni, Bachman, Trischler, Bengio 2016",
       .equation = "e = k^T (W q + b)",
       .options = {},
       .laws = set_laws,
       .score = [](Scope s, const Options& o) { return biased_general_score(s, o.d_q, o.d_k); }},
      {.id = "G5",
       .name = "activated_general",
       .kind = kind,
       .title = "Activated general",
       .paper = "Ma, Li, Zhang, Wang 2017",
       .equation = "e = act(k^T W q + b)",
       .options = {"act"},
       .laws = set_laws,
       .score =
           [](Scope s, const Options& o) {
             return activated_general_score(s, o.d_q, o.d_k, score_map(o.act));
           }},
      {.id = "G6",
       .name = "additive",
       .kind = kind,
       .title = "Additive (concat)",
       .paper = "Bahdanau, Cho, Bengio 2014",
       .equation = "e = w^T act(W_1 q + W_2 k + b)",
       .options = {"score_width", "act"},
       .laws = set_laws,
       .score =
           [](Scope s, const Options& o) {
             return additive_score(s, o.d_q, o.d_k, o.score_width, score_map(o.act));
           }},
      {.id = "G7",
       .name = "cosine",
       .kind = kind,
       .title = "Similarity: cosine",
       .paper = "Graves, Wayne, Danihelka 2014",
       .equation = "e = beta cos(q, k)",
       .options = {"beta"},
       .laws = set_laws,
       .score = [](Scope s, const Options& o) { return cosine_score(s, o.beta); }},
      {.id = "G7",
       .name = "euclidean",
       .kind = kind,
       .title = "Similarity: negative distance",
       .paper = "Brauwers, Frasincar 2023 (survey)",
       .equation = "e = -|q - k|",
       .options = {},
       .laws = set_laws,
       .score = [](Scope, const Options&) { return euclidean_score(); }},
      {.id = "G8",
       .name = "location",
       .kind = kind,
       .title = "Location",
       .paper = "Luong, Pham, Manning 2015",
       .equation = "e_j = (W q)_j",
       .options = {"longest_keys"},
       .laws = {Law::rows_sum_to_one, Law::causal, Law::padding, Law::nothing_is_zero,
                Law::steps_equal_whole},
       .score = [](Scope s, const Options& o) { return location_score(s, o.d_q, o.longest_keys); }},
      {.id = "G9",
       .name = "kernel",
       .kind = kind,
       .title = "Kernel pooling",
       .paper = "Nadaraya 1964, Watson 1964",
       .equation = "e = -|(q - k) w|^2 / 2",
       .options = {"kernel_width"},
       .laws = set_laws,
       .score = [](Scope s,
                   const Options& o) { return kernel_score(s, o.d_k, 1 / o.kernel_width); }},
      {.id = "G9",
       .name = "kernel_given",
       .kind = kind,
       .title = "Kernel pooling, its width given",
       .paper = "Nadaraya 1964, Watson 1964",
       .equation = "e = -|q - k|^2 / (2 h^2), nothing learned",
       .options = {"kernel_width"},
       .laws = set_laws,
       .score =
           [](Scope s, const Options& o) {
             return kernel_score(s, o.d_k, 1 / o.kernel_width, /*learn_w=*/false);
           }},
      {.id = "G10",
       .name = "self_attentive",
       .kind = kind,
       .title = "Self-attentive: no query",
       .paper = "Lin et al. 2017; Yang et al. 2016",
       .equation = "e = w^T act(W k + b)",
       .options = {"score_width", "act"},
       .laws = set_laws,
       .score =
           [](Scope s, const Options& o) {
             return self_attentive_score(s, o.d_k, o.score_width, score_map(o.act));
           }},
      {.id = "F3",
       .name = "trilinear",
       .kind = kind,
       .title = "Trilinear: query, key and their product",
       .paper = "Seo et al. 2017; Fan, Feng, Zhao 2018",
       .equation = "e = w . [q; k; q o k]",
       .options = {},
       .laws = set_laws,
       .score =
           [](Scope s, const Options& o) {
             check(o.d_q == o.d_k, "trilinear score: multiplies queries and keys feature by ",
                   "feature, and these are ", o.d_q, " and ", o.d_k, " wide; general does not");
             return trilinear_score(s, o.d_k);
           }},
  };
}

}  // namespace fovea
