#include "fovea/model/reader/rows.h"

#include "fovea/model/reader/attention_sum.h"
#include "fovea/model/reader/attentive.h"
#include "fovea/model/reader/bidaf.h"
#include "fovea/model/reader/impatient.h"
#include "fovea/model/reader/plain.h"
#include "fovea/model/reader/span_transformer.h"

namespace fovea {
namespace {

using Infos = std::vector<FieldInfo>;

// One query asks, so that only score and alignment can be chosen.
AttentionOptions attention_of(const Settings& settings, const std::string& score) {
  AttentionOptions start;
  start.score = score;
  AttentionOptions o = attention_fields().read(settings, start);
  o.query = "single";
  return o;
}
Infos with_attention(const Settings& settings, const std::string& score) {
  AttentionOptions start;
  start.score = score;
  Infos list = reader_fields().infos();
  for (FieldInfo& info : attention_options(settings, start)) {
    if (info.name != "query") list.push_back(std::move(info));
  }
  return list;
}

ModelEntry pooling_row(const std::string& name, const std::string& title, const std::string& paper,
                       const std::string& equation, const std::string& score, bool joint) {
  return {.name = name,
          .takes = Takes::passage,
          .gives = Gives::choice,
          .title = title,
          .paper = paper,
          .equation = equation,
          .options = [=](const Settings& s) { return with_attention(s, score); },
          .make =
              [=](Scope s, const ModelSizes& sizes, const Settings& settings) {
                return std::make_unique<const AttentiveReader>(
                    s, sizes, reader_fields().read(settings), attention_of(settings, score), joint);
              }};
}

std::vector<ModelEntry> cloze_rows() {
  return {
      {.name = "attention_sum",
       .takes = Takes::passage,
       .gives = Gives::choice,
       .title = "Attention-sum reader",
       .paper = "Kadlec, Schmid, Bajgar, Kleindienst 2016",
       .equation = "P(a) = sum of s_t where the passage says a,  s = softmax(f_t . g)",
       .options = [](const Settings& s) { return with_attention(s, "dot"); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const AttentionSumReader>(
                 s, sizes, reader_fields().read(settings), attention_of(settings, "dot"));
           }},
      pooling_row("attentive", "Attentive reader", "Hermann et al. 2015",
                  "r = sum_t s_t y_t,  g = tanh(W [r; u]),  P(a) = softmax(W_a . g)", "additive",
                  true),
      {.name = "impatient",
       .takes = Takes::passage,
       .gives = Gives::choice,
       .title = "Impatient reader: reads again at each word of the question",
       .paper = "Hermann et al. 2015",
       .equation = "r_i = sum_t s_it y_t + tanh(W r_{i-1}),  s_i = softmax(w . tanh(y_t, r_{i-1}, "
                   "q_i))",
       .options =
           [](const Settings&) {
             Infos list = reader_fields().infos();
             for (FieldInfo& info : attention_fields().infos()) {
               if (info.name == "score_width") list.push_back(std::move(info));
             }
             return list;
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const ImpatientReader>(
                 s, sizes, reader_fields().read(settings),
                 attention_fields().read(settings).score_width);
           }},
      pooling_row("stanford", "Stanford's attentive reader", "Chen, Bolton, Manning 2016",
                  "o = sum_t a_t p_t,  a = softmax(q W p_t),  P(a) = softmax(W_a . o)", "general",
                  false),
      {.name = "rnn",
       .takes = Takes::passage,
       .gives = Gives::choice,
       .title = "Recurrent layers over passage and question, without attention",
       .paper = "Hermann et al. 2015",
       .equation = "P(a) = softmax(W_a . rnn(passage, question))",
       .options = [](const Settings&) { return reader_fields().infos(); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const PlainReader>(s, sizes, reader_fields().read(settings));
           }},
  };
}

}  // namespace

std::vector<ModelEntry> reader_rows() {
  std::vector<ModelEntry> rows{
      {.name = "bidaf",
       .takes = Takes::passage,
       .gives = Gives::span,
       .title = "Bidirectional attention flow",
       .paper = "Seo, Kembhavi, Farhadi, Hajishirzi 2017",
       .equation = "S_tj = w . [h_t; u_j; h_t o u_j],  G = [h; u~; h o u~; h o h~]",
       .defaults = {{"dropout", "0.2"}, {"width", "100"}},
       .options = [](const Settings&) { return bidaf_fields().infos(); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const Bidaf>(s, sizes, bidaf_fields().read(settings));
           }},
      {.name = "transformer",
       .takes = Takes::passage,
       .gives = Gives::span,
       .title = "Transformer over question and passage",
       .paper = "Devlin, Chang, Lee, Toutanova 2018",
       .equation = "start, end = softmax(W transformer([question; passage]))",
       .defaults = {{"layers", "2"}, {"width", "128"}, {"dropout", "0.1"}, {"warmup", "100"}},
       .options =
           [](const Settings& s) {
             Infos list = transformer_option_list(s);
             for (FieldInfo& info : spelling_fields().infos()) list.push_back(std::move(info));
             return list;
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             TransformerOptions o = transformer_options(settings);
             o.longest = 2 * sizes.longest + 2;
             return std::make_unique<const SpanTransformer>(s, sizes, o,
                                                            spelling_fields().read(settings));
           }},
  };
  for (ModelEntry& row : cloze_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace fovea
