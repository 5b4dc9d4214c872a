#include "fovea/model/table.h"

#include <algorithm>
#include <memory>

#include "fovea/base/names.h"
#include "fovea/model/baselines.h"
#include "fovea/model/document/hierarchical_classifier.h"
#include "fovea/model/graph/rows.h"
#include "fovea/model/linear/wide.h"
#include "fovea/model/machine/rows.h"
#include "fovea/model/memory/rows.h"
#include "fovea/model/numbers/kernel_regression.h"
#include "fovea/model/option_lists.h"
#include "fovea/model/pair/rows.h"
#include "fovea/model/reader/rows.h"
#include "fovea/model/recurrent/capsule_classifier.h"
#include "fovea/model/recurrent/classifier.h"
#include "fovea/model/recurrent/tagger.h"
#include "fovea/model/seq2seq/encoder_decoder.h"
#include "fovea/model/seq2seq/via_translator.h"
#include "fovea/model/sight/rows.h"
#include "fovea/model/sight/word_rows.h"
#include "fovea/model/text_encoder.h"
#include "fovea/model/transformer/heads.h"
#include "fovea/model/transformer/language_model.h"
#include "fovea/model/transformer/translator.h"

namespace fovea {
namespace {

using Infos = std::vector<FieldInfo>;

Infos without(Infos list, std::string_view name) {
  std::erase_if(list, [&](const FieldInfo& info) { return info.name == name; });
  return list;
}

AttentionOptions attention_of(const Settings& settings, const std::string& score) {
  AttentionOptions start;
  start.score = score;
  return attention_fields().read(settings, start);
}
Infos attention_infos(const Settings& settings, const std::string& score) {
  AttentionOptions start;
  start.score = score;
  return attention_options(settings, start);
}
// The summary counts where there is no attention.
Infos with_summary(Infos list, const Settings& settings, const std::string& score) {
  return attends(attention_of(settings, score)) ? without(std::move(list), "summary") : list;
}

// Which summary a Transformer's classifier takes.
struct SummaryOptions {
  std::string summary = "mean";
};
const Fields<SummaryOptions>& summary_fields() {
  static const Fields<SummaryOptions> fields{{"summary", &SummaryOptions::summary,
                                              "what stands for a text: mean or first state",
                                              one_of({"mean", "first"})}};
  return fields;
}

TransformerOptions transformer_with_places(const Settings& settings, const ModelSizes& sizes) {
  TransformerOptions o = transformer_options(settings);
  o.longest = sizes.longest;
  return o;
}

AttentionOptions via_start() {
  AttentionOptions start;
  start.score = "additive";
  return start;
}

std::vector<ModelEntry> recurrent_rows() {
  return {
      {.name = "rnn",
       .takes = Takes::text,
       .gives = Gives::label,
       .title = "Recurrent states pooled by attention",
       .paper = "Yang et al. 2016; Lin et al. 2017",
       .equation = "y = W sum_t a_t h_t,  a = align(score(q, h_t)),  q learned",
       .options =
           [](const Settings& s) {
             return with_summary(joined(recurrent_classifier_fields().infos(),
                                        attention_infos(s, "self_attentive")),
                                 s, "self_attentive");
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const RecurrentClassifier>(
                 s, sizes, recurrent_classifier_fields().read(settings),
                 attention_of(settings, "self_attentive"));
           }},
      {.name = "wide",
       .takes = Takes::text,
       .gives = Gives::label,
       .title = "Linear model beside pooled recurrent states",
       .paper = "Cheng et al. 2016; Yang et al. 2016; Wang, Manning 2012",
       .equation = "y = a W x + b V sum_t a_t h_t,  a and b chosen on validation",
       .defaults = {{"width", "100"},
                    {"embed", "100"},
                    {"dropout", "0.5"},
                    {"word_dropout", "0.1"},
                    {"batch", "32"}},
       .options =
           [](const Settings& s) {
             return with_summary(
                 joined(linear_model_fields().infos(), recurrent_classifier_fields().infos(),
                        attention_infos(s, "self_attentive")),
                 s, "self_attentive");
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const WideClassifier>(
                 s, sizes, linear_model_fields().read(settings),
                 std::make_unique<const RecurrentClassifier>(
                     s / "attention", sizes, recurrent_classifier_fields().read(settings),
                     attention_of(settings, "self_attentive")));
           }},
      {.name = "capsules",
       .takes = Takes::text,
       .gives = Gives::label,
       .title = "Recurrent states under a capsule for each class",
       .paper = "Wang, Sun, Han, Zhu 2018",
       .equation = "c_c = sum_t a_ct h_t,  p_c = sigmoid(w_c . c_c + b_c),  r_c = p_c c_c",
       .unread = {"smoothing"},
       .options =
           [](const Settings& s) {
             return joined(recurrent_fields().infos(),
                           without(without(attention_infos(s, "dot"), "score"), "query"));
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const CapsuleClassifier>(
                 s, sizes, recurrent_fields().read(settings), attention_of(settings, "dot"));
           }},
      {.name = "rnn",
       .takes = Takes::text,
       .gives = Gives::labels,
       .title = "Recurrent tagger, with or without attention",
       .paper = "Huang, Xu, Yu 2015; dos Santos, Zadrozny 2014",
       .equation = "y_t = W [h_t; c_t] + b,  c_t = attend(h_t, h_1 .. h_T)",
       .options =
           [](const Settings& s) {
             return joined(recurrent_fields().infos(), spelling_fields().infos(),
                           tag_output_fields().infos(), attention_infos(s, "none"));
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const RecurrentTagger>(
                 s, sizes, recurrent_fields().read(settings), attention_of(settings, "none"),
                 spelling_fields().read(settings), tag_output_fields().read(settings));
           }},
      {.name = "rnn",
       .takes = Takes::text,
       .gives = Gives::tokens,
       .title = "Recurrent encoder-decoder",
       .paper = "Cho et al. 2014; Bahdanau, Cho, Bengio 2014; Luong, Pham, Manning 2015",
       .equation = "c_t = attend(s_t, h_1 .. h_T),  p(y_t) = softmax(W_o tanh(W_c [c_t; s_t]))",
       .options =
           [](const Settings& s) {
             return with_summary(
                 joined(encoder_decoder_fields().infos(), attention_infos(s, "additive")), s,
                 "additive");
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const EncoderDecoder>(s, sizes,
                                                           encoder_decoder_fields().read(settings),
                                                           attention_of(settings, "additive"));
           }},
      {.name = "via",
       .takes = Takes::text,
       .gives = Gives::tokens,
       .title = "Reads words and letters, writes letters",
       .paper = "Zhao, Zhang 2018",
       .equation = "c_w = attend(s_t, words), c_c = attend([s_t; c_w], letters), p(y_t) = "
                   "softmax(W_o tanh(W_c [c_w; c_c; s_t]))",
       .reads_letters = true,
       .defaults = {{"target_tokens", "chars"}},
       .options =
           [](const Settings& s) {
             return joined(via_fields().infos(), attention_options_of("via", s, via_start()));
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const ViaTranslator>(
                 s, sizes, via_fields().read(settings),
                 attention_fields().read(settings, via_start()));
           }},
  };
}

TextEncoderOptions encoder_with_places(const Settings& settings, const ModelSizes& sizes) {
  TextEncoderOptions o = text_encoder_fields().read(settings);
  o.longest = sizes.longest;
  return o;
}

std::vector<ModelEntry> document_rows() {
  const auto start = [] {
    AttentionOptions o;
    o.score = "self_attentive";
    return o;
  };
  ModelEntry row{
      .name = "hierarchical",
      .takes = Takes::text,
      .gives = Gives::label,
      .title = "Attention over words, and over the sentences they make",
      .paper = "Yang et al. 2016",
      .equation = "c_s = attend(u_w, words of s), y = W attend(u_s, GRU(c_1 .. c_n)) + b",
      .reads_sentences = true,
      .options =
          [start](const Settings& s) {
            return without_idle_encoder(joined(text_encoder_fields().infos(),
                                               attention_options_of("hierarchical", s, start())),
                                        s);
          },
      .make =
          [start](Scope s, const ModelSizes& sizes, const Settings& settings) {
            return std::make_unique<const HierarchicalClassifier>(
                s, sizes, encoder_with_places(settings, sizes),
                attention_fields().read(settings, start()));
          }};
  ModelEntry mean = row;
  mean.name = "hierarchical_mean";
  mean.title = "The mean of words, and of the sentences they make";
  mean.equation = "c_s = mean(words of s), y = W mean(GRU(c_1 .. c_n)) + b";
  mean.options = [](const Settings& s) {
    return without_idle_encoder(text_encoder_fields().infos(), s);
  };
  mean.make = [](Scope s, const ModelSizes& sizes, const Settings& settings) {
    return std::make_unique<const HierarchicalClassifier>(
        s, sizes, encoder_with_places(settings, sizes), std::nullopt);
  };
  return {row, mean};
}

// What does not look at the phrase.
std::vector<ModelEntry> sentence_rows() {
  ModelEntry row = recurrent_rows()[0];
  row.takes = Takes::phrase;
  row.title = "The sentence alone, whatever its phrase";
  return {row};
}

std::vector<ModelEntry> transformer_rows() {
  const std::string paper = "Vaswani et al. 2017";
  return {
      {.name = "transformer",
       .takes = Takes::text,
       .gives = Gives::label,
       .title = "Transformer encoder and a summary of its states",
       .paper = "Vaswani et al. 2017; Devlin et al. 2018",
       .equation = "y = W mean_t(encoder(x))_t + b",
       .options =
           [](const Settings& s) {
             return joined(transformer_option_list(s), summary_fields().infos(),
                           init_fields().infos(), transformer_word_fields().infos());
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const TransformerClassifier>(
                 s, sizes, transformer_with_places(settings, sizes),
                 summary_fields().read(settings).summary);
           }},
      {.name = "transformer",
       .takes = Takes::text,
       .gives = Gives::labels,
       .title = "Transformer encoder, a label for each state",
       .paper = "Vaswani et al. 2017; Devlin et al. 2018",
       .equation = "y_t = W encoder(x)_t + b",
       .options =
           [](const Settings& s) {
             return joined(transformer_option_list(s), spelling_fields().infos(),
                           tag_output_fields().infos(), init_fields().infos(),
                           transformer_word_fields().infos());
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const TransformerTagger>(
                 s, sizes, transformer_with_places(settings, sizes),
                 spelling_fields().read(settings), tag_output_fields().read(settings));
           }},
      {.name = "transformer",
       .takes = Takes::text,
       .gives = Gives::tokens,
       .title = "Transformer encoder and decoder",
       .paper = paper,
       .equation = "p(y_t) = softmax(W decoder(y_1 .. y_(t-1), encoder(x)))",
       .options =
           [](const Settings& s) {
             return joined(transformer_option_list(s, TransformerPart::both), tied_fields().infos(),
                           shared_fields().infos(), transformer_word_fields().infos());
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const TransformerTranslator>(
                 s, sizes, transformer_with_places(settings, sizes));
           }},
      {.name = "transformer",
       .takes = Takes::text,
       .gives = Gives::next,
       .title = "Transformer decoder alone (GPT)",
       .paper = "Radford et al. 2018",
       .equation = "p(x_t) = softmax(W decoder(x_1 .. x_(t-1)))",
       .options =
           [](const Settings& s) {
             return joined(transformer_option_list(s, TransformerPart::decoder),
                           tied_fields().infos());
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const TransformerLanguageModel>(
                 s, sizes, transformer_with_places(settings, sizes));
           }},
      {.name = "transformer",
       .takes = Takes::text,
       .gives = Gives::hidden,
       .title = "Transformer encoder that finds hidden tokens (BERT)",
       .paper = "Devlin et al. 2018",
       .equation = "p(x_m) = softmax(E norm(gelu(W encoder(x)_m)) + b)",
       .options =
           [](const Settings& s) {
             return joined(transformer_option_list(s), tied_fields().infos());
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const MaskedLanguageModel>(
                 s, sizes, transformer_with_places(settings, sizes));
           }},
  };
}

// The models of a label for a text, with one output that is the number itself.
std::vector<ModelEntry> text_number_rows() {
  std::vector<ModelEntry> rows;
  for (auto part : {recurrent_rows, transformer_rows}) {
    for (ModelEntry& entry : part()) {
      if (entry.gives != Gives::label || entry.name == "capsules" || entry.name == "wide") continue;
      entry.gives = Gives::number;
      entry.make = [make = entry.make](Scope s, ModelSizes sizes, const Settings& settings) {
        sizes.labels = 1;
        return make(s, sizes, settings);
      };
      rows.push_back(std::move(entry));
    }
  }
  return rows;
}

std::vector<ModelEntry> number_rows() {
  return {
      {.name = "kernel",
       .takes = Takes::numbers,
       .gives = Gives::number,
       .title = "Attention over the known examples",
       .paper = "Nadaraya 1964, Watson 1964",
       .equation = "f(q) = sum_j align_j(score(q, k_j)) v_j",
       .options = [](const Settings& s) { return without(attention_infos(s, "kernel"), "query"); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const KernelRegression>(s, sizes,
                                                             attention_of(settings, "kernel"));
           }},
      {.name = "mean",
       .takes = Takes::numbers,
       .gives = Gives::number,
       .title = "The mean of the known answers",
       .paper = "",
       .equation = "f(q) = mean_j v_j",
       .options = [](const Settings&) { return Infos(); },
       .make = [](Scope, const ModelSizes&,
                  const Settings&) { return std::make_unique<const MeanRegression>(); }},
  };
}

std::vector<ModelEntry>& rows() {
  static std::vector<ModelEntry> all = [] {
    std::vector<ModelEntry> list;
    for (auto part : {recurrent_rows, document_rows, pair_rows, sentence_rows, transformer_rows,
                      text_number_rows, number_rows, graph_rows, link_rows, baseline_rows,
                      memory_rows, machine_rows, reader_rows, sight_rows, sight_word_rows}) {
      for (ModelEntry& entry : part()) list.push_back(std::move(entry));
    }
    for (ModelEntry& entry : list) {
      entry.options = [of = entry.options](const Settings& s) {
        return without_idle_vectors(of(s), s);
      };
    }
    return list;
  }();
  return all;
}

}  // namespace

const std::vector<ModelEntry>& models() { return rows(); }

std::vector<const ModelEntry*> models_for(Takes takes, Gives gives) {
  std::vector<const ModelEntry*> fit;
  for (const ModelEntry& entry : rows()) {
    if (entry.takes == takes && entry.gives == gives) fit.push_back(&entry);
  }
  return fit;
}

const ModelEntry& find_model(std::string_view name, Takes takes, Gives gives) {
  std::vector<std::string> known;
  for (const ModelEntry* entry : models_for(takes, gives)) {
    if (entry->name == name) return *entry;
    known.push_back(entry->name);
  }
  fail(unknown_name("model", name, known));
}

void add_model(ModelEntry entry) {
  for (const ModelEntry* known : models_for(entry.takes, entry.gives)) {
    check(known->name != entry.name, "models: there is one called '", entry.name,
          "' that takes and gives the same");
  }
  rows().push_back(std::move(entry));
}

}  // namespace fovea
