// label: a label for every token.
#include <algorithm>
#include <cmath>

#include "fovea/attention/recorder.h"
#include "fovea/base/utf8.h"
#include "fovea/base/words.h"
#include "fovea/data/asked_tokens.h"
#include "fovea/data/builtin.h"
#include "fovea/data/examples.h"
#include "fovea/data/tag_features.h"
#include "fovea/data/tokenizer.h"
#include "fovea/model/linear/crf_tagger.h"
#include "fovea/task/fitting_solver.h"
#include "fovea/task/init.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"
#include "fovea/task/names.h"
#include "fovea/task/sparse.h"
#include "fovea/task/vectors.h"
#include "fovea/train/label_metrics.h"

namespace fovea {
namespace {

// A word with the three on either side of it.
std::string around(const std::vector<std::string>& words, size_t t) {
  std::string text = t > 3 ? "…" : "";
  for (size_t i = t > 3 ? t - 3 : 0; i < std::min(words.size(), t + 4); ++i) {
    text += (text.empty() ? "" : " ") + (i == t ? "[" + words[i] + "]" : words[i]);
  }
  return text + (t + 4 < words.size() ? " …" : "");
}

// Tags that mark entities: B-PER, I-LOC, O.
bool marks_entities(const Vocabulary& tags) {
  return std::ranges::any_of(tags.names(), [](const std::string& tag) {
    return tag.starts_with("B-") || tag.starts_with("I-");
  });
}

class Label final : public FittingSolver<Tagged> {
 public:
  Label(const Config& config, Purpose purpose, const std::string& folder)
      : FittingSolver(config, purpose, folder) {
    if (folder.empty()) {
      learn_vocabularies();
    } else {
      words_ = Tokenizer::load(folder, "words");
      alphabet_ = Tokenizer::load(folder, "letters");
      tags_ = load_names(folder, "labels");
    }
    asked_ = AskedTokens(
        config.tokens == "words" ? words_->split_as("words", words_->options().rules) : *words_,
        config.tokens == "auto");
    if (purpose == Purpose::learn) parts();
    if (config.settings.has("feature_least")) {
      features_ = folder.empty() ? learn_features() : TagFeatures::load(folder, "features");
    }
    take_model(model<Scorer>({.vocabulary = words_->size(),
                              .alphabet = alphabet_->size(),
                              .labels = tags_.size(),
                              .sparse = features_ ? features_->size() : 0,
                              .longest = config.longest}));
    if (purpose == Purpose::learn) {
      start_from_encoder(config, parameters_);
      start_from_vectors(config, parameters_, *words_);
    }
  }

  void save_vocabulary(const std::string& folder) const override {
    words_->save(folder, "words");
    alphabet_->save(folder, "letters");
    save_names(folder, "labels", tags_);
    if (features_) features_->save(folder, "features");
  }

  Loss loss(int64_t number) override {
    const Fitted::Examples chosen = known(batch(number));
    return {model_->loss(chosen.inputs, chosen.targets, config_.smoothing),
            chosen.targets.elements(), chosen.targets.elements()};
  }

  std::vector<Metric> validate() override { return measure(validation_examples()).values(); }
  Evaluation evaluate(const std::string& part) override { return measure(examples(part), true); }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    std::vector<Tagged> examples;
    std::vector<std::vector<Token>> tokens;
    for (const std::string& line : lines) {
      tokens.push_back(asked_.of(line).pieces_with_places(line));
      examples.push_back(words_of(tokens.back()));
    }
    std::vector<std::vector<Prediction>> all;
    for (const Labels& labels : answer(examples)) {
      Prediction prediction{joined(labels.tags), labels.score};
      const size_t i = all.size();
      if (options.details) add_details(prediction, labels, lines[i], tokens[i]);
      all.push_back({std::move(prediction)});
    }
    return all;
  }

  Drawing attend(const std::string& input) const override {
    const Tagged example = words_of(asked_.of(input).pieces_with_places(input));
    check(!example.words.empty(), "attend: the input has no words");
    Recorder recorder(capture_of(example.words.size()));
    const auto labels = answer({example})[0];
    PlacedTokens tokens = placed_tokens(asked_.of(input), input);
    tokens.pieces = example.words;
    return {joined(labels.tags),
            maps_of(recorder, 0, [&](const std::string&) { return within(tokens); })};
  }

 protected:
  std::vector<Tagged> read(const std::string& path) const override {
    ReadSummary summary;
    auto sentences = read_tagged(path, read_options(config_), &summary);
    note_file(summary);
    return sentences;
  }
  std::vector<Tagged> generate(const std::string&, int64_t n, Random random) const override {
    return generate_tags(n > 0 ? n : 4'000, random);
  }
  Lengths lengths_of(const Tagged& e) const override {
    return {static_cast<int64_t>(e.words.size())};
  }
  std::vector<std::string> labels_of(const Tagged& e) const override { return e.tags; }
  double unknown_part(const std::vector<Tagged>& of) const override {
    const std::vector<int32_t> ids = word_ids(of);
    return unknown_part_of({&ids});
  }

 private:
  struct Labels {
    std::vector<std::string> tags;
    std::vector<double> scores;  // log-probability of each
    double score = 0;            // of all of them
  };

  void add_details(Prediction& prediction, const Labels& labels, const std::string& line,
                   const std::vector<Token>& tokens) const {
    for (size_t i = 0; i < tokens.size(); ++i) {
      prediction.tokens.push_back(
          {std::string(tokens[i].text), place_of(tokens[i]), labels.tags[i], labels.scores[i]});
    }
    if (!marks_entities(tags_)) return;
    for (const EntitySpan& span : entity_spans(labels.tags)) {
      const auto &first = *prediction.tokens[span.begin].place,
                 &last = *prediction.tokens[span.end - 1].place;
      const auto size = static_cast<size_t>(last.end - first.begin);
      const auto least = *std::min_element(labels.scores.begin() + static_cast<int64_t>(span.begin),
                                           labels.scores.begin() + static_cast<int64_t>(span.end));
      prediction.entities.push_back(
          {std::string(span.type), line.substr(static_cast<size_t>(first.begin), size),
           TextPlace{first.begin, last.end, first.char_begin, last.char_end},
           static_cast<int64_t>(span.begin), static_cast<int64_t>(span.end) - 1, std::exp(least)});
    }
  }

  void learn_vocabularies() {
    check(config_.tokens == "auto" || config_.tokens == "words" || config_.tokens == "spaces",
          "label: the file says what a word is; tokens says how a text to be labelled is split: "
          "auto, words or spaces, got '",
          config_.tokens, "'");
    std::vector<std::string> texts, tags;
    for (const Tagged& e : parts().train) {
      texts.push_back(joined(e.words));
      tags.insert(tags.end(), e.tags.begin(), e.tags.end());
    }
    std::ranges::sort(tags);
    tags_ = Vocabulary::of(tags);
    const std::string init = config_.settings.get("init");
    const WordRules rules = detect_tokens(texts).rules;
    add_vector_words(config_, texts);
    words_ = init.empty() ? Tokenizer::learn({.kind = "spaces",
                                              .lowercase = config_.lowercase,
                                              .min_count = config_.min_count,
                                              .max_size = config_.vocabulary,
                                              .rules = rules},
                                             texts)
                          : Tokenizer::load(init, "tokens");
    const std::string& kind = words_->options().kind;
    check(kind == "words" || kind == "spaces", init, ": its tokens are ", kind,
          ", label needs words");
    words_ = words_->split_as("spaces", rules);  // the file says what a word is
    std::vector<Partings::Sentence> written;
    for (const Tagged& e : parts().train) {
      if (!e.text.empty()) written.push_back({e.text, e.words});
    }
    words_ = words_->learn_partings(written);
    alphabet_ = Tokenizer::learn({.kind = "chars"}, texts);
  }

  static Tagged words_of(const std::vector<Token>& tokens) {
    Tagged asked;
    for (const Token& token : tokens) asked.words.emplace_back(token.text);
    return asked;
  }

  std::vector<int32_t> word_ids(const std::vector<Tagged>& of) const {
    std::vector<int32_t> all;
    for (const Tagged& e : of) {
      for (const std::string& word : e.words) all.push_back(id_of(word));
    }
    return all;
  }

  // Word by word: a word of a file may hold a space that is not one of ours.
  int32_t id_of(const std::string& word) const {
    const auto ids = words_->encode(word);
    return ids.size() == 1 ? ids[0] : Tokenizer::unknown;
  }
  Sequences numbers(const std::vector<Tagged>& of) const {
    std::vector<std::vector<int32_t>> lists;
    for (const Tagged& e : of) {
      lists.emplace_back();
      for (const std::string& word : e.words) {
        lists.back().push_back(id_of(word));
      }
    }
    return sequences_of(lists);
  }

  Tensor letters(const std::vector<Tagged>& of, int64_t rows) const {
    constexpr int64_t n = letters_of_word, head = n / 2;
    Tensor all = Tensor::zeros({rows, n}, Dtype::i32);
    int32_t* to = all.write<int32_t>().data();
    for (const Tagged& e : of) {
      for (const std::string& word : e.words) {
        auto ids = alphabet_->encode(word);
        const auto size = static_cast<int64_t>(ids.size());
        if (size > n) ids.erase(ids.begin() + head, ids.begin() + (size - (n - head)));
        std::ranges::copy(ids, to);
        to += n;
      }
    }
    return all;
  }

  ModelInputs inputs(const std::vector<Tagged>& of) const {
    ModelInputs in{.text = numbers(of)};
    if (features_) in.sparse = sparse(of);
    if (config_.settings.get("letters", "0") != "0") in.letters = letters(of, in.text.rows());
    return in;
  }

  // Sentences without a word have no row.
  Fitted::Examples known(const std::vector<Tagged>& of) const override {
    std::vector<int32_t> wanted;
    for (const Tagged& e : of) {
      for (const std::string& tag : e.tags) wanted.push_back(tags_.id(tag));
    }
    return {inputs(of), Tensor::of({static_cast<int64_t>(wanted.size())}, wanted)};
  }
  SparseRows sparse(const std::vector<Tagged>& of) const {
    std::vector<std::vector<int32_t>> rows;
    for (const Tagged& e : of) {
      for (auto& ids : features_->ids(e.words)) rows.push_back(std::move(ids));
    }
    return sparse_rows(static_cast<int64_t>(rows.size()), [&](int64_t i) {
      std::vector<Ngrams::Value> values;
      for (int32_t id : rows[static_cast<size_t>(i)]) values.push_back({id, 1});
      return values;
    });
  }
  TagFeatures learn_features() {
    std::vector<std::vector<std::string>> sentences;
    for (const Tagged& e : parts().train) sentences.push_back(e.words);
    return TagFeatures::learn(crf_fields().read(config_.settings).feature_least, sentences);
  }

  std::vector<Labels> answer(const std::vector<Tagged>& of) const {
    std::vector<Labels> all(of.size());
    for (const auto& group : groups(of, 64)) {
      std::vector<Tagged> chosen;
      for (int64_t i : group) {
        if (!of[i].words.empty()) chosen.push_back(of[i]);
      }
      if (chosen.empty()) continue;
      const auto [best, likely] = model_->answer(inputs(chosen));
      int64_t row = 0;
      for (int64_t i : group) {
        for (size_t t = 0; t < of[i].words.size(); ++t, ++row) {
          const int32_t tag = best.read<int32_t>()[row];
          all[i].tags.push_back(tags_.name(tag));
          all[i].scores.push_back(likely.read()[row * tags_.size() + tag]);
          all[i].score += all[i].scores.back();
        }
      }
    }
    return all;
  }

  Evaluation measure(const std::vector<Tagged>& of, bool details = false) const {
    const Stopwatch watch;
    const auto answers = answer(of);
    Evaluation result;
    result.seconds = watch.seconds();
    Evaluation::One accuracy{"token_accuracy", {}}, entities{"entity_f1", {}};
    for (size_t i = 0; i < of.size(); ++i) {
      accuracy.tallies.push_back(token_accuracy_tally(of[i].tags, answers[i].tags));
      entities.tallies.push_back(entity_tally(of[i].tags, answers[i].tags));
      result.inputs.push_back(joined(of[i].words));
      result.truths.push_back(joined(of[i].tags));
      result.outputs.push_back(joined(answers[i].tags));
      for (size_t t = 0; details && t < of[i].words.size(); ++t) {
        result.items.push_back({of[i].tags[t], answers[i].tags[t], std::exp(answers[i].scores[t]),
                                around(of[i].words, t)});
      }
    }
    result.metrics = {accuracy};
    if (marks_entities(tags_)) {
      result.metrics = {entities, entities, entities, accuracy};
      result.metrics[1].metric = "entity_precision";
      result.metrics[2].metric = "entity_recall";
    }
    return result;
  }

  std::optional<Tokenizer> words_, alphabet_;
  AskedTokens asked_;  // how a text to be labelled is split
  Vocabulary tags_;
  std::optional<TagFeatures> features_;
};

}  // namespace

std::unique_ptr<Solver> make_label(const Config& config, Purpose purpose,
                                   const std::string& folder) {
  return std::make_unique<Label>(config, purpose, folder);
}

}  // namespace fovea
