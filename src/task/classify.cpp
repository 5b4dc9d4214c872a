// classify: one label for a text.
#include "fovea/base/utf8.h"
#include "fovea/data/algorithms.h"
#include "fovea/data/builtin.h"
#include "fovea/data/examples.h"
#include "fovea/data/sentences.h"
#include "fovea/task/document_maps.h"
#include "fovea/task/label_solver.h"
#include "fovea/task/make.h"
#include "fovea/task/sequence_share.h"
#include "fovea/task/text_cut.h"

namespace fovea {
namespace {

// An example with the numbers that stand for its text.
struct Numbered : Labelled {
  std::vector<int32_t> ids{};
  const Tokenizer* split = nullptr;  // what split it
};

class Classify final : public LabelSolver<Numbered> {
 public:
  Classify(const Config& config, Purpose purpose, const std::string& folder)
      : LabelSolver(config, purpose, folder),
        reads_sentences_(find_model(config.model, Takes::text, Gives::label).reads_sentences) {
    begin(purpose, folder);
  }

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

  Drawing attend(const std::string& input) const override {
    const Numbered example = ask(input);
    check(!example.ids.empty(), "attend: the input has no tokens");
    // Maps of sentences are not drawn from summaries; unless blocks look at all pairs of words,
    // they are small.
    const bool exact = reads_sentences_ && config_.settings.get("encoder") != "transformer";
    Recorder recorder(capture_of(exact ? 0 : example.ids.size()));
    const std::string label = answer({example}, 1)[0][0].text;
    PlacedTokens tokens = placed_tokens(tokens_for(input), input);
    if (const auto says = votes(example, label, tokens.pieces.size())) {
      return {label, vote_maps(label, *says, tokens)};
    }
    tokens = {cut_to(tokens.pieces, config_.longest), cut_to(tokens.places, config_.longest)};
    if (reads_sentences_) {
      const std::vector<int32_t> sentences = sentences_of(example);
      return {label, with_vector_shares(document_maps(recorder, label, tokens, sentences), recorder,
                                        config_, by_sentence(tokens, sentences))};
    }
    // Pooling asks once, with the label as its question; self-attention asks for every token.
    const auto labels = [&](const std::string& name) {
      return name.starts_with("encoder") ? within(tokens) : onto({label}, tokens);
    };
    return {label, with_vector_shares(maps_of(recorder, 0, labels), recorder, config_, {tokens})};
  }

 protected:
  std::vector<Numbered> read(const std::string& path) const override {
    return noted(path, [](const std::string& from, const ReadOptions& how, ReadSummary* summary) {
      return read_labelled(from, how, summary);
    });
  }
  std::vector<Numbered> generate(const std::string& name, int64_t n, Random random) const override {
    const int64_t some = n > 0 ? n : 4'000;
    if (name == "pathfinder") return numbered(generate_pathfinder(some, config_.side, random));
    if (name == "shapes") return numbered(generate_shapes(some, config_.side, random));
    if (name != "listops") return numbered(generate_sentiment(some, random));
    const auto lengths =
        fovea::lengths_of("lengths", config_.lengths.empty() ? "100-400" : config_.lengths);
    return numbered(generate_listops(some, lengths.front(), lengths.back(), random));
  }
  Lengths lengths_of(const Numbered& e) const override {
    return {static_cast<int64_t>(e.ids.size())};
  }
  std::vector<std::string> texts_of(const Numbered& e) const override { return {e.text}; }
  std::vector<const std::vector<int32_t>*> ids_of(const Numbered& e) const override {
    return {&e.ids};
  }
  Numbered parsed(const std::string& line) const override { return {{.text = line, .label = ""}}; }
  std::string line_of(const Numbered& e) const override { return e.text; }
  void number(Numbered& e, const Tokenizer& tokens) const override {
    e.ids = cut_to(tokens.encode(e.text), config_.longest);
    e.split = &tokens;
  }
  ModelInputs inputs(const std::vector<Numbered>& of) const override {
    ModelInputs in{.text = sequences(of)};
    if (reads_sentences_) in.document = documents(of);
    return in;
  }
  // The text in lower case is split, not its tokens made small: pieces are then others.
  FeatureWords words_of(const Numbered& e) const override {
    const std::string lower = to_lowercase(e.text);
    FeatureWords all;
    for (const Token& token : e.split->pieces_with_places(lower)) {
      all.words.emplace_back(token.text);
    }
    return all;
  }

 private:
  // Of each token its sentence.
  std::vector<int32_t> sentences_of(const Numbered& e) const {
    const std::vector<size_t> ends = sentence_ends(e.text);
    std::vector<int32_t> all;
    size_t sentence = 0;
    for (const Token& token : e.split->pieces_with_places(e.text)) {
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
  static Sequences sequences(const std::vector<Numbered>& of) {
    std::vector<std::vector<int32_t>> lists;
    for (const Numbered& e : of) {
      // A part of a shared text may be empty.
      const bool nothing = e.ids.empty() && !SequenceRing::current();
      lists.push_back(nothing ? std::vector{Tokenizer::unknown} : e.ids);
    }
    return sequences_of(lists);
  }

  bool reads_sentences_;
};

}  // namespace

std::unique_ptr<Solver> make_classify(const Config& config, Purpose purpose,
                                      const std::string& folder) {
  return std::make_unique<Classify>(config, purpose, folder);
}

}  // namespace fovea
