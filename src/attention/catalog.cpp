#include "fovea/attention/catalog.h"

#include "fovea/attention/score/additive.h"
#include "fovea/attention/score/dot.h"
#include "fovea/attention/score/general.h"
#include "fovea/attention/score/location.h"
#include "fovea/attention/score/similarity.h"

namespace fovea {
namespace {

using enum Law;
using Options = MechanismOptions;

ScoreMap act_of(const Options& o) {
  const std::vector<std::string> names{"tanh", "sigmoid", "relu"};
  if (o.act == names[0]) return ScoreMap::tanh;
  if (o.act == names[1]) return ScoreMap::sigmoid;
  check(o.act == names[2], unknown_name("activation", o.act, names));
  return ScoreMap::relu;
}

// Laws of a soft alignment over keys that have no order of their own.
const std::vector<Law> set_laws{rows_sum_to_one, causal,          permutation,
                                padding,         nothing_is_zero, steps_equal_whole};
// The same without permutation, where a key's place counts.
const std::vector<Law> place_laws{rows_sum_to_one, causal, padding, nothing_is_zero,
                                  steps_equal_whole};
// Weights that need not sum to one.
const std::vector<Law> gate_laws{causal, permutation, padding, nothing_is_zero, steps_equal_whole};

std::vector<Entry> scores() {
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
             return activated_general_score(s, o.d_q, o.d_k, act_of(o));
           }},
      {.id = "G6",
       .name = "additive",
       .kind = kind,
       .title = "Additive (concat)",
       .paper = "Bahdanau, Cho, Bengio 2014",
       .equation = "e = w^T act(W_1 q + W_2 k + b)",
       .options = {"width", "act"},
       .laws = set_laws,
       .score =
           [](Scope s, const Options& o) {
             return additive_score(s, o.d_q, o.d_k, o.width, act_of(o));
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
       .options = {"longest"},
       .laws = place_laws,
       .score = [](Scope s, const Options& o) { return location_score(s, o.d_q, o.longest); }},
      {.id = "G9",
       .name = "kernel",
       .kind = kind,
       .title = "Kernel pooling",
       .paper = "Nadaraya 1964, Watson 1964",
       .equation = "e = -|(q - k) w|^2 / 2",
       .options = {"h"},
       .laws = set_laws,
       .score = [](Scope s, const Options& o) { return kernel_score(s, o.d_k, 1 / o.h); }},
      {.id = "G10",
       .name = "self_attentive",
       .kind = kind,
       .title = "Self-attentive: no query",
       .paper = "Lin et al. 2017; Yang et al. 2016",
       .equation = "e = w^T act(W k + b)",
       .options = {"width", "act"},
       .laws = set_laws,
       .score =
           [](Scope s, const Options& o) {
             return self_attentive_score(s, o.d_k, o.width, act_of(o));
           }},
  };
}

std::vector<Entry> alignments() {
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
       .alignment =
           [](Scope, const Options&) {
             return hard_alignment(Alignment::Estimator::straight_through);
           }},
      {.id = "A2",
       .name = "hard_reinforce",
       .kind = kind,
       .title = "Hard, by REINFORCE",
       .paper = "Xu et al. 2015; Williams 1992",
       .equation = "a = one key drawn from softmax(e); loss + (R - b) log a_m",
       .options = {},
       .laws = set_laws,
       .alignment = [](Scope,
                       const Options&) { return hard_alignment(Alignment::Estimator::reinforce); }},
      {.id = "A3",
       .name = "local_m",
       .kind = kind,
       .title = "Local, monotonic",
       .paper = "Luong, Pham, Manning 2015",
       .equation = "softmax over the keys t - D .. t + D",
       .options = {"reach"},
       // A step alone does not know its place t.
       .laws = {rows_sum_to_one, causal, padding, nothing_is_zero},
       .alignment = [](Scope, const Options&) { return softmax_alignment(); },
       .pattern = [](const Options& o) { return window(o.reach, o.reach); }},
      {.id = "A3",
       .name = "local_p",
       .kind = kind,
       .title = "Local, predictive",
       .paper = "Luong, Pham, Manning 2015",
       .equation = "p = n sigmoid(v^T tanh(W q)), a_j = softmax(e)_j exp(-2 (j - p)^2 / D^2)",
       .options = {"reach"},
       // Its window depends on how many keys there are, so padding and steps do change it.
       .laws = {causal, nothing_is_zero},
       .alignment =
           [](Scope s, const Options& o) {
             return local_alignment(s, o.d_q, static_cast<double>(o.reach));
           }},
      {.id = "A4",
       .name = "reinforced",
       .kind = kind,
       .title = "Reinforced: a learned selector keeps a subset",
       .paper = "Shen et al. 2018",
       .equation = "softmax over the keys with z_j = 1, z_j ~ sigmoid(w^T tanh(W k_j + b))",
       .options = {},
       .laws = {causal, permutation, padding, nothing_is_zero, steps_equal_whole},
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
       .laws = gate_laws,
       .alignment = [](Scope, const Options&) { return sigmoid_alignment(); }},
  };
}

}  // namespace

std::string name_of(Law law) {
  switch (law) {
    case rows_sum_to_one:
      return "rows sum to one";
    case Law::causal:
      return "causal";
    case permutation:
      return "permutation";
    case padding:
      return "padding";
    case nothing_is_zero:
      return "nothing is zero";
    case steps_equal_whole:
      return "steps equal whole";
  }
  return "";
}

const Fields<MechanismOptions>& mechanism_fields() {
  static const Fields<Options> fields{
      {"width", &Options::width, "hidden features of the score"},
      {"act", &Options::act, "activation: tanh, sigmoid or relu"},
      {"beta", &Options::beta, "sharpness of the cosine score, its first value"},
      {"h", &Options::h, "width of the kernel, its first value"},
      {"longest", &Options::longest, "keys that a location score serves"},
      {"alpha", &Options::alpha, "of entmax, in (1, 2]"},
      {"reach", &Options::reach, "keys a local window reaches to each side"},
  };
  return fields;
}

const std::vector<Entry>& catalog() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> list = scores();
    for (Entry& entry : alignments()) list.push_back(std::move(entry));
    return list;
  }();
  return all;
}

const Entry& find_entry(Entry::Kind kind, std::string_view name) {
  std::vector<std::string> known;
  for (const Entry& entry : catalog()) {
    if (entry.kind != kind) continue;
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  fail(unknown_name(kind == Entry::Kind::score ? "score" : "alignment", name, known));
}

}  // namespace fovea
