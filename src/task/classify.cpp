// classify: one label for a text.
#include "fovea/attention/recorder.h"
#include "fovea/data/builtin.h"
#include "fovea/data/examples.h"
#include "fovea/data/tokenizer.h"
#include "fovea/op/softmax.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/init.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"
#include "fovea/task/names.h"
#include "fovea/train/label_metrics.h"

namespace fovea {
namespace {

// Of a text that is too long the beginning and the end say most (Sun et al. 2019).
template <class T>
std::vector<T> shortened(std::vector<T> list, int64_t longest) {
  const auto n = static_cast<int64_t>(list.size());
  if (n > longest)
    list.erase(list.begin() + longest / 2, list.begin() + (n - longest + longest / 2));
  return list;
}

// An example with the numbers that stand for its text.
struct Numbered : Labelled {
  std::vector<int32_t> ids;
};

class Classify final : public ExampleSolver<Numbered> {
 public:
  Classify(const Config& config, Purpose purpose, const std::string& folder)
      : ExampleSolver(config, purpose, folder) {
    if (folder.empty()) {
      learn_vocabularies();
    } else {
      tokens_ = Tokenizer::load(folder, "tokens");
      labels_ = load_names(folder, "labels");
    }
    if (purpose == Purpose::learn) parts();
    model_ = model<Scorer>(
        {.vocabulary = tokens_->size(), .labels = labels_.size(), .longest = config.longest});
    if (purpose == Purpose::learn) start_from_encoder(config, parameters_);
  }

  void save_vocabulary(const std::string& folder) const override {
    tokens_->save(folder, "tokens");
    save_names(folder, "labels", labels_);
  }

  Loss loss(int64_t number) override {
    const auto chosen = batch(number);
    std::vector<int32_t> wanted;
    for (const Numbered& e : chosen) wanted.push_back(labels_.id(e.label));
    const Tensor targets = Tensor::of({static_cast<int64_t>(wanted.size())}, wanted);
    const ModelInputs in{.text = sequences(chosen)};
    return {model_->loss(in, targets, config_.smoothing), in.text.rows()};
  }

  std::vector<Metric> validate() override { return measure(validation_examples()).values(); }
  Evaluation evaluate(const std::string& part) override { return measure(examples(part)); }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    std::vector<Numbered> numbered;
    for (const std::string& line : lines) numbered.push_back(number({.text = line, .label = ""}));
    return answer(numbered, options.nbest);
  }

  Drawing attend(const std::string& input) const override {
    const Numbered example = number({.text = input, .label = ""});
    check(!example.ids.empty(), "attend: the input has no tokens");
    Recorder recorder;
    const std::string label = answer({example}, 1)[0][0].text;
    return {label, maps_of(recorder, 0, labels_of(label, input))};
  }

 protected:
  std::vector<Numbered> read(const std::string& path) const override {
    return number(read_labelled(path, config_.column));
  }
  std::vector<Numbered> generate(const std::string&, int64_t n, Random random) const override {
    return number(generate_sentiment(n > 0 ? n : 4'000, random));
  }
  Lengths lengths_of(const Numbered& e) const override {
    return {static_cast<int64_t>(e.ids.size())};
  }

 private:
  // Pooling asks once, with the label as its question; self-attention asks for every token.
  std::function<MapLabels(const std::string&)> labels_of(const std::string& label,
                                                         const std::string& input) const {
    return [label,
            pieces = shortened(tokens_->pieces(input), config_.longest)](const std::string& name) {
      return MapLabels{name.starts_with("encoder") ? pieces : std::vector{label}, pieces};
    };
  }

  void learn_vocabularies() {
    std::vector<std::string> texts, labels;
    for (const Numbered& e : parts().train) texts.push_back(e.text), labels.push_back(e.label);
    std::ranges::sort(labels);
    labels_ = Vocabulary::of(labels);
    check(labels_.size() >= 2, config_.data, ": has only the label '", labels_.name(0),
          "'; classify needs at least two");
    const std::string init = config_.settings.get("init");
    tokens_ = init.empty() ? Tokenizer::learn({.kind = config_.tokens,
                                               .lowercase = config_.lowercase,
                                               .min_count = config_.min_count,
                                               .max_size = config_.vocabulary},
                                              texts)
                           : Tokenizer::load(init, "tokens");
    change_examples([this](Numbered& e) { e.ids = numbers(e.text); });
  }

  std::vector<int32_t> numbers(const std::string& text) const {
    return shortened(tokens_->encode(text), config_.longest);
  }
  Numbered number(Labelled labelled) const {
    Numbered e{std::move(labelled), {}};
    if (tokens_) e.ids = numbers(e.text);
    return e;
  }
  std::vector<Numbered> number(std::vector<Labelled> list) const {
    std::vector<Numbered> all;
    for (Labelled& one : list) all.push_back(number(std::move(one)));
    return all;
  }
  static Sequences sequences(const std::vector<Numbered>& of) {
    std::vector<std::vector<int32_t>> lists;
    for (const Numbered& e : of) {
      lists.push_back(e.ids.empty() ? std::vector{Tokenizer::unknown} : e.ids);
    }
    return sequences_of(lists);
  }

  std::vector<std::vector<Prediction>> answer(const std::vector<Numbered>& of,
                                              int64_t nbest) const {
    std::vector<std::vector<Prediction>> all(of.size());
    for (const auto& group : groups(of, 64)) {
      std::vector<Numbered> chosen;
      for (int64_t i : group) chosen.push_back(of[i]);
      const Tensor likely = log_softmax((*model_)({.text = sequences(chosen)}).scores);
      for (size_t row = 0; row < group.size(); ++row) {
        auto& predictions = all[group[row]];
        for (int32_t label = 0; label < labels_.size(); ++label) {
          predictions.push_back({labels_.name(label), likely.read()[row * labels_.size() + label]});
        }
        std::ranges::stable_sort(predictions, std::ranges::greater(), &Prediction::score);
        if (static_cast<int64_t>(predictions.size()) > nbest) predictions.resize(nbest);
      }
    }
    return all;
  }

  Evaluation measure(const std::vector<Numbered>& of) const {
    const Stopwatch watch;
    const auto answers = answer(of, 1);
    Evaluation result;
    result.seconds = watch.seconds();
    Evaluation::One accuracy{"accuracy", {}}, f1{"macro_f1", {}};
    for (size_t i = 0; i < of.size(); ++i) {
      // A label that training never saw is one more class, which no answer finds.
      const int32_t known = labels_.id(of[i].label);
      const auto truth = known < 0 ? labels_.size() : known;
      accuracy.tallies.push_back(
          label_tally(labels_.size() + 1, truth, labels_.id(answers[i][0].text)));
      f1.tallies.push_back(accuracy.tallies.back());
      result.inputs.push_back(of[i].text);
      result.truths.push_back(of[i].label);
      result.outputs.push_back(answers[i][0].text);
    }
    result.metrics = {accuracy, f1};
    return result;
  }

  std::optional<Tokenizer> tokens_;
  Vocabulary labels_;
  std::unique_ptr<const Scorer> model_;
};

}  // namespace

std::unique_ptr<Solver> make_classify(const Config& config, Purpose purpose,
                                      const std::string& folder) {
  return std::make_unique<Classify>(config, purpose, folder);
}

}  // namespace fovea
