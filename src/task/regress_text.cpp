// regress with a text: a number for a text, by the models that give one label for it, or by ridge
// regression.
#include <cmath>

#include "fovea/attention/recorder.h"
#include "fovea/data/asked_tokens.h"
#include "fovea/model/linear/regressor.h"
#include "fovea/task/fitting_solver.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"
#include "fovea/task/number_metrics.h"
#include "fovea/task/sparse.h"
#include "fovea/task/text_cut.h"
#include "fovea/task/vectors.h"
#include "fovea/task/vote_maps.h"
#include "fovea/train/checkpoint.h"

namespace fovea {
namespace {

struct Rated {
  std::string text;
  double number = 0;
  std::vector<int32_t> ids{};
  const Tokenizer* split = nullptr;  // what split it
};

class TextRegress final : public FittingSolver<Rated> {
 public:
  TextRegress(const Config& config, Purpose purpose, const std::string& folder)
      : FittingSolver(config, purpose, folder) {
    if (folder.empty()) {
      learn();
    } else {
      tokens_ = Tokenizer::load(folder, "tokens");
      const auto file = Safetensors::open(folder + "/target.safetensors");
      center_ = file.load("center").read()[0];
      scale_ = file.load("scale").read()[0];
    }
    asked_ = AskedTokens(*tokens_, config.tokens == "auto");
    if (purpose == Purpose::learn) parts();
    if (reads_ngrams(config.settings)) {
      ngrams_ = folder.empty() ? ngrams_of_train() : Ngrams::load(folder, "ngrams");
    }
    take_model(model<Scorer>({.vocabulary = tokens_->size(),
                              .sparse = ngrams_ ? ngrams_->size() : 0,
                              .longest = config.longest}));
    if (purpose == Purpose::learn) start_from_vectors(config, parameters_, *tokens_);
  }

  void save_vocabulary(const std::string& folder) const override {
    tokens_->save(folder, "tokens");
    save_safetensors(
        folder + "/target.safetensors",
        std::vector<NamedTensor>{{"center", Tensor::of({1}, {static_cast<float>(center_)})},
                                 {"scale", Tensor::of({1}, {static_cast<float>(scale_)})}});
    if (ngrams_) ngrams_->save(folder, "ngrams");
  }

  Loss loss(int64_t number) override {
    const Fitted::Examples chosen = known(batch(number));
    const auto out = (*model_)(chosen.inputs);
    return {regression_loss(out.scores, chosen.targets, out.log_probability),
            chosen.inputs.text.rows(), chosen.targets.elements()};
  }

  std::vector<Metric> validate() override { return measure(validation_examples()).values(); }
  Evaluation evaluate(const std::string& part) override { return measure(examples(part)); }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions&) const override {
    std::vector<Rated> asked;
    for (const std::string& line : lines) asked.push_back(ask(line));
    std::vector<std::vector<Prediction>> all;
    for (const double value : answer(asked)) {
      all.push_back({{say(value), 0}});
      all.back()[0].number = value;
    }
    return all;
  }

  Drawing attend(const std::string& input) const override {
    const Rated example = ask(input);
    check(!example.ids.empty(), "attend: the input has no tokens");
    Recorder recorder(capture_of(example.ids.size()));
    const std::string number = say(answer({example})[0]);
    PlacedTokens tokens = placed_tokens(asked_.of(input), input);
    if (const auto* linear = dynamic_cast<const LinearRegressor*>(model_.get())) {
      const auto says = votes_of_tokens(*ngrams_, {words_of(example)}, tokens.pieces.size(),
                                        [&](int32_t f) { return linear->vote(f); });
      return {number, vote_maps(number, says, tokens, "raises", "lowers")};
    }
    tokens = {cut_to(tokens.pieces, config_.longest), cut_to(tokens.places, config_.longest)};
    return {number, maps_of(recorder, 0, [&](const std::string& name) {
              return name.starts_with("encoder") ? within(tokens) : onto({number}, tokens);
            })};
  }

 protected:
  std::vector<Rated> read(const std::string& path) const override {
    RecordReader records(path, {{"target", Role::Kind::number}, {"text"}}, read_options(config_));
    std::vector<Rated> all;
    while (records.next()) all.push_back({std::string(records.text(1)), records.number(0)});
    note_file(records.summary());
    if (tokens_) {
      for (Rated& e : all) fill(e, *tokens_);
    }
    return all;
  }
  std::vector<Rated> read_other(const std::string& path) const override {
    std::vector<Rated> all = read(path);
    std::vector<std::string> texts;
    for (const Rated& e : all) texts.push_back(e.text);
    const Tokenizer& tokens = asked_.of_all(texts);
    for (Rated& e : all) fill(e, tokens);
    return all;
  }
  std::vector<Rated> generate(const std::string& name, int64_t, Random) const override {
    fail("regress: builtin:", name, " holds numbers, and the model ", config_.model,
         " takes a text; give a file with a text and a number");
  }
  Lengths lengths_of(const Rated& e) const override { return {static_cast<int64_t>(e.ids.size())}; }
  double unknown_part(const std::vector<Rated>& of) const override {
    std::vector<const std::vector<int32_t>*> lists;
    for (const Rated& e : of) lists.push_back(&e.ids);
    return unknown_part_of(lists);
  }

 private:
  void learn() {
    std::vector<std::string> texts;
    double sum = 0, squares = 0;
    for (const Rated& e : parts().train) {
      texts.push_back(e.text);
      sum += e.number;
    }
    center_ = sum / static_cast<double>(texts.size());
    for (const Rated& e : parts().train) squares += (e.number - center_) * (e.number - center_);
    // Targets of deviation 1 suit one learning rate; equal ones need no scale.
    scale_ = std::sqrt(squares / static_cast<double>(texts.size()));
    if (!(scale_ > 0)) scale_ = 1;
    center_ = static_cast<float>(center_), scale_ = static_cast<float>(scale_);  // as they are kept
    add_vector_words(config_, texts);
    tokens_ = Tokenizer::learn({.kind = config_.tokens,
                                .lowercase = config_.lowercase,
                                .min_count = config_.min_count,
                                .max_size = config_.vocabulary},
                               texts);
    if (config_.tokens == "auto") note_tokens("tokens", texts);
    change_examples([this](Rated& e) { fill(e, *tokens_); });
  }
  void fill(Rated& e, const Tokenizer& tokens) const {
    e.ids = cut_to(tokens.encode(e.text), config_.longest);
    e.split = &tokens;
  }
  Rated ask(const std::string& text) const {
    Rated e{text};
    fill(e, asked_.of(text));
    return e;
  }

  static std::vector<std::string> words_of(const Rated& e) { return lower_words(*e.split, e.text); }
  Ngrams ngrams_of_train() {
    const auto& all = parts().train;
    size_t bytes = 0;
    for (const Rated& e : all) bytes += e.text.size();
    return learn_ngrams(config_.settings, bytes, static_cast<int64_t>(all.size()),
                        [&](int64_t i) { return words_of(all[static_cast<size_t>(i)]); });
  }
  ModelInputs inputs(const std::vector<Rated>& of) const {
    ModelInputs in{.text = sequences(of)};
    if (!ngrams_) return in;
    in.sparse = sparse_rows(static_cast<int64_t>(of.size()), [&](int64_t i) {
      return ngrams_->values(words_of(of[static_cast<size_t>(i)]));
    });
    return in;
  }
  // Targets as the model learns them, of mean 0 and deviation 1.
  Fitted::Examples known(const std::vector<Rated>& of) const override {
    Tensor targets({static_cast<int64_t>(of.size()), 1});
    for (size_t i = 0; i < of.size(); ++i) {
      targets.write()[i] = static_cast<float>((of[i].number - center_) / scale_);
    }
    return {inputs(of), targets};
  }
  static Sequences sequences(const std::vector<Rated>& of) {
    std::vector<std::vector<int32_t>> lists;
    for (const Rated& e : of) {
      lists.push_back(e.ids.empty() ? std::vector{Tokenizer::unknown} : e.ids);
    }
    return sequences_of(lists);
  }

  std::vector<double> answer(const std::vector<Rated>& of) const {
    std::vector<double> all(of.size());
    for (const auto& group : groups(of, 64)) {
      std::vector<Rated> chosen;
      for (int64_t i : group) chosen.push_back(of[i]);
      const Tensor scores = (*model_)(inputs(chosen)).scores;
      for (size_t row = 0; row < group.size(); ++row) {
        all[group[row]] = center_ + scale_ * scores.read()[row];
      }
    }
    return all;
  }

  Evaluation measure(const std::vector<Rated>& of) const {
    const Stopwatch watch;
    const auto predicted = answer(of);
    Evaluation result;
    result.seconds = watch.seconds();
    NumberMetrics metrics;
    for (size_t i = 0; i < of.size(); ++i) {
      metrics.add(of[i].number, predicted[i]);
      result.inputs.push_back(of[i].text);
      result.truths.push_back(say(of[i].number));
      result.outputs.push_back(say(predicted[i]));
    }
    result.metrics = metrics.all();
    return result;
  }

  std::optional<Tokenizer> tokens_;
  AskedTokens asked_;
  double center_ = 0, scale_ = 1;  // of what was learned from
  std::optional<Ngrams> ngrams_;   // of a model that reads them
};

}  // namespace

std::unique_ptr<Solver> make_text_regress(const Config& config, Purpose purpose,
                                          const std::string& folder) {
  return std::make_unique<TextRegress>(config, purpose, folder);
}

}  // namespace fovea
