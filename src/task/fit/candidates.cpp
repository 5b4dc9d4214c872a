#include "fovea/task/fit/candidates.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/model/table.h"
#include "fovea/task/solver.h"

namespace fovea {
namespace {

// Small data wants small models that forget a lot while they learn, and knows nothing new after a
// few times through it.
struct Sizes {
  std::string width, embed, dropout, batch;
  int64_t epochs;
};
Sizes sizes_for(int64_t examples) {
  if (examples < 2'000) return {"64", "64", "0.5", "16", 25};
  if (examples < 20'000) return {"100", "100", "0.5", "32", 16};
  if (examples < 100'000) return {"128", "128", "0.4", "64", 10};
  return {"192", "128", "0.3", "64", 6};
}
int64_t steps_of(int64_t epochs, int64_t examples, const Settings& settings) {
  const int64_t batch = whole_of("batch", settings.get("batch", "32"));
  return epochs * ((examples + batch - 1) / batch);
}

// The options of attention models that read words; with vectors, as these are or learned on.
class TextModels {
 public:
  TextModels(const Audit& audit, const CandidateAsked& asked)
      : sizes_(sizes_for(audit.examples)), examples_(audit.examples), vectors_(asked.vectors) {}

  const Sizes& sizes() const { return sizes_; }

  Candidate make(const std::string& name, const std::string& model, const Settings& more) const {
    Settings settings{{"model", model},        {"width", sizes_.width},
                      {"embed", sizes_.embed}, {"dropout", sizes_.dropout},
                      {"batch", sizes_.batch}, {"rate", "0.001"}};
    if (!vectors_.empty()) {
      settings.set({{"vectors", vectors_}, {"tune_vectors", "true"}});
    }
    settings.set(more);
    return {name, settings, false, steps_of(sizes_.epochs, examples_, settings)};
  }
  // Vectors that stay as they are leave less that could be learned by heart.
  Candidate fixed(const std::string& name, const std::string& model, Settings more) const {
    more.set({{"tune_vectors", "false"}, {"dropout", "0.2"}});
    return make(name, model, more);
  }

 private:
  Sizes sizes_;
  int64_t examples_;
  std::string vectors_;
};

std::vector<Candidate> classifiers(const Audit& audit, const CandidateAsked& asked) {
  const TextModels models(audit, asked);
  const bool is_long = audit.mean_letters > 600;
  const std::string longest = is_long ? "250" : "400";
  const Settings all_have{{"longest", longest}, {"min_count", "1"}};
  const auto attention = [&](const std::string& name, const std::string& model,
                             const Settings& more) {
    Settings settings = all_have;
    settings.set("word_dropout", "0.1");
    settings.set(more);
    return models.make(name, model, settings);
  };
  std::vector<Candidate> all{{"most_frequent", {{"model", "most_frequent"}}, true},
                             {"linear", {{"model", "linear"}}, true},
                             {"linear-3", {{"model", "linear"}, {"ngram_words", "3"}}, true}};
  all.push_back(attention("wide", "wide", {}));
  if (is_long) {
    all.push_back(models.make("hierarchical", "hierarchical",
                              {{"longest", "400"}, {"min_count", "2"}, {"dropout", "0.3"}}));
  }
  if (asked.vectors.empty()) {
    all.push_back(attention("rnn", "rnn", {}));
  } else {
    all.push_back(models.fixed("wide-fixed", "wide", all_have));
    all.push_back(attention("rnn", "rnn", {}));
    all.push_back(attention("wide-slow", "wide", {{"dropout", "0.3"}, {"rate", "0.0005"}}));
  }
  all.push_back(attention("wide-lstm", "wide", {{"cell", "lstm"}, {"rate", "0.002"}}));
  if (asked.vectors.empty()) {
    all.push_back(attention("wide-rare", "wide", {{"min_count", "2"}, {"rate", "0.002"}}));
  }
  all.push_back(attention("wide-forgetful", "wide", {{"dropout", "0.6"}, {"word_dropout", "0.3"}}));
  if (audit.examples >= 3'000) {
    const Settings transformer{
        {"model", "transformer"}, {"layers", "1"},    {"width", "128"},
        {"heads", "4"},           {"hidden", "256"},  {"dropout", "0.3"},
        {"longest", longest},     {"rate", "0.0005"}, {"batch", models.sizes().batch},
        {"warmup", "100"}};
    all.push_back({"transformer", transformer, false,
                   steps_of(models.sizes().epochs, audit.examples, transformer)});
  }
  all.push_back(attention("rnn-additive", "rnn", {{"score", "additive"}}));
  all.push_back(attention("capsules", "capsules", {}));
  return all;
}

// Of two texts, or of a phrase in its sentence.
std::vector<Candidate> two_inputs(const Audit& audit, const CandidateAsked& asked) {
  const TextModels models(audit, asked);
  const bool phrases = asked.task == "aspect";
  std::vector<Candidate> all{{"most_frequent", {{"model", "most_frequent"}}, true},
                             {"linear", {{"model", "linear"}}, true}};
  const auto wide = [&](const std::string& beside) {
    all.push_back(models.make("wide-" + beside, "wide", {{"beside", beside}}));
  };
  const std::string first = phrases ? "rotatory" : "multi_grained";
  wide("interactive");
  wide(first);
  const std::vector<std::string> names{first,      "interactive", phrases ? "multi_grained" : "",
                                       "parallel", "alternating", "siamese"};
  for (const std::string& name : names) {
    if (name.empty()) continue;
    all.push_back(models.make(name, name, {}));
    if (!asked.vectors.empty() && name == first) {
      all.push_back(models.fixed(name + "-fixed", name, {}));
    }
  }
  return all;
}

std::vector<Candidate> taggers(const Audit& audit, const CandidateAsked& asked) {
  const bool small = audit.examples < 3'000;
  const std::string width = small ? "100" : "160", letters = "64";
  const auto rnn = [&](const Settings& more) {
    Settings settings{{"model", "rnn"},     {"cell", "lstm"},         {"width", width},
                      {"letters", letters}, {"dropout", "0.4"},       {"min_count", "2"},
                      {"batch", "16"},      {"word_dropout", "0.05"}, {"rate", "0.002"}};
    if (asked.vectors.empty()) {
      settings.set("embed", "100");
    } else {
      settings.set("vectors", asked.vectors);
      settings.set("min_count", "1");
    }
    settings.set(more);
    return settings;
  };
  const std::string first = audit.entities ? "crf" : "softmax",
                    second = audit.entities ? "softmax" : "crf";
  return {{"most_frequent", {{"model", "most_frequent"}}, true},
          {"crf", {{"model", "crf"}}, true},
          {"rnn-" + first, rnn({{"output", first}}), false},
          {"rnn-" + second, rnn({{"output", second}}), false},
          {"rnn-attention", rnn({{"output", first}, {"score", "scaled"}}), false},
          {"rnn-gru", rnn({{"output", first}, {"cell", "gru"}, {"rate", "0.001"}}), false},
          {"transformer",
           {{"model", "transformer"},
            {"position", "rotary"},
            {"layers", "2"},
            {"width", "128"},
            {"heads", "4"},
            {"hidden", "256"},
            {"letters", letters},
            {"dropout", "0.3"},
            {"min_count", "2"},
            {"batch", "32"},
            {"rate", "0.001"},
            {"warmup", "200"},
            {"output", first}},
           false}};
}

// Small corpora want small models, few pieces (Sennrich, Zhang 2019) and more steps in an epoch.
struct TranslatorSizes {
  int64_t pieces;
  std::string batch, width, layers, model_width, hidden;  // width: of rnn; the rest of transformer
};
TranslatorSizes translator_sizes(int64_t examples) {
  if (examples < 2'000) return {500, "16", "128", "2", "64", "128"};
  if (examples < 10'000) return {2'000, "32", "192", "3", "192", "384"};
  if (examples <= 20'000) return {4'000, "64", "192", "3", "192", "384"};
  return {8'000, "64", "192", "3", "192", "384"};
}

std::vector<Candidate> translators(const Audit& audit) {
  const TranslatorSizes s = translator_sizes(audit.examples);
  // Every letter is a piece of its own, and some more are to be left for what letters make up.
  const std::string pieces = say("unigram:", std::max(s.pieces, 2 * audit.letters));
  const auto with = [&](const std::string& tokens, const Settings& more) {
    Settings settings{{"tokens", tokens}, {"batch", s.batch}, {"smoothing", "0.1"}, {"beam", "4"}};
    settings.set(more);
    return settings;
  };
  const Settings rnn{{"model", "rnn"},   {"embed", s.width}, {"width", s.width},
                     {"dropout", "0.3"}, {"rate", "0.002"},  {"warmup", "100"}};
  const Settings transformer{
      {"model", "transformer"}, {"layers", s.layers}, {"width", s.model_width}, {"heads", "4"},
      {"hidden", s.hidden},     {"dropout", "0.2"},   {"rate", "0.001"},        {"warmup", "400"}};
  // Few words, each seen often, need no pieces; pieces keep the output layer, and with it a step,
  // small where words are many.
  const bool few_words =
      audit.known_words > 0 && audit.known_words < 3'000 && audit.rare_words < 0.05;
  if (few_words) {
    return {{"rnn-words", with("auto", rnn), false},
            {"transformer-words", with("auto", transformer), false},
            {"rnn-pieces", with(pieces, rnn), false},
            {"transformer-pieces", with(pieces, transformer), false}};
  }
  Settings wide = with(pieces, rnn);
  wide.set({{"embed", "256"}, {"width", "256"}, {"dropout", "0.35"}});
  return {{"rnn", with(pieces, rnn), false},
          {"transformer", with(pieces, transformer), false},
          {"rnn-wide", wide, false}};
}

std::vector<Candidate> language_models(const Audit& audit) {
  const bool small = static_cast<double>(audit.examples) * audit.mean_letters < 300'000;
  const auto transformer = [&](const std::string& layers, const std::string& width) {
    return Settings{{"model", "transformer"},
                    {"layers", layers},
                    {"width", width},
                    {"heads", "4"},
                    {"context", "128"},
                    {"batch", "16"},
                    {"dropout", small ? "0.2" : "0.05"},
                    {"rate", "0.002"},
                    {"warmup", "50"}};
  };
  return {{"ngram-4", {{"model", "ngram"}, {"order", "4"}}, true},
          {"ngram-6", {{"model", "ngram"}, {"order", "6"}}, true},
          {"ngram-8", {{"model", "ngram"}, {"order", "8"}}, true},
          {"transformer-2", transformer("2", "128"), false},
          {"transformer-4", transformer("4", "128"), false}};
}

std::vector<Candidate> regressors(const Audit& audit) {
  if (audit.from_text) {
    const Sizes s = sizes_for(audit.examples);
    const Settings rnn{{"model", "rnn"},       {"width", s.width}, {"embed", s.embed},
                       {"dropout", s.dropout}, {"batch", s.batch}, {"rate", "0.001"}};
    Settings mean = rnn;
    mean.set({{"score", "none"}, {"summary", "mean"}});
    return {{"mean", {{"model", "mean"}}, true},
            {"linear", {{"model", "linear"}}, true},
            {"rnn", rnn, false},
            {"rnn-mean", mean, false}};
  }
  return {{"mean", {{"model", "mean"}}, true},
          {"least_squares", {{"model", "least_squares"}}, true},
          {"nearest", {{"model", "nearest"}}, true},
          {"kernel", {{"model", "kernel"}, {"rate", "0.03"}}, false},
          {"kernel-slow", {{"model", "kernel"}, {"rate", "0.005"}}, false},
          {"kernel-sparse", {{"model", "kernel"}, {"align", "entmax"}}, false}};
}

// Of a task that nothing more is known of: every model that fits, as it comes.
std::vector<Candidate> all_models(const Task& task) {
  std::vector<Candidate> all;
  for (const ModelEntry* model : models_for(task.takes, task.gives)) {
    all.push_back({model->name, {{"model", model->name}}, false});
  }
  return all;
}

}  // namespace

int64_t worth_training(double seconds, const Audit& audit) {
  const double words = static_cast<double>(audit.examples) * audit.mean_words;
  const double each = words == 0          ? 25
                      : words < 20'000    ? 6
                      : words < 100'000   ? 12
                      : words < 2'000'000 ? 25
                                          : 100;
  const double most = words < 300'000 ? 9 : 6;
  return static_cast<int64_t>(std::clamp(seconds / each, 1.0, most));  // a time may be endless
}

std::vector<Candidate> candidates(const Audit& audit, const CandidateAsked& asked) {
  std::vector<Candidate> all = asked.task == "classify"    ? classifiers(audit, asked)
                               : asked.task == "pair"      ? two_inputs(audit, asked)
                               : asked.task == "aspect"    ? two_inputs(audit, asked)
                               : asked.task == "label"     ? taggers(audit, asked)
                               : asked.task == "translate" ? translators(audit)
                               : asked.task == "lm"        ? language_models(audit)
                               : asked.task == "regress"   ? regressors(audit)
                                                           : all_models(find_task(asked.task));
  check(!all.empty(), "fit: there is no model to try for the task ", asked.task);
  int64_t trained = 0;
  std::erase_if(all,
                [&](const Candidate& one) { return !one.baseline && ++trained > asked.trained; });
  return all;
}

}  // namespace fovea
