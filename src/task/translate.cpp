// translate: from n tokens to m.
#include "fovea/attention/recorder.h"
#include "fovea/data/asked_tokens.h"
#include "fovea/data/builtin.h"
#include "fovea/data/examples.h"
#include "fovea/data/tokenizer.h"
#include "fovea/model/seq2seq/beam_search.h"
#include "fovea/op/softmax.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/lesson.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"
#include "fovea/task/vectors.h"
#include "fovea/train/bleu.h"
#include "fovea/train/text_metrics.h"

namespace fovea {
namespace {

// An example with the numbers that stand for its texts.
struct Numbered : Pair {
  std::vector<int32_t> source_ids, target_ids;
  std::vector<std::vector<int32_t>> letters{};  // of each word of the source, for models that read
                                                // them
};

class Translate final : public ExampleSolver<Numbered> {
 public:
  Translate(const Config& config, Purpose purpose, const std::string& folder)
      : ExampleSolver(config, purpose, folder),
        reads_letters_(find_model(config.model, Takes::text, Gives::tokens).reads_letters) {
    if (folder.empty()) {
      learn_tokens();
    } else {
      source_ = Tokenizer::load(folder, "source");
      target_ = Tokenizer::load(folder, "target");
      if (reads_letters_) alphabet_ = Tokenizer::load(folder, "letters");
    }
    asked_ = AskedTokens(*source_, config.tokens == "auto");
    if (purpose == Purpose::learn) parts();
    model_ = model<Translator>({.vocabulary = source_->size(),
                                .target_vocabulary = target_->size(),
                                .alphabet = alphabet_ ? alphabet_->size() : 0,
                                .longest = config.longest + 2});
    if (purpose == Purpose::learn) {
      start_from_vectors(config, parameters_, *source_);
      std::vector<const std::vector<int32_t>*> targets;
      for (const Numbered& e : parts().train) targets.push_back(&e.target_ids);
      start_from_frequencies(model_->output_bias(), targets);
    }
  }

  void save_vocabulary(const std::string& folder) const override {
    source_->save(folder, "source");
    target_->save(folder, "target");
    if (alphabet_) alphabet_->save(folder, "letters");
  }

  Loss loss(int64_t number) override {
    const auto chosen = batch(number);
    const Lesson lesson = lesson_of(chosen);
    return {model_->loss(inputs(chosen), lesson.target, lesson.wanted, config_.smoothing),
            lesson.wanted.elements(), lesson.wanted.elements()};
  }

  std::vector<Metric> validate() override { return measure(validation_examples(), 1).values(); }
  Evaluation evaluate(const std::string& part) override {
    return measure(examples(part), config_.beam);
  }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    std::vector<Numbered> numbered;
    for (const std::string& line : lines) numbered.push_back(ask(Pair{line, "", {}}));
    return answer(numbered, std::max(config_.beam, options.nbest), options.nbest, options.details);
  }

  // Each token of the given target, after those before it.
  std::vector<ScoredText> score(const std::vector<std::string>& lines) const override {
    std::vector<ScoredText> all;
    for (const std::string& line : lines) {
      const Pair pair = pair_of(line);
      check(!pair.target.empty(), "score: needs a source, a tab and its translation, got '", line,
            "'");
      const Numbered example = ask(pair);
      const Taught taught = teach({example});
      ScoredText scored;
      for (int32_t id : example.target_ids) scored.tokens.push_back(target_->piece(id));
      scored.tokens.push_back("(end)");
      const Tensor loss = cross_entropy_each(taught.out.scores, taught.wanted);
      for (float x : loss.read()) scored.log_probability.push_back(-x);
      all.push_back(std::move(scored));
    }
    return all;
  }

  // With the translations that they have: what is looked at then is the truth, not an answer.
  std::vector<std::string> lines_of(const std::string& part) override {
    std::vector<std::string> lines;
    for (const Numbered& e : examples(part)) lines.push_back(e.source + "\t" + e.target);
    return lines;
  }

  // Of a source, or of a source, a tab and the translation that is given.
  Drawing attend(const std::string& input) const override {
    Numbered example = ask(pair_of(input));
    check(!example.source_ids.empty(), "attend: the input has no tokens");
    if (example.target.empty()) {
      example.target = answer({example}, config_.beam, 1)[0].at(0).text;
      example.target_ids = target_->encode(example.target);
    }
    Recorder recorder(capture_of(std::max(example.source_ids.size(), example.target_ids.size())));
    teach({example});
    return {example.target, maps_of(recorder, 0, [&](const std::string& name) {
              const PlacedTokens source = placed_tokens(asked_.of(example.source), example.source);
              std::vector<std::string> target = target_->pieces(example.target);
              if (name.starts_with("encoder")) return within(source);
              if (name.ends_with("/letters")) return onto(target, letters_of(example, source));
              // Self-attention of a decoder stands on the tokens it has read, the first being none.
              std::vector<std::string> read = target;
              read.insert(read.begin(), "(begin)");
              target.push_back("(end)");
              return name.ends_with("self") ? MapLabels{target, read} : onto(target, source);
            })};
  }

 protected:
  std::vector<Numbered> read(const std::string& path) const override {
    ReadSummary summary;
    auto pairs = read_pairs(path, read_options(config_), &summary);
    note_file(summary);
    return number(std::move(pairs));
  }
  std::vector<Numbered> read_other(const std::string& path) const override {
    std::vector<Numbered> all = read(path);
    std::vector<std::string> sources;
    for (const Numbered& e : all) sources.push_back(e.source);
    const Tokenizer& tokens = asked_.of_all(sources);
    for (Numbered& e : all) number_source(e, tokens);
    return all;
  }
  std::vector<Numbered> generate(const std::string& name, int64_t n, Random random) const override {
    return number(name == "dates" ? generate_dates(n > 0 ? n : 12'000, random)
                                  : generate_reverse(n > 0 ? n : 12'000, random));
  }
  Lengths lengths_of(const Numbered& e) const override {
    return {static_cast<int64_t>(e.source_ids.size()),
            static_cast<int64_t>(e.target_ids.size()) + 1};
  }
  double unknown_part(const std::vector<Numbered>& of) const override {
    std::vector<const std::vector<int32_t>*> lists;
    for (const Numbered& e : of) lists.push_back(&e.source_ids);
    return unknown_part_of(lists);
  }

 private:
  struct Taught {
    Decoder::Taught out;
    Tensor wanted;  // int32 [rows]
  };

  static Pair pair_of(const std::string& line) {
    const size_t tab = line.find('\t');
    Pair pair;
    pair.source = line.substr(0, tab);
    if (tab != std::string::npos) pair.target = line.substr(tab + 1);
    return pair;
  }

  std::string target_kind() const {
    return config_.target_tokens.empty() ? config_.tokens : config_.target_tokens;
  }

  // The data is read once without numbers to learn the tokens from, and numbered when asked again.
  void learn_tokens() {
    std::vector<std::string> sources, targets;
    for (const Numbered& e : parts().train)
      sources.push_back(e.source), targets.push_back(e.target);
    TokenizerOptions options{.kind = config_.tokens,
                             .lowercase = config_.lowercase,
                             .min_count = config_.min_count,
                             .max_size = config_.vocabulary};
    const bool shared = config_.settings.get("shared") == "true";
    if (shared) sources.insert(sources.end(), targets.begin(), targets.end());
    if (reads_letters_) alphabet_ = Tokenizer::learn({.kind = "chars"}, sources);
    const size_t own = sources.size();
    add_vector_words(config_, sources);
    source_ = Tokenizer::learn(options, sources);
    sources.resize(own);
    const std::string& kind = source_->options().kind;
    check(!reads_letters_ || kind == "words" || kind == "spaces", "translate: the model ",
          config_.model, " reads words and their letters, but the tokens are ", kind,
          "; take words or spaces");
    options.kind = target_kind();
    target_ = shared ? source_ : Tokenizer::learn(options, targets);
    if (config_.tokens == "auto") note_tokens("source tokens", sources);
    if (options.kind == "auto" && !shared) note_tokens("target tokens", targets);
    change_examples([this](Numbered& e) { fill(e); });
  }

  void fill(Numbered& e) const {
    if (!source_) return;
    number_source(e, *source_);
    e.target_ids = target_->encode(e.target);
  }
  void number_source(Numbered& e, const Tokenizer& tokens) const {
    e.source_ids = tokens.encode(e.source);
    if (!alphabet_) return;
    e.letters.clear();
    for (const Token& token : tokens.pieces_with_places(e.source)) {
      e.letters.push_back(alphabet_->encode(token.text));
      if (e.letters.back().empty()) e.letters.back() = {Tokenizer::unknown};
    }
  }
  // The letters of the source's words, each where it stands.
  PlacedTokens letters_of(const Numbered& e, const PlacedTokens& words) const {
    PlacedTokens all;
    for (const TextPlace& word : words.places) {
      const auto begin = static_cast<size_t>(word.begin), end = static_cast<size_t>(word.end);
      const PlacedTokens of_word =
          placed_tokens(*alphabet_, std::string_view(e.source).substr(begin, end - begin));
      for (size_t i = 0; i < of_word.pieces.size(); ++i) {
        all.pieces.push_back(of_word.pieces[i]);
        const TextPlace& at = of_word.places[i];
        all.places.push_back({word.begin + at.begin, word.begin + at.end,
                              word.char_begin + at.char_begin, word.char_begin + at.char_end});
      }
    }
    return all;
  }
  Numbered ask(Pair pair) const {
    Numbered e{std::move(pair), {}, {}};
    number_source(e, asked_.of(e.source));
    e.target_ids = target_->encode(e.target);
    return e;
  }
  Numbered number(Pair pair) const {
    Numbered e{std::move(pair), {}, {}};
    fill(e);
    return e;
  }
  std::vector<Numbered> number(std::vector<Pair> pairs) const {
    std::vector<Numbered> all;
    for (Pair& pair : pairs) all.push_back(number(std::move(pair)));
    return all;
  }

  ModelInputs inputs(const std::vector<Numbered>& of) const {
    std::vector<std::vector<int32_t>> lists;
    std::vector<std::vector<std::vector<int32_t>>> letters;
    for (const Numbered& e : of) {
      lists.push_back(e.source_ids);
      letters.push_back(e.letters);
      if (!lists.back().empty()) continue;
      lists.back() = {Tokenizer::unknown};  // a model needs something to look at
      letters.back() = {{Tokenizer::unknown}};
    }
    ModelInputs in{.text = sequences_of(lists)};
    if (reads_letters_) in.document = nested_sequences_of(letters);
    return in;
  }

  static Lesson lesson_of(const std::vector<Numbered>& of) {
    std::vector<std::vector<int32_t>> targets;
    for (const Numbered& e : of) targets.push_back(e.target_ids);
    return fovea::lesson_of(targets);
  }
  Taught teach(const std::vector<Numbered>& of) const {
    const Lesson lesson = lesson_of(of);
    return {model_->teach(inputs(of), lesson.target), lesson.wanted};
  }

  // What each token of an answer cost, the end included, as the model reads its own answer.
  std::vector<AnswerToken> tokens_of(const Numbered& asked, const std::vector<int32_t>& ids) const {
    Numbered example = asked;
    example.target_ids = ids;
    const Taught taught = teach({example});
    const Tensor likely = log_softmax(taught.out.scores);
    std::vector<AnswerToken> tokens;
    for (size_t t = 0; t <= ids.size(); ++t) {
      const int32_t id = t < ids.size() ? ids[t] : Tokenizer::end;
      const auto row = static_cast<int64_t>(t) * likely.dim(1);
      tokens.push_back({.text = target_->piece(id), .log_probability = likely.read()[row + id]});
    }
    return tokens;
  }

  std::vector<std::vector<Prediction>> answer(const std::vector<Numbered>& of, int64_t beam,
                                              int64_t nbest, bool details = false) const {
    std::vector<std::vector<Prediction>> all(of.size());
    for (const auto& group : groups(of, std::max<int64_t>(1, 128 / beam))) {
      std::vector<Numbered> chosen;
      for (int64_t i : group) chosen.push_back(of[i]);
      const auto answers = beam_search(model_->decoder(), model_->encode(inputs(chosen)),
                                       {.beam = beam,
                                        .nbest = nbest,
                                        .length_penalty = config_.length_penalty,
                                        .begin = Tokenizer::begin,
                                        .end = Tokenizer::end});
      for (size_t i = 0; i < group.size(); ++i) {
        for (const Hypothesis& a : answers[i]) {
          all[group[i]].push_back({target_->decode(a.ids), a.score});
          if (details) all[group[i]].back().tokens = tokens_of(chosen[i], a.ids);
        }
      }
    }
    return all;
  }

  Evaluation measure(const std::vector<Numbered>& of, int64_t beam) const {
    const Stopwatch watch;
    const auto answers = answer(of, beam, 1);
    Evaluation result;
    result.seconds = watch.seconds();
    Evaluation::One bleu{"bleu", {}}, exact{"exact_match", {}}, cer{"cer", {}};
    const BleuOptions options{.tokenize = config_.bleu, .lowercase = config_.lowercase};
    for (size_t i = 0; i < of.size(); ++i) {
      const std::string& text = answers[i].at(0).text;
      // What the model cannot write (a lower-case model: capitals) does not count against it.
      const std::string truth =
          config_.lowercase ? target_->decode(of[i].target_ids) : of[i].target;
      bleu.tallies.push_back(bleu_tally(text, of[i].target, options));
      exact.tallies.push_back(exact_match_tally(text, truth));
      cer.tallies.push_back(cer_tally(text, truth));
      result.inputs.push_back(of[i].source);
      result.truths.push_back(of[i].target);
      result.outputs.push_back(text);
    }
    // Of words written in letters, whether all are right; of sentences, how much of them.
    int64_t spaces = 0;
    for (const Numbered& e : of) spaces += std::ranges::count(e.target, ' ');
    const bool letters =
        (target_kind() == "chars" && spaces < 3 * static_cast<int64_t>(of.size())) ||
        config_.data.starts_with("builtin:");
    result.metrics = letters ? std::vector{exact, cer, bleu} : std::vector{bleu, exact, cer};
    if (auto alignment = measure_alignment(of); !alignment.tallies.empty()) {
      result.metrics.insert(result.metrics.begin() + 1, std::move(alignment));
    }
    return result;
  }

  // Where the true alignment is known and tokens are characters: how often the heaviest key lies
  // where the token comes from, while the right answer is read.
  Evaluation::One measure_alignment(const std::vector<Numbered>& of) const {
    Evaluation::One one{"alignment", {}};
    const bool known = !of.empty() && !of[0].truth.empty() &&
                       config_.settings.get("score") != "none" && config_.tokens == "chars" &&
                       target_kind() == "chars";
    if (!known) return one;
    one.tallies.resize(of.size());
    for (const auto& group : groups(of, 128)) {
      std::vector<Numbered> chosen;
      for (int64_t i : group) chosen.push_back(of[i]);
      Recorder recorder;
      teach(chosen);
      for (size_t b = 0; b < group.size(); ++b) {
        one.tallies[group[b]] = alignment_tally(recorder, b, chosen[b]);
      }
    }
    return one;
  }

  static Tally alignment_tally(const Recorder& recorder, int64_t b, const Numbered& e) {
    const size_t keys = e.source_ids.size(), queries = e.target_ids.size();
    const MapLabels labels{std::vector<std::string>(queries), std::vector<std::string>(keys)};
    std::vector<float> sum(queries * keys, 0);  // over all heads that look at the source
    for (const AttentionMap& map : maps_of(recorder, b, [&](auto&) { return labels; })) {
      if (map.name.find("self") != std::string::npos) continue;
      std::ranges::transform(sum, map.weights, sum.begin(), std::plus());
    }
    Tally tally{0, 0};
    for (size_t t = 0; t < std::min(e.truth.size(), queries); ++t) {
      if (e.truth[t].from < 0) continue;
      const auto row = sum.begin() + static_cast<int64_t>(t * keys);
      const auto at = std::max_element(row, row + static_cast<int64_t>(keys)) - row;
      tally[0] += at >= e.truth[t].from && at < e.truth[t].to;
      tally[1] += 1;
    }
    return tally;
  }

  bool reads_letters_;
  std::optional<Tokenizer> source_, target_, alphabet_;
  AskedTokens asked_;
  std::unique_ptr<const Translator> model_;
};

}  // namespace

std::unique_ptr<Solver> make_translate(const Config& config, Purpose purpose,
                                       const std::string& folder) {
  return std::make_unique<Translate>(config, purpose, folder);
}

}  // namespace fovea
