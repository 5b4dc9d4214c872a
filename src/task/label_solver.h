// What tasks share that answer with one label for an example, whatever the example is made of.
#pragma once

#include "fovea/attention/recorder.h"
#include "fovea/data/asked_tokens.h"
#include "fovea/data/tokenizer.h"
#include "fovea/model/linear/classifier.h"
#include "fovea/op/softmax.h"
#include "fovea/task/fitting_solver.h"
#include "fovea/task/init.h"
#include "fovea/task/label_answers.h"
#include "fovea/task/maps.h"
#include "fovea/task/names.h"
#include "fovea/task/sparse.h"
#include "fovea/task/vectors.h"
#include "fovea/task/vote_maps.h"

namespace fovea {

// An example has a `label`. The constructor of a task calls begin().
template <class Example>
class LabelSolver : public FittingSolver<Example> {
 public:
  void save_vocabulary(const std::string& folder) const override {
    tokens_->save(folder, "tokens");
    save_names(folder, "labels", labels_);
    if (ngrams_) ngrams_->save(folder, "ngrams");
  }

  Learner::Loss loss(int64_t number) override {
    const auto examples = this->batch(number);
    int64_t tokens = 0;
    for (const Example& e : examples) {
      for (const auto* list : ids_of(e)) tokens += static_cast<int64_t>(list->size());
    }
    const Fitted::Examples chosen = known(examples);
    return {model_->loss(chosen.inputs, chosen.targets, this->config_.smoothing), tokens,
            chosen.targets.elements()};
  }

  std::vector<Metric> validate() override {
    const std::vector<Example> dev = this->validation_examples();
    if (const Fitted* fitted = this->fitted_; fitted && fitted->goes_on()) {
      std::vector<Fitted::Examples> batches;
      for (const auto& group : this->groups(dev, at_once)) {
        batches.push_back(known(picked(dev, group)));
      }
      fitted->tune(batches);
    }
    return measure(dev).values();
  }
  Evaluation evaluate(const std::string& part) override {
    return measure(this->examples(part), true);
  }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    std::vector<Example> asked;
    for (const std::string& line : lines) asked.push_back(ask(line));
    return answer(asked, options.nbest, options.details);
  }

  // The given label of each line, behind its last tab.
  std::vector<ScoredText> score(const std::vector<std::string>& lines) const override {
    return score_labels(lines, labels_, [this](const std::string& text) {
      return answer({ask(text)}, labels_.size())[0];
    });
  }

  std::vector<std::string> labels() const override { return labels_.names(); }

 protected:
  using FittingSolver<Example>::FittingSolver;
  using FittingSolver<Example>::model_;  // scores of all labels

  // What the model is given of a batch, but n-grams.
  virtual ModelInputs inputs(const std::vector<Example>& of) const = 0;
  // The example that a line asks about, and the line that asks about an example.
  virtual Example parsed(const std::string& line) const = 0;
  virtual std::string line_of(const Example& example) const = 0;
  // Its texts, the numbers of their tokens, and how they get them.
  virtual std::vector<std::string> texts_of(const Example& example) const = 0;
  virtual std::vector<const std::vector<int32_t>*> ids_of(const Example& example) const = 0;
  virtual void number(Example& example, const Tokenizer& tokens) const = 0;
  // What n-grams are made of; for tasks that have a row of a linear model. Asked on all threads.
  virtual FeatureWords words_of(const Example&) const {
    fail(this->config_.task, ": has no words for n-grams");
  }
  // What the model has to know of the data beside tokens, labels and n-grams.
  virtual void add_sizes(ModelSizes&) const {}
  // Measures beside accuracy and macro-F1; answers are of the ranked() likeliest labels.
  virtual int64_t ranked() const { return 1; }
  virtual void measure_more(const std::vector<Example>&,
                            const std::vector<std::vector<Prediction>>&, Evaluation&) const {}

  // For constructors: vocabularies learned from the data or loaded from the folder, then the model.
  void begin(Purpose purpose, const std::string& folder) {
    const Config& config = this->config_;
    if (folder.empty()) {
      learn_vocabularies();
    } else {
      tokens_ = Tokenizer::load(folder, "tokens");
      labels_ = load_names(folder, "labels");
    }
    asked_ = AskedTokens(*tokens_, config.tokens == "auto");
    if (purpose == Purpose::learn) this->parts();
    if (reads_ngrams(config.settings)) {
      ngrams_ = folder.empty() ? ngrams_of_train() : Ngrams::load(folder, "ngrams");
    }
    ModelSizes sizes{.vocabulary = tokens_->size(),
                     .labels = labels_.size(),
                     .sparse = ngrams_ ? ngrams_->size() : 0,
                     .longest = config.longest};
    add_sizes(sizes);
    this->take_model(this->template model<Scorer>(sizes));
    if (purpose == Purpose::learn) {
      start_from_encoder(config, this->parameters_);
      start_from_vectors(config, this->parameters_, *tokens_);
    }
  }

  std::vector<Example> read_other(const std::string& path) const override {
    std::vector<Example> all = this->read(path);
    std::vector<std::string> texts;
    for (const Example& e : all) {
      for (std::string& text : texts_of(e)) texts.push_back(std::move(text));
    }
    const Tokenizer& tokens = asked_.of_all(texts);
    for (Example& e : all) number(e, tokens);
    return all;
  }
  std::vector<std::string> labels_of(const Example& e) const override { return {e.label}; }
  double unknown_part(const std::vector<Example>& of) const override {
    std::vector<const std::vector<int32_t>*> lists;
    for (const Example& e : of) {
      for (const auto* list : ids_of(e)) lists.push_back(list);
    }
    return this->unknown_part_of(lists);
  }

  // Examples as they were read, numbered as soon as there are tokens.
  template <class Read>
  std::vector<Example> numbered(std::vector<Read> list) const {
    std::vector<Example> all;
    for (Read& one : list) {
      Example e;
      static_cast<Read&>(e) = std::move(one);
      if (tokens_) number(e, *tokens_);
      all.push_back(std::move(e));
    }
    return all;
  }
  // A file, and what is noticed about it.
  template <class Reader>
  std::vector<Example> noted(const std::string& path, const Reader& reader) const {
    ReadSummary summary;
    auto list = reader(path, read_options(this->config_), &summary);
    this->note_file(summary);
    return numbered(std::move(list));
  }

  // What splits this text.
  const Tokenizer& tokens_for(const std::string& text) const { return asked_.of(text); }
  // The example that a line asks about, numbered.
  Example ask(const std::string& line) const {
    Example e = parsed(line);
    number(e, tokens_for(texts_of(e)[0]));
    return e;
  }

  static constexpr int64_t at_once = 64;  // examples that are answered
  // Those at these places.
  static std::vector<Example> picked(const std::vector<Example>& of,
                                     const std::vector<int64_t>& places) {
    std::vector<Example> some;
    for (int64_t i : places) some.push_back(of[static_cast<size_t>(i)]);
    return some;
  }
  // For each example its likeliest labels, the best first, at most nbest.
  std::vector<std::vector<Prediction>> answer(const std::vector<Example>& of, int64_t nbest,
                                              bool details = false) const {
    std::vector<std::vector<Prediction>> all(of.size());
    for (const auto& group : this->groups(of, at_once)) {
      const Tensor likely = log_softmax((*model_)(given(picked(of, group))).scores);
      for (size_t row = 0; row < group.size(); ++row) {
        all[group[row]] =
            label_predictions(likely, static_cast<int64_t>(row), labels_, nbest, details);
      }
    }
    return all;
  }

  Fitted::Examples known(const std::vector<Example>& of) const override {
    std::vector<int32_t> wanted;
    for (const Example& e : of) wanted.push_back(labels_.id(e.label));
    return {given(of), Tensor::of({static_cast<int64_t>(wanted.size())}, wanted)};
  }

  // Where the model is linear: what each of so many tokens says for the label.
  std::optional<std::vector<double>> votes(const Example& e, const std::string& label,
                                           size_t tokens) const {
    const auto* linear = dynamic_cast<const LinearClassifier*>(model_.get());
    if (!linear) return std::nullopt;
    return votes_of_tokens(*ngrams_, words_of(e), tokens,
                           [&](int32_t f) { return linear->vote(f, labels_.id(label)); });
  }

  std::optional<Tokenizer> tokens_;  // of all texts of an example
  Vocabulary labels_;                // in the order of their names; its numbers are the model's

 private:
  Evaluation measure(const std::vector<Example>& of, bool details = false) const {
    const Stopwatch watch;
    const auto answers = answer(of, ranked());
    const double seconds = watch.seconds();
    LabelMeasure measure(labels_, details);
    for (size_t i = 0; i < of.size(); ++i) measure.add(line_of(of[i]), of[i].label, answers[i][0]);
    Evaluation result = measure.finish(seconds);
    measure_more(of, answers, result);
    return result;
  }

  void learn_vocabularies() {
    const Config& config = this->config_;
    std::vector<std::string> texts, labels;
    for (const Example& e : this->parts().train) {
      for (std::string& text : texts_of(e)) texts.push_back(std::move(text));
      labels.push_back(e.label);
    }
    std::ranges::sort(labels);
    labels_ = Vocabulary::of(labels);
    check(labels_.size() >= 2, config.data, ": has only the label '", labels_.name(0), "'; ",
          config.task, " needs at least two");
    add_vector_words(config, texts);
    const std::string init = config.settings.get("init");
    tokens_ = init.empty() ? Tokenizer::learn({.kind = config.tokens,
                                               .lowercase = config.lowercase,
                                               .min_count = config.min_count,
                                               .max_size = config.vocabulary},
                                              texts)
                           : Tokenizer::load(init, "tokens");
    if (init.empty() && config.tokens == "auto") this->note_tokens("tokens", texts);
    this->change_examples([this](Example& e) { number(e, *tokens_); });
  }

  Ngrams ngrams_of_train() {
    const std::vector<Example>& all = this->parts().train;
    size_t bytes = 0;
    for (const Example& e : all) {
      for (const std::string& text : texts_of(e)) bytes += text.size();
    }
    return learn_ngrams(this->config_.settings, bytes, static_cast<int64_t>(all.size()),
                        [&](int64_t i) { return words_of(all[static_cast<size_t>(i)]).words; });
  }
  // What the model is given of a batch.
  ModelInputs given(const std::vector<Example>& of) const {
    ModelInputs in = inputs(of);
    if (!ngrams_) return in;
    in.sparse = sparse_rows(static_cast<int64_t>(of.size()), [&](int64_t i) {
      return ngrams_->values(words_of(of[static_cast<size_t>(i)]).words);
    });
    return in;
  }

  AskedTokens asked_;
  std::optional<Ngrams> ngrams_;  // of a model that reads them
};

// Of maps without a key there is nothing to see.
inline std::vector<AttentionMap> with_keys(std::vector<AttentionMap> maps) {
  std::erase_if(maps, [](const AttentionMap& map) { return map.keys.empty(); });
  return maps;
}

}  // namespace fovea
