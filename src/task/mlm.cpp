// mlm: words hidden in a text, to be found from both sides (Devlin et al., "BERT", 2018). What its
// encoder learns can start label and classify: --init.
#include "fovea/attention/recorder.h"
#include "fovea/base/utf8.h"
#include "fovea/data/asked_tokens.h"
#include "fovea/data/builtin.h"
#include "fovea/data/examples.h"
#include "fovea/data/tokenizer.h"
#include "fovea/op/reduce.h"
#include "fovea/op/softmax.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"

namespace fovea {
namespace {

// What stands for a hidden token: no text begins in an encoder, so that id is free.
constexpr int32_t mask = Tokenizer::begin;
constexpr std::string_view mask_text = "[MASK]";

struct Line {
  std::string text;
  std::vector<int32_t> ids;
};

// Tokens with some of them hidden.
struct Hidden {
  std::vector<std::vector<int32_t>> shown;
  std::vector<int32_t> rows, truth;  // which rows are asked for, and what stood there
  int32_t tokens = 0;                // in all
};

class Mlm final : public ExampleSolver<Line> {
 public:
  Mlm(const Config& config, Purpose purpose, const std::string& folder)
      : ExampleSolver(config, purpose, folder) {
    if (folder.empty()) {
      std::vector<std::string> texts;
      for (const Line& line : parts().train) texts.push_back(line.text);
      tokens_ = Tokenizer::learn({.kind = config.tokens,
                                  .lowercase = config.lowercase,
                                  .min_count = config.min_count,
                                  .max_size = config.vocabulary},
                                 texts);
      if (config.tokens == "auto") note_tokens("tokens", texts);
      change_examples([this](Line& line) { line.ids = tokens_->encode(line.text); });
    } else {
      tokens_ = Tokenizer::load(folder, "tokens");
    }
    asked_ = AskedTokens(*tokens_, config.tokens == "auto");
    if (purpose == Purpose::learn) parts();
    model_ = model<Scorer>({.vocabulary = tokens_->size(), .longest = config.longest});
  }

  void save_vocabulary(const std::string& folder) const override {
    tokens_->save(folder, "tokens");
  }

  Loss loss(int64_t number) override {
    Random hiding = Tape::random()->fork("hide");
    const Hidden hidden = hide(batch(number), hiding);
    const Tensor targets = ids(hidden.truth);
    return {model_->loss(inputs(hidden), targets, config_.smoothing), targets.elements(),
            targets.elements()};
  }

  std::vector<Metric> validate() override { return measure(validation_examples()).values(); }
  Evaluation evaluate(const std::string& part) override { return measure(examples(part)); }

  // Every [MASK] of a line is filled in; the n-th answer takes the n-th likeliest for each.
  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    std::vector<std::vector<Prediction>> all;
    for (const std::string& text : lines) all.push_back(fill(text, options.nbest, options.details));
    return all;
  }

  std::string question(const std::string& input) const override {
    return say(input, " ", mask_text);
  }

  // Each token hidden in turn, all others shown: the pseudo-log-likelihood (Salazar et al. 2020).
  std::vector<ScoredText> score(const std::vector<std::string>& lines) const override {
    std::vector<ScoredText> all;
    for (const std::string& line : lines) {
      const std::vector<int32_t> text = tokens_->encode(line);
      check(!text.empty(), "score: the line has no tokens");
      ScoredText& scored = all.emplace_back();
      for (size_t i = 0; i < text.size(); ++i) {
        std::vector<int32_t> shown = text;
        shown[i] = mask;
        const Tensor asked = ids({static_cast<int32_t>(i)});
        const Tensor loss = cross_entropy_each(
            (*model_)({.text = sequences_of({&shown, 1}), .rows = asked}).scores, ids({text[i]}));
        scored.tokens.push_back(tokens_->piece(text[i]));
        scored.log_probability.push_back(-loss.read()[0]);
      }
    }
    return all;
  }

  Drawing attend(const std::string& input) const override {
    const Asked asked = ask(input);
    check(!asked.ids.empty(), "attend: the input has no tokens");
    Recorder recorder(capture_of(asked.ids.size()));
    (*model_)({.text = sequences_of({&asked.ids, 1})});
    return {asked.rows.empty() ? input : fill(input, 1)[0].text,
            maps_of(recorder, 0, [&](const std::string&) { return within(asked.tokens); })};
  }

 protected:
  std::vector<Line> read(const std::string& path) const override {
    ReadSummary summary;
    auto texts = read_texts(path, read_options(config_), &summary);
    note_file(summary);
    return number(std::move(texts));
  }
  std::vector<Line> generate(const std::string& name, int64_t n, Random random) const override {
    std::vector<std::string> texts;
    const int64_t count = n > 0 ? n : 8'000;
    if (name == "sentiment") {
      for (const Labelled& e : generate_sentiment(count, random)) texts.push_back(e.text);
    } else {
      for (const Tagged& e : generate_tags(count, random)) {
        std::string text;
        for (const std::string& word : e.words) text += (text.empty() ? "" : " ") + word;
        texts.push_back(text);
      }
    }
    return number(std::move(texts));
  }
  Lengths lengths_of(const Line& line) const override {
    return {static_cast<int64_t>(line.ids.size())};
  }
  double unknown_part(const std::vector<Line>& of) const override {
    std::vector<const std::vector<int32_t>*> lists;
    for (const Line& e : of) lists.push_back(&e.ids);
    return unknown_part_of(lists);
  }

 private:
  std::vector<Line> number(std::vector<std::string> texts) const {
    std::vector<Line> lines;
    for (std::string& text : texts) {
      if (text.find_first_not_of(" \t") == std::string::npos) continue;
      lines.push_back({std::move(text), {}});
      if (tokens_) lines.back().ids = tokens_->encode(lines.back().text);
    }
    return lines;
  }
  static Tensor ids(const std::vector<int32_t>& list) {
    return Tensor::of({static_cast<int64_t>(list.size())}, list);
  }

  // 15 % of the tokens, at least one a line, are asked for: of these 80 % are hidden, 10 % are
  // replaced by any token, 10 % stay, so that every state must know what could stand there.
  Hidden hide(const std::vector<Line>& lines, Random& random) const {
    Hidden hidden;
    for (const Line& line : lines) hide(line, random, hidden);
    return hidden;
  }
  void hide(const Line& line, Random& random, Hidden& hidden) const {
    auto& shown = hidden.shown.emplace_back(line.ids);
    if (shown.empty()) shown = {Tokenizer::unknown};
    const auto sure = static_cast<size_t>(random.below(shown.size()));
    for (size_t i = 0; i < shown.size(); ++i, ++hidden.tokens) {
      const float chance = random.uniform(), how = random.uniform();
      const auto other = static_cast<int32_t>(4 + random.below(tokens_->size() - 4));
      if (chance >= 0.15f && i != sure) continue;
      hidden.rows.push_back(hidden.tokens);
      hidden.truth.push_back(shown[i]);
      if (how < 0.8f) {
        shown[i] = mask;
      } else if (how < 0.9f) {
        shown[i] = other;
      }
    }
  }
  ModelInputs inputs(const Hidden& hidden) const {
    return {.text = sequences_of(hidden.shown), .rows = ids(hidden.rows)};
  }

  Evaluation measure(const std::vector<Line>& of) const {
    Evaluation result;
    Evaluation::One accuracy{"token_accuracy", {}}, loss{"loss", {}};
    accuracy.tallies.resize(of.size(), {0, 0});
    loss.tallies.resize(of.size(), {0, 0});
    const Stopwatch watch;
    for (const auto& group : groups(of, 64)) {
      Hidden hidden;
      std::vector<int64_t> owners;  // of what is asked for
      for (int64_t i : group) {
        // A line hides the same tokens whatever stands beside it.
        Random random = Random(0).fork("hide").fork(static_cast<uint64_t>(i));
        hide(of[i], random, hidden);
        owners.resize(hidden.truth.size(), i);
      }
      const Tensor s = (*model_)(inputs(hidden)).scores, best = argmax(s, -1),
                   each = cross_entropy_each(s, ids(hidden.truth));
      for (size_t k = 0; k < hidden.truth.size(); ++k) {
        accuracy.tallies[owners[k]][0] += best.read<int32_t>()[k] == hidden.truth[k];
        accuracy.tallies[owners[k]][1] += 1;
        loss.tallies[owners[k]][0] += each.read()[k];
        loss.tallies[owners[k]][1] += 1;
      }
    }
    for (const Line& line : of) {
      result.inputs.push_back(line.text);
      result.truths.push_back(line.text);
      result.outputs.emplace_back();
    }
    result.seconds = watch.seconds();
    result.metrics = {accuracy, loss};
    return result;
  }

  struct Asked {
    std::vector<int32_t> ids, rows;
    PlacedTokens tokens{};  // with [MASK] among them
  };
  Asked ask(const std::string& text) const {
    Asked asked;
    const Tokenizer& tokens = asked_.of(text);
    for (size_t from = 0;;) {
      const size_t at = text.find(mask_text, from);
      const std::string_view part = std::string_view(text).substr(from, at - from);
      const auto ids = tokens.encode(part);
      asked.ids.insert(asked.ids.end(), ids.begin(), ids.end());
      const auto add = [&, chars = count_code_points(std::string_view(text).substr(0, from)),
                        bytes = static_cast<int64_t>(from)](std::string piece, TextPlace place) {
        asked.tokens.pieces.push_back(std::move(piece));
        asked.tokens.places.push_back({place.begin + bytes, place.end + bytes,
                                       place.char_begin + chars, place.char_end + chars});
      };
      const PlacedTokens placed = placed_tokens(tokens, part);
      for (size_t i = 0; i < placed.pieces.size(); ++i) add(placed.pieces[i], placed.places[i]);
      if (at == std::string::npos) return asked;
      const auto before = static_cast<int64_t>(part.size()), before_chars = count_code_points(part),
                 size = static_cast<int64_t>(mask_text.size());
      add(std::string(mask_text), {before, before + size, before_chars, before_chars + size});
      asked.rows.push_back(static_cast<int32_t>(asked.ids.size()));
      asked.ids.push_back(mask);
      from = at + mask_text.size();
    }
  }
  std::vector<Prediction> fill(const std::string& text, int64_t nbest, bool details = false) const {
    const Asked asked = ask(text);
    check(!asked.rows.empty(), "mlm: a line needs at least one ", mask_text, " to fill in, got '",
          text, "'");
    const Tensor likely = log_softmax(
        (*model_)({.text = sequences_of({&asked.ids, 1}), .rows = ids(asked.rows)}).scores);
    const int64_t V = likely.dim(1);
    std::vector<Prediction> answers;
    for (int64_t n = 0; n < std::min(nbest, V - 4); ++n) {
      std::vector<int32_t> filled = asked.ids;
      double score = 0;
      for (size_t k = 0; k < asked.rows.size(); ++k) {
        const auto row = likely.read().subspan(static_cast<int64_t>(k) * V, V);
        std::vector<int32_t> order;
        for (int32_t id = 4; id < V; ++id) order.push_back(id);
        std::ranges::nth_element(order, order.begin() + n, [&](int32_t a, int32_t b) {
          return row[a] != row[b] ? row[a] > row[b] : a < b;
        });
        filled[asked.rows[k]] = order[n];
        score += row[order[n]];
      }
      answers.push_back({tokens_->decode(filled), score});
      for (size_t k = 0; details && k < asked.rows.size(); ++k) {
        const int32_t id = filled[asked.rows[k]];
        answers.back().tokens.push_back(
            {.text = tokens_->piece(id),
             .log_probability = likely.read()[static_cast<int64_t>(k) * V + id]});
      }
    }
    return answers;
  }

  std::optional<Tokenizer> tokens_;
  AskedTokens asked_;
  std::unique_ptr<const Scorer> model_;
};

}  // namespace

std::unique_ptr<Solver> make_mlm(const Config& config, Purpose purpose, const std::string& folder) {
  return std::make_unique<Mlm>(config, purpose, folder);
}

}  // namespace fovea
