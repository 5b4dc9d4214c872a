// classify: one label for a text.
#include "fovea/attention/recorder.h"
#include "fovea/base/utf8.h"
#include "fovea/data/algorithms.h"
#include "fovea/data/asked_tokens.h"
#include "fovea/data/builtin.h"
#include "fovea/data/examples.h"
#include "fovea/data/sentences.h"
#include "fovea/data/tokenizer.h"
#include "fovea/model/linear/classifier.h"
#include "fovea/op/softmax.h"
#include "fovea/task/document_maps.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/init.h"
#include "fovea/task/label_answers.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"
#include "fovea/task/names.h"
#include "fovea/task/sequence_share.h"
#include "fovea/task/sparse.h"
#include "fovea/task/text_cut.h"
#include "fovea/task/vectors.h"

namespace fovea {
namespace {

// An example with the numbers that stand for its text.
struct Numbered : Labelled {
  std::vector<int32_t> ids;
  const Tokenizer* split = nullptr;  // what split it, where that is not what was learned
};

class Classify final : public ExampleSolver<Numbered> {
 public:
  Classify(const Config& config, Purpose purpose, const std::string& folder)
      : ExampleSolver(config, purpose, folder),
        reads_sentences_(find_model(config.model, Takes::text, Gives::label).reads_sentences) {
    if (folder.empty()) {
      learn_vocabularies();
    } else {
      tokens_ = Tokenizer::load(folder, "tokens");
      labels_ = load_names(folder, "labels");
    }
    asked_ = AskedTokens(*tokens_, config.tokens == "auto");
    if (purpose == Purpose::learn) parts();
    if (reads_ngrams(config)) {
      ngrams_ = folder.empty() ? learn_ngrams() : Ngrams::load(folder, "ngrams");
    }
    model_ = model<Scorer>({.vocabulary = tokens_->size(),
                            .labels = labels_.size(),
                            .sparse = ngrams_ ? ngrams_->size() : 0,
                            .longest = config.longest});
    fitted_ = dynamic_cast<const Fitted*>(model_.get());
    if (purpose == Purpose::learn) {
      start_from_encoder(config, parameters_);
      start_from_vectors(config, parameters_, *tokens_);
    }
  }

  void save_vocabulary(const std::string& folder) const override {
    tokens_->save(folder, "tokens");
    save_names(folder, "labels", labels_);
    if (ngrams_) ngrams_->save(folder, "ngrams");
  }

  void fit(const std::function<bool()>& stop) override {
    if (fitted_) fitted_->fit(known(parts().train), known(parts().dev), stop);
  }
  bool fits() const override { return fitted_ != nullptr; }
  bool learns_by_steps() const override { return !fitted_ || fitted_->goes_on(); }

  Loss loss(int64_t number) override {
    std::vector<Numbered> texts = batch(number);
    SequenceRing* ring = SequenceRing::current();
    if (ring) share(*ring, texts);
    const Fitted::Examples chosen = known(texts);
    // Ranks that share a text all know its scores; the first one's loss is that of the batch.
    const bool counts = !ring || ring->ranks().rank() == 0;
    return {model_->loss(chosen.inputs, chosen.targets, config_.smoothing),
            chosen.inputs.text.rows(), counts ? chosen.targets.elements() : 0};
  }

  std::vector<Metric> validate() override {
    if (fitted_) fitted_->tune(known(validation_examples()));
    return measure(validation_examples()).values();
  }
  Evaluation evaluate(const std::string& part) override { return measure(examples(part), true); }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    std::vector<Numbered> numbered;
    for (const std::string& line : lines) numbered.push_back(ask(line));
    return answer(numbered, options.nbest, options.details);
  }

  // The given label of each text.
  std::vector<ScoredText> score(const std::vector<std::string>& lines) const override {
    return score_labels(lines, labels_, [this](const std::string& text) {
      return answer({ask(text)}, labels_.size())[0];
    });
  }

  std::vector<std::string> labels() const override { return labels_.names(); }

  Drawing attend(const std::string& input) const override {
    const Numbered example = ask(input);
    check(!example.ids.empty(), "attend: the input has no tokens");
    Recorder recorder(capture_of(example.ids.size()));
    const std::string label = answer({example}, 1)[0][0].text;
    if (const auto* linear = dynamic_cast<const LinearClassifier*>(model_.get())) {
      return linear_drawing(label, example, *linear);
    }
    if (reads_sentences_) {
      const PlacedTokens tokens = placed_tokens(asked_.of(input), input);
      const PlacedTokens shown{cut_to(tokens.pieces, config_.longest),
                               cut_to(tokens.places, config_.longest)};
      const std::vector<int32_t> sentences = sentences_of(example);
      return {label, with_vector_shares(document_maps(recorder, label, shown, sentences), recorder,
                                        config_, by_sentence(shown, sentences))};
    }
    PlacedTokens tokens = placed_tokens(asked_.of(input), input);
    tokens = {cut_to(tokens.pieces, config_.longest), cut_to(tokens.places, config_.longest)};
    return {label, with_vector_shares(maps_of(recorder, 0, labels_of(label, input)), recorder,
                                      config_, {tokens})};
  }

 protected:
  std::vector<Numbered> read(const std::string& path) const override {
    ReadSummary summary;
    auto examples = read_labelled(path, read_options(config_), &summary);
    note_file(summary);
    return number(std::move(examples));
  }
  std::vector<Numbered> read_other(const std::string& path) const override {
    std::vector<Numbered> all = read(path);
    std::vector<std::string> texts;
    for (const Numbered& e : all) texts.push_back(e.text);
    const Tokenizer& tokens = asked_.of_all(texts);
    for (Numbered& e : all) {
      e.ids = cut_to(tokens.encode(e.text), config_.longest);
      e.split = &tokens;
    }
    return all;
  }
  std::vector<Numbered> generate(const std::string& name, int64_t n, Random random) const override {
    const int64_t some = n > 0 ? n : 4'000;
    if (name == "pathfinder") return number(generate_pathfinder(some, config_.side, random));
    if (name == "shapes") return number(generate_shapes(some, config_.side, random));
    if (name != "listops") return number(generate_sentiment(some, random));
    const auto lengths =
        fovea::lengths_of("lengths", config_.lengths.empty() ? "100-400" : config_.lengths);
    return number(generate_listops(some, lengths.front(), lengths.back(), random));
  }
  Lengths lengths_of(const Numbered& e) const override {
    return {static_cast<int64_t>(e.ids.size())};
  }
  std::vector<std::string> labels_of(const Numbered& e) const override { return {e.label}; }
  double unknown_part(const std::vector<Numbered>& of) const override {
    std::vector<const std::vector<int32_t>*> lists;
    for (const Numbered& e : of) lists.push_back(&e.ids);
    return unknown_part_of(lists);
  }

 private:
  // What each word says for the label: the sum of what the groups of words and letters that it is
  // part of say, shared out evenly; and what speaks against it.
  Drawing linear_drawing(const std::string& label, const Numbered& example,
                         const LinearClassifier& linear) const {
    const PlacedTokens shown = placed_tokens(asked_.of(example.text), example.text);
    std::vector<double> says(shown.pieces.size(), 0);
    const std::vector<std::string> lower = words(example);
    for (const Ngrams::Place& place : ngrams_->places(lower)) {
      const double one = linear.vote(place.id, labels_.id(label)) *
                         static_cast<double>(place.value) / (place.last - place.first + 1);
      for (int32_t i = place.first; i <= place.last && i < static_cast<int32_t>(says.size()); ++i) {
        says[static_cast<size_t>(i)] += one;
      }
    }
    Drawing drawing{label, {}};
    for (double sign : {1.0, -1.0}) {
      AttentionMap map;
      map.name = sign > 0 ? "for" : "against";
      map.queries = {label};
      map.keys = shown.pieces;
      map.key_places = shown.places;
      double sum = 1e-12;
      for (double one : says) sum += std::max(0.0, sign * one);
      for (double one : says)
        map.weights.push_back(static_cast<float>(std::max(0.0, sign * one) / sum));
      drawing.maps.push_back(std::move(map));
    }
    return drawing;
  }

  // Pooling asks once, with the label as its question; self-attention asks for every token.
  std::function<MapLabels(const std::string&)> labels_of(const std::string& label,
                                                         const std::string& input) const {
    PlacedTokens tokens = placed_tokens(asked_.of(input), input);
    tokens = {cut_to(tokens.pieces, config_.longest), cut_to(tokens.places, config_.longest)};
    return [label, tokens](const std::string& name) {
      return name.starts_with("encoder") ? within(tokens) : onto({label}, tokens);
    };
  }

  static bool reads_ngrams(const Config& config) { return config.settings.has("ngram_words"); }
  Ngrams learn_ngrams() {
    const auto& texts = parts().train;
    NgramOptions options = ngram_options(config_.settings);
    if (options.letters < 0) {
      // Groups of letters help where there is little to learn from, and cost most where there is
      // much.
      size_t letters = 0;
      for (const Numbered& e : texts) letters += e.text.size();
      options.letters = letters < 8'000'000 ? 5 : 0;
    }
    return Ngrams::learn(options, static_cast<int64_t>(texts.size()),
                         [&](int64_t i) { return words(texts[static_cast<size_t>(i)]); });
  }
  // Whole texts, whatever `longest` is: n-grams cost little.
  std::vector<std::string> words(const Numbered& example) const {
    const std::string lower = to_lowercase(example.text);
    const Tokenizer& tokens = example.split ? *example.split : *tokens_;
    std::vector<std::string> all;
    for (const Token& token : tokens.pieces_with_places(lower)) all.emplace_back(token.text);
    return all;
  }
  SparseRows sparse_rows(const std::vector<Numbered>& of) const {
    return fovea::sparse_rows(static_cast<int64_t>(of.size()), [&](int64_t i) {
      return ngrams_->values(words(of[static_cast<size_t>(i)]));
    });
  }

  void learn_vocabularies() {
    std::vector<std::string> texts, labels;
    for (const Numbered& e : parts().train) texts.push_back(e.text), labels.push_back(e.label);
    std::ranges::sort(labels);
    labels_ = Vocabulary::of(labels);
    check(labels_.size() >= 2, config_.data, ": has only the label '", labels_.name(0),
          "'; classify needs at least two");
    add_vector_words(config_, texts);
    const std::string init = config_.settings.get("init");
    tokens_ = init.empty() ? Tokenizer::learn({.kind = config_.tokens,
                                               .lowercase = config_.lowercase,
                                               .min_count = config_.min_count,
                                               .max_size = config_.vocabulary},
                                              texts)
                           : Tokenizer::load(init, "tokens");
    if (init.empty() && config_.tokens == "auto") note_tokens("tokens", texts);
    change_examples([this](Numbered& e) { e.ids = numbers(e.text); });
  }

  std::vector<int32_t> numbers(const std::string& text) const {
    return cut_to(tokens_->encode(text), config_.longest);
  }
  Numbered ask(const std::string& text) const {
    const Tokenizer& tokens = asked_.of(text);
    return {{.text = text, .label = ""}, cut_to(tokens.encode(text), config_.longest), &tokens};
  }
  Numbered number(Labelled labelled) const {
    Numbered e{std::move(labelled), {}, nullptr};
    if (tokens_) e.ids = numbers(e.text);
    return e;
  }
  std::vector<Numbered> number(std::vector<Labelled> list) const {
    std::vector<Numbered> all;
    for (Labelled& one : list) all.push_back(number(std::move(one)));
    return all;
  }
  ModelInputs inputs(const std::vector<Numbered>& of) const {
    ModelInputs in{.text = sequences(of)};
    if (ngrams_) in.sparse = sparse_rows(of);
    if (reads_sentences_) in.document = documents(of);
    return in;
  }
  // Of each token its sentence.
  std::vector<int32_t> sentences_of(const Numbered& e) const {
    const std::vector<size_t> ends = sentence_ends(e.text);
    std::vector<int32_t> all;
    size_t sentence = 0;
    for (const Token& token : (e.split ? *e.split : *tokens_).pieces_with_places(e.text)) {
      while (sentence + 1 < ends.size() && static_cast<size_t>(token.begin) >= ends[sentence]) {
        ++sentence;
      }
      all.push_back(static_cast<int32_t>(sentence));
    }
    return cut_to(all, config_.longest);
  }
  NestedSequences documents(const std::vector<Numbered>& of) const {
    std::vector<std::vector<std::vector<int32_t>>> all;
    for (const Numbered& e : of) {
      const std::vector<int32_t> sentences = sentences_of(e);
      std::vector<std::vector<int32_t>> document;
      for (size_t i = 0; i < e.ids.size(); ++i) {
        if (i == 0 || sentences[i] != sentences[i - 1]) document.emplace_back();
        document.back().push_back(e.ids[i]);
      }
      if (document.empty()) document = {{Tokenizer::unknown}};
      all.push_back(std::move(document));
    }
    return nested_sequences_of(all);
  }
  // Leaves of each text this rank's part.
  void share(SequenceRing& ring, std::vector<Numbered>& texts) const {
    check_shares_sequences(config_);
    std::vector<int64_t> lengths;
    for (Numbered& e : texts) {
      if (e.ids.empty()) e.ids = {Tokenizer::unknown};
      lengths.push_back(static_cast<int64_t>(e.ids.size()));
    }
    ring.share(lengths);
    for (Numbered& e : texts) e.ids = ring.part_of(e.ids);
  }
  Fitted::Examples known(const std::vector<Numbered>& of) const {
    std::vector<int32_t> wanted;
    for (const Numbered& e : of) wanted.push_back(labels_.id(e.label));
    return {inputs(of), Tensor::of({static_cast<int64_t>(wanted.size())}, wanted)};
  }
  static Sequences sequences(const std::vector<Numbered>& of) {
    std::vector<std::vector<int32_t>> lists;
    for (const Numbered& e : of) {
      // A part of a shared text may be empty.
      const bool nothing = e.ids.empty() && !SequenceRing::current();
      lists.push_back(nothing ? std::vector{Tokenizer::unknown} : e.ids);
    }
    return sequences_of(lists);
  }

  std::vector<std::vector<Prediction>> answer(const std::vector<Numbered>& of, int64_t nbest,
                                              bool details = false) const {
    std::vector<std::vector<Prediction>> all(of.size());
    for (const auto& group : groups(of, 64)) {
      std::vector<Numbered> chosen;
      for (int64_t i : group) chosen.push_back(of[i]);
      const Tensor likely = log_softmax((*model_)(inputs(chosen)).scores);
      for (size_t row = 0; row < group.size(); ++row) {
        all[group[row]] =
            label_predictions(likely, static_cast<int64_t>(row), labels_, nbest, details);
      }
    }
    return all;
  }

  Evaluation measure(const std::vector<Numbered>& of, bool details = false) const {
    const Stopwatch watch;
    const auto answers = answer(of, 1);
    const double seconds = watch.seconds();
    LabelMeasure measure(labels_, details);
    for (size_t i = 0; i < of.size(); ++i) measure.add(of[i].text, of[i].label, answers[i][0]);
    return measure.finish(seconds);
  }

  bool reads_sentences_;
  std::optional<Tokenizer> tokens_;
  AskedTokens asked_;
  Vocabulary labels_;
  std::optional<Ngrams> ngrams_;
  std::unique_ptr<const Scorer> model_;
  const Fitted* fitted_ = nullptr;
};

}  // namespace

std::unique_ptr<Solver> make_classify(const Config& config, Purpose purpose,
                                      const std::string& folder) {
  return std::make_unique<Classify>(config, purpose, folder);
}

}  // namespace fovea
