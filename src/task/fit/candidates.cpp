#include "fovea/task/fit/candidates.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/model/table.h"
#include "fovea/task/solver.h"

namespace fovea {
namespace {

// Small data wants small models that forget a lot while they learn.
struct Sizes {
  std::string width, embed, dropout, batch;
};
Sizes sizes_for(int64_t examples) {
  if (examples < 2'000) return {"64", "64", "0.5", "16"};
  if (examples < 20'000) return {"100", "100", "0.5", "32"};
  if (examples < 100'000) return {"128", "128", "0.4", "64"};
  return {"192", "128", "0.3", "64"};
}

std::vector<Candidate> classifiers(const Audit& audit, const CandidateAsked& asked) {
  const Sizes s = sizes_for(audit.examples);
  const bool is_long = audit.mean_letters > 600;
  const std::string longest = is_long ? "250" : "400";
  std::vector<Candidate> all{{"most_frequent", {{"model", "most_frequent"}}, true},
                             {"linear", {{"model", "linear"}}, true},
                             {"linear-3", {{"model", "linear"}, {"ngram_words", "3"}}, true}};
  const auto attention = [&](const std::string& model) {
    Settings settings{{"model", model},        {"width", s.width}, {"dropout", s.dropout},
                      {"word_dropout", "0.1"}, {"batch", s.batch}, {"longest", longest},
                      {"rate", "0.001"},       {"min_count", "1"}};
    if (asked.vectors.empty()) {
      settings.set("embed", s.embed);
    } else {
      settings.set("vectors", asked.vectors);
      settings.set("tune_vectors", "false");
    }
    return settings;
  };
  const auto with = [](Settings settings, const Settings& more) {
    settings.set(more);
    return settings;
  };
  all.push_back({"wide", with(attention("wide"), {}), false});
  all.push_back({"rnn", with(attention("rnn"), {}), false});
  all.push_back(
      {"wide-lstm", with(attention("wide"), {{"cell", "lstm"}, {"rate", "0.002"}}), false});
  if (!asked.vectors.empty()) {
    all.push_back({"wide-tuned",
                   with(attention("wide"), {{"tune_vectors", "true"}, {"rate", "0.0005"}}), false});
  } else {
    all.push_back(
        {"wide-rare", with(attention("wide"), {{"min_count", "2"}, {"rate", "0.002"}}), false});
  }
  if (audit.examples >= 3'000) {
    all.push_back({"transformer",
                   {{"model", "transformer"},
                    {"layers", "1"},
                    {"width", "128"},
                    {"heads", "4"},
                    {"hidden", "256"},
                    {"dropout", "0.3"},
                    {"longest", longest},
                    {"batch", s.batch},
                    {"rate", "0.0005"},
                    {"warmup", "100"}},
                   false});
  }
  all.push_back({"rnn-additive", with(attention("rnn"), {{"score", "additive"}}), false});
  all.push_back({"capsules", with(attention("capsules"), {}), false});
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
    return {{"rnn", rnn, false}, {"rnn-mean", mean, false}};
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
  const double each = words == 0 ? 25 : words < 20'000 ? 6 : words < 100'000 ? 12 : 25;
  return std::clamp<int64_t>(static_cast<int64_t>(seconds / each), 1, 6);
}

std::vector<Candidate> candidates(const Audit& audit, const CandidateAsked& asked) {
  std::vector<Candidate> all = asked.task == "classify"    ? classifiers(audit, asked)
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
