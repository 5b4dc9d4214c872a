#include "fovea/model/pair/rows.h"

#include "fovea/model/linear/wide.h"
#include "fovea/model/named_attention.h"
#include "fovea/model/option_lists.h"
#include "fovea/model/pair/pair_classifier.h"
#include "fovea/model/pair/rotatory_classifier.h"
#include "fovea/model/pair/transformer_pair.h"

namespace fovea {
namespace {

using Infos = std::vector<FieldInfo>;

AttentionOptions feature_start(const std::string& score) {
  AttentionOptions start;
  start.score = score;
  start.hops = 1;
  return start;
}
// Those of the encoder, and those that count of the attention inside of the mechanism.
Infos options_of(const Fields<PairOptions>& fields, const Settings& settings,
                 const std::string& mechanism, const AttentionOptions& start) {
  Infos infos = attention_options_of(mechanism, settings, start), all = fields.infos();
  all = without_idle_encoder(std::move(all), settings);
  all.insert(all.end(), infos.begin(), infos.end());
  return all;
}

PairOptions options_with_places(const Fields<PairOptions>& fields, const Settings& settings,
                                const ModelSizes& sizes) {
  PairOptions o = fields.read(settings);
  o.longest = sizes.longest;
  return o;
}

// Pairs are told which words both texts have, but by a model that reads each by itself.
Settings marks_of(Takes takes) {
  return takes == Takes::pair ? Settings{{"match", "true"}} : Settings();
}

// A model of two inputs, for two texts and for a phrase in its sentence.
std::vector<ModelEntry> two_inputs(const std::string& mechanism, const std::string& score,
                                   const std::string& title, const std::string& paper,
                                   const std::string& equation) {
  std::vector<ModelEntry> rows;
  const bool alone = mechanism == "siamese";
  for (const Takes takes : {Takes::pair, Takes::phrase}) {
    const auto& fields = takes == Takes::pair ? pair_fields() : phrase_fields();
    rows.push_back({.name = mechanism,
                    .takes = takes,
                    .gives = Gives::label,
                    .title = title,
                    .paper = paper,
                    .equation = equation,
                    .defaults = alone ? Settings() : marks_of(takes),
                    .options =
                        [=, &fields](const Settings& s) {
                          Infos list = options_of(fields, s, alone ? "hierarchical" : mechanism,
                                                  feature_start(score));
                          if (alone)
                            std::erase_if(list, [](auto& info) { return info.name == "match"; });
                          return list;
                        },
                    .make =
                        [=, &fields](Scope s, const ModelSizes& sizes, const Settings& settings) {
                          return std::make_unique<const PairClassifier>(
                              s, takes, mechanism, sizes,
                              options_with_places(fields, settings, sizes),
                              attention_fields().read(settings, feature_start(score)));
                        }});
  }
  return rows;
}

struct BesideOptions {
  std::string beside = "interactive";  // which attention stands beside the linear model
};

// A linear model beside one of these rows, as the option `beside` says.
ModelEntry wide_row(Takes takes, const std::vector<ModelEntry>& rows) {
  std::vector<ModelEntry> inner;
  std::vector<std::string> names;
  for (const ModelEntry& row : rows) {
    if (row.takes == takes) inner.push_back(row), names.push_back(row.name);
  }
  const Fields<BesideOptions> fields{
      {"beside", &BesideOptions::beside, "attention beside the linear model", one_of(names)}};
  const auto chosen = [=](const Settings& s) {
    const auto found =
        std::ranges::find(inner, s.get("beside", BesideOptions().beside), &ModelEntry::name);
    return found == inner.end() ? inner[0] : *found;
  };
  return {.name = "wide",
          .takes = takes,
          .gives = Gives::label,
          .title = "Linear model beside an attention model",
          .paper = "Cheng et al. 2016; Wang, Manning 2012",
          .equation = "y = a W x + b attention(F1, F2),  a and b chosen on validation",
          .defaults = marks_of(takes),
          .options =
              [=](const Settings& s) {
                return joined(fields.infos(), linear_model_fields().infos(), chosen(s).options(s));
              },
          .make =
              [=](Scope s, const ModelSizes& sizes, const Settings& settings) {
                fields.read(settings);  // an unknown name is an Error
                return std::make_unique<const WideClassifier>(
                    s, sizes, linear_model_fields().read(settings),
                    make_model<Scorer>(chosen(settings), s, sizes, settings));
              }};
}

}  // namespace

std::vector<ModelEntry> pair_rows() {
  std::vector<ModelEntry> rows;
  const auto add = [&](std::vector<ModelEntry> more) {
    for (ModelEntry& entry : more) rows.push_back(std::move(entry));
  };
  add(two_inputs("interactive", "activated_general", "Interactive co-attention",
                 "Ma, Li, Zhang, Wang 2017",
                 "c1 = attend(mean(F2), F1), c2 = attend(mean(F1), F2)"));
  rows.push_back({.name = "rotatory",
                  .takes = Takes::phrase,
                  .gives = Gives::label,
                  .title = "Rotatory attention over a phrase and its sides",
                  .paper = "Zheng, Xia 2018; Wallaart, Frasincar 2019",
                  .equation = "y = W [r_l; r_r; r_lt; r_rt] + b",
                  .options =
                      [](const Settings& s) {
                        return options_of(phrase_fields(), s, "rotatory",
                                          feature_start("activated_general"));
                      },
                  .make =
                      [](Scope s, const ModelSizes& sizes, const Settings& settings) {
                        return std::make_unique<const RotatoryClassifier>(
                            s, sizes, options_with_places(phrase_fields(), settings, sizes),
                            attention_fields().read(settings, feature_start("activated_general")));
                      }});
  add(two_inputs("alternating", "additive", "Alternating co-attention",
                 "Lu, Yang, Batra, Parikh 2016",
                 "c0 = attend(q_0, F1), c2 = attend(c0, F2), c1 = attend(c2, F1)"));
  add(two_inputs("parallel", "activated_general", "Parallel co-attention",
                 "Lu, Yang, Batra, Parikh 2016; Fan, Feng, Zhao 2018",
                 "A = score(F1, F2), e1 = w_1 tanh(W_1 F1 + W_2 F2 A^T)"));
  add(two_inputs("multi_grained", "activated_general", "Multi-grained co-attention",
                 "Fan, Feng, Zhao 2018",
                 "coarse: attend(mean(F2), F1), attend(mean(F1), F2); fine: F1 by max_j A, F2 by "
                 "max_i A"));
  add(two_inputs("siamese", "self_attentive", "Both inputs by themselves", "Bromley et al. 1993",
                 "c1 = attend(u, F1), c2 = attend(u, F2)"));
  rows.push_back({.name = "transformer",
                  .takes = Takes::pair,
                  .gives = Gives::label,
                  .title = "Both texts through one Transformer encoder",
                  .paper = "Vaswani et al. 2017; Reimers, Gurevych 2019; Tay et al. 2021",
                  .equation = "y = W relu(V [a; b; |a - b|; a b]),  a = mean(encoder(x_1))",
                  .options = [](const Settings& s) { return transformer_option_list(s); },
                  .make =
                      [](Scope s, const ModelSizes& sizes, const Settings& settings) {
                        TransformerOptions o = transformer_options(settings);
                        o.longest = sizes.longest;
                        return std::make_unique<const TransformerPair>(s, sizes, o);
                      }});
  std::vector<ModelEntry> wide;
  for (const Takes takes : {Takes::pair, Takes::phrase}) wide.push_back(wide_row(takes, rows));
  add(std::move(wide));
  return rows;
}

}  // namespace fovea
