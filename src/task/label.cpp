// label: a label for every token.
#include "fovea/attention/recorder.h"
#include "fovea/base/utf8.h"
#include "fovea/data/builtin.h"
#include "fovea/data/examples.h"
#include "fovea/data/tokenizer.h"
#include "fovea/op/reduce.h"
#include "fovea/op/softmax.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/init.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"
#include "fovea/task/names.h"
#include "fovea/train/label_metrics.h"

namespace fovea {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> words_of(const std::string& line) {
  const auto parts = split_at_spaces(line);
  return {parts.begin(), parts.end()};
}

// Tags that mark entities: B-PER, I-LOC, O.
bool marks_entities(const Vocabulary& tags) {
  return std::ranges::any_of(tags.names(), [](const std::string& tag) {
    return tag.starts_with("B-") || tag.starts_with("I-");
  });
}

class Label final : public ExampleSolver<Tagged> {
 public:
  Label(const Config& config, Purpose purpose, const std::string& folder)
      : ExampleSolver(config, purpose, folder) {
    if (folder.empty()) {
      learn_vocabularies();
    } else {
      words_ = Tokenizer::load(folder, "words");
      alphabet_ = Tokenizer::load(folder, "letters");
      tags_ = load_names(folder, "labels");
    }
    if (purpose == Purpose::learn) parts();
    model_ = model<Scorer>({.vocabulary = words_->size(),
                            .alphabet = alphabet_->size(),
                            .labels = tags_.size(),
                            .longest = config.longest});
    if (purpose == Purpose::learn) start_from_encoder(config, parameters_);
  }

  void save_vocabulary(const std::string& folder) const override {
    words_->save(folder, "words");
    alphabet_->save(folder, "letters");
    save_names(folder, "labels", tags_);
  }

  Loss loss(int64_t number) override {
    const auto chosen = batch(number);
    std::vector<int32_t> wanted;
    for (const Tagged& e : chosen) {
      for (const std::string& tag : e.tags) wanted.push_back(tags_.id(tag));
    }
    const Tensor targets = Tensor::of({static_cast<int64_t>(wanted.size())}, wanted);
    return {model_->loss(inputs(chosen), targets, config_.smoothing), targets.elements()};
  }

  std::vector<Metric> validate() override { return measure(validation_examples()).values(); }
  Evaluation evaluate(const std::string& part) override { return measure(examples(part)); }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions&) const override {
    std::vector<Tagged> examples;
    for (const std::string& line : lines) examples.push_back({words_of(line), {}});
    std::vector<std::vector<Prediction>> all;
    for (const Labels& labels : answer(examples))
      all.push_back({{joined(labels.tags), labels.score}});
    return all;
  }

  Drawing attend(const std::string& input) const override {
    const Tagged example{words_of(input), {}};
    check(!example.words.empty(), "attend: the input has no words");
    Recorder recorder;
    const auto labels = answer({example})[0];
    return {joined(labels.tags), maps_of(recorder, 0, [&](const std::string&) {
              return MapLabels{example.words, example.words};
            })};
  }

 protected:
  std::vector<Tagged> read(const std::string& path) const override {
    return read_tagged(path, config_.column);
  }
  std::vector<Tagged> generate(const std::string&, int64_t n, Random random) const override {
    return generate_tags(n > 0 ? n : 4'000, random);
  }
  Lengths lengths_of(const Tagged& e) const override {
    return {static_cast<int64_t>(e.words.size())};
  }

 private:
  struct Labels {
    std::vector<std::string> tags;
    double score = 0;  // log-probability of all of them
  };

  void learn_vocabularies() {
    std::vector<std::string> texts, tags;
    for (const Tagged& e : parts().train) {
      texts.push_back(joined(e.words));
      tags.insert(tags.end(), e.tags.begin(), e.tags.end());
    }
    std::ranges::sort(tags);
    tags_ = Vocabulary::of(tags);
    const std::string init = config_.settings.get("init");
    words_ = init.empty() ? Tokenizer::learn({.kind = "spaces",
                                              .lowercase = config_.lowercase,
                                              .min_count = config_.min_count,
                                              .max_size = config_.vocabulary},
                                             texts)
                          : Tokenizer::load(init, "tokens");
    const std::string& kind = words_->options().kind;
    check(kind == "words" || kind == "spaces", init, ": its tokens are ", kind,
          ", label needs words");
    words_ = words_->split_as("spaces");  // the file says what a word is
    alphabet_ = Tokenizer::learn({.kind = "chars"}, texts);
  }

  // Word by word: a word of a file may hold a space that is not one of ours.
  Sequences numbers(const std::vector<Tagged>& of) const {
    std::vector<std::vector<int32_t>> lists;
    for (const Tagged& e : of) {
      lists.emplace_back();
      for (const std::string& word : e.words) {
        const auto ids = words_->encode(word);
        lists.back().push_back(ids.size() == 1 ? ids[0] : Tokenizer::unknown);
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
    if (config_.settings.get("letters") != "0") in.letters = letters(of, in.text.rows());
    return in;
  }

  std::vector<Labels> answer(const std::vector<Tagged>& of) const {
    std::vector<Labels> all(of.size());
    for (const auto& group : groups(of, 64)) {
      std::vector<Tagged> chosen;
      for (int64_t i : group) {
        if (!of[i].words.empty()) chosen.push_back(of[i]);
      }
      if (chosen.empty()) continue;
      const Tensor likely = log_softmax((*model_)(inputs(chosen)).scores),
                   best = argmax(likely, -1);
      int64_t row = 0;
      for (int64_t i : group) {
        for (size_t t = 0; t < of[i].words.size(); ++t, ++row) {
          const int32_t tag = best.read<int32_t>()[row];
          all[i].tags.push_back(tags_.name(tag));
          all[i].score += likely.read()[row * tags_.size() + tag];
        }
      }
    }
    return all;
  }

  Evaluation measure(const std::vector<Tagged>& of) const {
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
  Vocabulary tags_;
  std::unique_ptr<const Scorer> model_;
};

}  // namespace

std::unique_ptr<Solver> make_label(const Config& config, Purpose purpose,
                                   const std::string& folder) {
  return std::make_unique<Label>(config, purpose, folder);
}

}  // namespace fovea
