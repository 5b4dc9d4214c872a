#include "fovea/attention/align/drawn.h"
#include "fovea/attention/align/entmax.h"
#include "fovea/attention/align/local.h"
#include "fovea/attention/align/softmax.h"
#include "fovea/attention/catalog/entries.h"

namespace fovea {

using Options = AttentionOptions;

std::vector<Entry> alignment_entries() {
  constexpr auto kind = Entry::Kind::alignment;
  return {
      {.id = "A1",
       .name = "softmax",
       .kind = kind,
       .title = "Global, soft",
       .paper = "Bahdanau, Cho, Bengio 2014",
       .equation = "a_j = exp(e_j) / sum_i exp(e_i)",
       .options = {},
       .laws = set_laws,
       .alignment = [](Scope, const Options&) { return softmax_alignment(); }},
      {.id = "A2",
       .name = "hard",
       .kind = kind,
       .title = "Hard, straight through",
       .paper = "Xu et al. 2015; Bengio, Leonard, Courville 2013",
       .equation = "a = one key drawn from softmax(e); the heaviest when predicting",
       .options = {},
       .laws = set_laws,
       .alignment = [](Scope,
                       const Options&) { return hard_alignment(Estimator::straight_through); }},
      {.id = "A2",
       .name = "hard_reinforce",
       .kind = kind,
       .title = "Hard, by REINFORCE",
       .paper = "Xu et al. 2015; Williams 1992",
       .equation = "a = one key drawn from softmax(e); loss + (R - b) log a_m",
       .options = {},
       .laws = set_laws,
       .alignment = [](Scope, const Options&) { return hard_alignment(Estimator::reinforce); }},
      {.id = "A3",
       .name = "local_m",
       .kind = kind,
       .title = "Local, monotonic",
       .paper = "Luong, Pham, Manning 2015",
       .equation = "softmax over the keys t - D .. t + D",
       .options = {"reach"},
       .laws = place_laws,
       .alignment =
           [](Scope, const Options& o) { return local_m_alignment(static_cast<double>(o.reach)); }},
      {.id = "A3",
       .name = "local_p",
       .kind = kind,
       .title = "Local, predictive",
       .paper = "Luong, Pham, Manning 2015",
       .equation = "p = n sigmoid(v^T tanh(W q)), a_j = softmax(e)_j exp(-2 (j - p)^2 / D^2)",
       .options = {"reach"},
       // Its window depends on how many keys there are, so padding and steps do change it.
       .laws = {Law::causal, Law::nothing_is_zero},
       .alignment =
           [](Scope s, const Options& o) {
             return local_p_alignment(s, o.d_q, static_cast<double>(o.reach));
           }},
      {.id = "A4",
       .name = "reinforced",
       .kind = kind,
       .title = "Reinforced: a learned selector keeps a subset",
       .paper = "Shen et al. 2018",
       .equation = "softmax over the keys with z_j = 1, z_j ~ sigmoid(w^T tanh(W k_j + b))",
       .options = {},
       .laws = {Law::causal, Law::permutation, Law::padding, Law::nothing_is_zero,
                Law::steps_equal_whole},
       .alignment = [](Scope s, const Options& o) { return reinforced_alignment(s, o.d_k); }},
      {.id = "A5",
       .name = "sparsemax",
       .kind = kind,
       .title = "Sparsemax",
       .paper = "Martins, Astudillo 2016",
       .equation = "a = the point of the simplex nearest to e",
       .options = {},
       .laws = set_laws,
       .alignment = [](Scope, const Options&) { return sparsemax_alignment(); }},
      {.id = "A6",
       .name = "entmax",
       .kind = kind,
       .title = "Entmax",
       .paper = "Peters, Niculae, Martins 2019",
       .equation = "a_j = max((alpha - 1) e_j - t, 0)^(1 / (alpha - 1))",
       .options = {"alpha"},
       .laws = set_laws,
       .alignment = [](Scope, const Options& o) { return entmax_alignment(o.alpha); }},
      {.id = "A7",
       .name = "sigmoid",
       .kind = kind,
       .title = "Sigmoid: unnormalised gates",
       .paper = "Ramapuram et al. 2024",
       .equation = "a_j = 1 / (1 + exp(-e_j))",
       .options = {},
       .laws = {Law::causal, Law::permutation, Law::padding, Law::nothing_is_zero,
                Law::steps_equal_whole},
       .alignment = [](Scope, const Options&) { return sigmoid_alignment(); }},
  };
}

}  // namespace fovea
