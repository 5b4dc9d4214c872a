// lm: what comes next. Text is one long row of tokens, learned in windows.
#include <algorithm>
#include <cmath>

#include "fovea/attention/recorder.h"
#include "fovea/base/utf8.h"
#include "fovea/data/asked_tokens.h"
#include "fovea/data/batches.h"
#include "fovea/data/builtin.h"
#include "fovea/data/examples.h"
#include "fovea/data/tokenizer.h"
#include "fovea/op/softmax.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"
#include "fovea/task/sampling.h"
#include "fovea/task/sequence_share.h"

namespace fovea {
namespace {

using Ids = std::vector<int32_t>;
using Tell = std::function<void(std::string_view)>;

// Where a line is not a token of its own (words, pieces), its end is said by the end token.
bool keeps_lines(const std::string& kind) { return kind == "chars" || kind == "bytes"; }

class Lm final : public Solver {
 public:
  Lm(const Config& config, Purpose purpose, const std::string& folder)
      : Solver(config, purpose, folder) {
    std::vector<std::string> lines;
    if (purpose == Purpose::learn || folder.empty()) lines = learned_lines();
    if (folder.empty()) {
      tokens_ = Tokenizer::learn({.kind = config.tokens,
                                  .lowercase = config.lowercase,
                                  .min_count = config.min_count,
                                  .max_size = config.vocabulary},
                                 keeps_lines(config.tokens) ? with_breaks(lines) : lines);
      if (config.tokens == "auto") note_tokens("tokens", lines);
    } else {
      tokens_ = Tokenizer::load(folder, "tokens");
    }
    asked_ = AskedTokens(*tokens_, config.tokens == "auto");
    if (purpose == Purpose::learn) number(lines);
    model_ = model<LanguageModel>({.vocabulary = tokens_->size(), .longest = config.context});
    counts_ = dynamic_cast<const CountsText*>(model_.get());
    if (!counts_) return;
    if (!folder.empty()) {
      const Tensor known = Safetensors::open(folder + "/text.safetensors").load("ids");
      known_.assign(known.read<int32_t>().begin(), known.read<int32_t>().end());
    } else {
      known_ = train_;
    }
    counts_->count(known_);
  }

  void save_vocabulary(const std::string& folder) const override {
    tokens_->save(folder, "tokens");
    if (!counts_) return;
    save_safetensors(folder + "/text.safetensors",
                     std::vector<NamedTensor>{
                         {"ids", Tensor::of({static_cast<int64_t>(known_.size())}, known_)}});
  }
  bool learns_by_steps() const override { return !counts_; }

  std::string summary() override {
    if (train_.empty()) number(learned_lines());
    return say(train_.size(), " tokens to learn from, ", dev_.size(), " to validate on, ",
               test_.size(), " to test on, ", tokens_->size(), " different ones");
  }

  DataReport data_report() override {
    summary();
    DataReport report;
    report.unit = "tokens";
    report.train = static_cast<int64_t>(train_.size());
    report.dev = static_cast<int64_t>(dev_.size());
    report.test = static_cast<int64_t>(test_.size());
    report.split = split_text();
    report.files = files();
    report.vocabulary = tokens_->size();
    const auto unknown = std::ranges::count(dev_, Tokenizer::unknown);
    report.unknown = static_cast<double>(unknown) / static_cast<double>(dev_.size());
    return report;
  }

  // Windows side by side from a beginning that every epoch draws anew, so that the model does not
  // see the same cuts each time.
  int64_t begin_epoch(int64_t epoch) override {
    Random random = Random(config_.seed).fork("order").fork(static_cast<uint64_t>(epoch));
    const auto n = static_cast<int64_t>(train_.size()) - 1;
    const int64_t first =
        n > config_.context
            ? static_cast<int64_t>(random.below(std::min(config_.context, n - config_.context)))
            : 0;
    starts_.clear();
    for (int64_t i : shuffled(std::max<int64_t>(1, (n - first) / config_.context), random)) {
      starts_.push_back(first + i * config_.context);
    }
    return (static_cast<int64_t>(starts_.size()) + config_.batch - 1) / config_.batch;
  }

  Loss loss(int64_t batch) override {
    std::vector<Ids> inputs;
    Ids wanted;
    const int64_t n = examples_in(batch), first = batch * config_.batch;
    for (int64_t i = first + shard_.begin(n); i < first + shard_.end(n); ++i) {
      const int64_t start = starts_[static_cast<size_t>(i)];
      const Window window{train_, start, start};
      inputs.push_back(window.input(config_.context));
      const Ids next = window.wanted(config_.context);
      wanted.insert(wanted.end(), next.begin(), next.end());
    }
    if (SequenceRing* ring = SequenceRing::current()) share(*ring, inputs, wanted);
    const Tensor targets = Tensor::of({static_cast<int64_t>(wanted.size())}, wanted);
    return {cross_entropy(model_->scores(sequences_of(inputs)), targets, config_.smoothing),
            targets.elements(), targets.elements()};
  }
  int64_t examples_in(int64_t batch) const override {
    return std::min(config_.batch, static_cast<int64_t>(starts_.size()) - batch * config_.batch);
  }

  std::vector<Metric> validate() override {
    const int64_t most = config_.validate_examples > 0 ? config_.validate_examples : 1 << 30;
    return measure(dev_, dev_bytes_, config_.context, most).values();
  }

  // Leaves of each window, and of what comes next in it, this rank's part.
  void share(SequenceRing& ring, std::vector<Ids>& inputs, Ids& wanted) const {
    check_shares_sequences(config_);
    std::vector<int64_t> lengths;
    for (const Ids& window : inputs) lengths.push_back(static_cast<int64_t>(window.size()));
    ring.share(lengths);
    Ids parts;
    auto from = wanted.begin();
    for (Ids& window : inputs) {
      const auto to = from + static_cast<int64_t>(window.size());
      const Ids part = ring.part_of(Ids(std::exchange(from, to), to));
      parts.insert(parts.end(), part.begin(), part.end());
      window = ring.part_of(window);
    }
    wanted = std::move(parts);
  }

  // Each token is predicted from at least half a context, but for those at the very beginning.
  Evaluation evaluate(const std::string& part) override {
    const std::string& file = part == "dev" ? config_.dev : part == "test" ? config_.test : part;
    const int64_t stride = config_.context / 2, all = 1 << 30;
    if (!file.empty()) {
      const auto lines = load(file);
      const Ids ids = encode(lines);
      return measure(ids, bytes_of(lines), stride, all);
    }
    if (train_.empty()) number(learned_lines());
    return part == "dev" ? measure(dev_, dev_bytes_, stride, all)
                         : measure(test_, test_bytes_, stride, all);
  }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    std::vector<std::vector<Prediction>> all;
    for (size_t i = 0; i < lines.size(); ++i) {
      all.emplace_back();
      for (int64_t n = 0; n < options.nbest; ++n) {
        Random random = Random(options.seed)
                            .fork("continue")
                            .fork(options.first + i)
                            .fork(static_cast<uint64_t>(n));
        Tell tell;
        if (options.written && n == 0) {
          tell = [&options, i](std::string_view piece) { options.written(i, piece); };
        }
        all.back().push_back(go_on(lines[i], random, tell, options.details));
      }
    }
    return all;
  }

  // Each line as it would stand in a text: after the end of another, and with its own end.
  std::vector<ScoredText> score(const std::vector<std::string>& lines) const override {
    std::vector<ScoredText> all;
    for (const std::string& line : lines) {
      Ids text = encode({""});
      const Ids ids = encode({line});
      text.insert(text.end(), ids.begin(), ids.end());
      ScoredText scored;
      for (const Window& window : windows_of(text, std::max<int64_t>(1, config_.context / 2),
                                             std::numeric_limits<int64_t>::max())) {
        const Ids input = window.input(config_.context), wanted = window.wanted(config_.context);
        const Tensor loss =
            cross_entropy_each(model_->scores(sequences_of({&input, 1})),
                               Tensor::of({static_cast<int64_t>(wanted.size())}, wanted));
        for (auto t = static_cast<size_t>(window.asked - window.first); t < wanted.size(); ++t) {
          scored.tokens.push_back(wanted[t] == Tokenizer::end ? "(end)"
                                                              : tokens_->piece(wanted[t]));
          scored.log_probability.push_back(-loss.read()[t]);
        }
      }
      all.push_back(std::move(scored));
    }
    return all;
  }

  // Contexts one after the other.
  std::vector<std::string> lines_of(const std::string& part) override {
    const std::string& file = part == "dev" ? config_.dev : part == "test" ? config_.test : part;
    if (file.empty() && train_.empty()) number(learned_lines());
    const Ids text = !file.empty() ? encode(load(file)) : part == "dev" ? dev_ : test_;
    std::vector<std::string> lines;
    for (size_t from = 0; from < text.size(); from += config_.context) {
      const size_t to = std::min(text.size(), from + static_cast<size_t>(config_.context));
      lines.push_back(tokens_->decode({text.begin() + from, text.begin() + to}));
    }
    return lines;
  }

  bool writes_as_it_goes() const override { return true; }

  Drawing attend(const std::string& input) const override {
    Ids ids = asked_.of(input).encode(input);
    PlacedTokens tokens = placed_tokens(asked_.of(input), input);
    check(!ids.empty(), "attend: the input has no tokens");
    if (static_cast<int64_t>(ids.size()) > config_.context) {
      ids.resize(config_.context);
      tokens.pieces.resize(config_.context), tokens.places.resize(config_.context);
    }
    Recorder recorder(capture_of(ids.size()));
    model_->scores(sequences_of({&ids, 1}));
    return {input, maps_of(recorder, 0, [&](const std::string&) { return within(tokens); })};
  }

 private:
  // Part of a text: read from `first`, asked from `asked` on.
  struct Window {
    const Ids& text;
    int64_t first, asked;

    int64_t end(int64_t context) const {
      return std::min(first + context, static_cast<int64_t>(text.size()) - 1);
    }
    Ids input(int64_t context) const { return {text.begin() + first, text.begin() + end(context)}; }
    Ids wanted(int64_t context) const {
      return {text.begin() + first + 1, text.begin() + end(context) + 1};
    }
  };

  std::vector<std::string> learned_lines() const {
    check_source(config_.data);
    return load(config_.data);
  }
  std::vector<std::string> load(const std::string& source) const {
    constexpr std::string_view builtin = "builtin:";
    if (!source.starts_with(builtin)) {
      ReadSummary summary;
      auto texts = read_texts(source, read_options(config_), &summary);
      note_file(summary);
      return texts;
    }
    find_builtin(find_task(config_.task), source.substr(builtin.size()));
    std::vector<std::string> lines;
    const int64_t n = config_.examples > 0 ? config_.examples : 20'000;
    for (const Pair& pair : generate_dates(n, Random(0).fork(source))) {
      lines.push_back(pair.source + " = " + pair.target);
    }
    return lines;
  }
  static std::vector<std::string> with_breaks(const std::vector<std::string>& lines) {
    std::vector<std::string> all;
    for (const std::string& line : lines) all.push_back(line + "\n");
    return all;
  }
  Ids encode(const std::vector<std::string>& lines) const {
    Ids all;
    for (const std::string& line : lines) {
      const Ids ids = tokens_->encode(keeps_lines(config_.tokens) ? line + "\n" : line);
      all.insert(all.end(), ids.begin(), ids.end());
      if (!keeps_lines(config_.tokens)) all.push_back(Tokenizer::end);
    }
    return all;
  }
  static double bytes_of(const std::vector<std::string>& lines) {
    double bytes = 0;
    for (const std::string& line : lines) bytes += static_cast<double>(line.size()) + 1;
    return bytes;
  }
  // The end of the text tests, what is before it validates, as is the custom of the field.
  void number(const std::vector<std::string>& lines) {
    train_ = encode(lines);
    const auto whole = static_cast<double>(train_.size());
    const double bytes = bytes_of(lines);
    const auto held_out = [&](const std::string& file, double part, std::string_view name,
                              double& its_bytes) {
      if (!file.empty()) {
        const auto others = load(file);
        its_bytes = bytes_of(others);
        return encode(others);
      }
      check(part > 0 && part < 1, name, "_part: must be between 0 and 1, got ", part);
      const auto n = std::min(train_.size(), static_cast<size_t>(std::llround(whole * part)));
      const Ids end(train_.end() - static_cast<ptrdiff_t>(n), train_.end());
      train_.resize(train_.size() - n);
      its_bytes = bytes * static_cast<double>(n) / whole;
      return end;
    };
    test_ = held_out(config_.test, config_.test_part, "test", test_bytes_);
    dev_ = held_out(config_.dev, config_.dev_part, "dev", dev_bytes_);
    check(train_.size() >= 2 && dev_.size() >= 2 && test_.size() >= 2, config_.data,
          ": has too little text to learn from: ", train_.size(), " tokens, ", dev_.size(),
          " to validate on and ", test_.size(), " to test on");
  }

  // Windows begin `stride` tokens apart; what an earlier one predicted is not asked again.
  std::vector<Window> windows_of(const Ids& text, int64_t stride, int64_t most) const {
    std::vector<Window> windows;
    int64_t asked = 0;
    const auto n = static_cast<int64_t>(text.size()) - 1;
    for (int64_t first = 0; asked < n && static_cast<int64_t>(windows.size()) < most;
         first += stride) {
      windows.push_back({text, first, asked});
      asked = windows.back().end(config_.context);
    }
    return windows;
  }
  // `bytes`: of all the text.
  Evaluation measure(const Ids& text, double bytes, int64_t stride, int64_t most) const {
    check(text.size() >= 2, "lm: needs at least 2 tokens to measure on, got ", text.size());
    const std::vector<Window> windows = windows_of(text, stride, most);
    Evaluation result;
    Evaluation::One loss{"loss", {}}, perplexity{"perplexity", {}}, bits{"bits_per_byte", {}};
    const double token_bytes = bytes / static_cast<double>(text.size());
    const Stopwatch watch;
    // Some thousand tokens keep the machine busy; more would only take memory.
    const auto at_once = static_cast<size_t>(std::clamp<int64_t>(8192 / config_.context, 1, 16));
    for (size_t from = 0; from < windows.size(); from += at_once) {
      std::vector<Ids> inputs;
      Ids wanted;
      const size_t to = std::min(windows.size(), from + at_once);
      for (size_t i = from; i < to; ++i) {
        inputs.push_back(windows[i].input(config_.context));
        const Ids next = windows[i].wanted(config_.context);
        wanted.insert(wanted.end(), next.begin(), next.end());
      }
      const Tensor each =
          cross_entropy_each(model_->scores(sequences_of(inputs)),
                             Tensor::of({static_cast<int64_t>(wanted.size())}, wanted));
      const float* row = each.read().data();
      for (size_t i = from; i < to; ++i) {
        Tally tally{0, 0};
        const auto skip = static_cast<size_t>(windows[i].asked - windows[i].first);
        for (size_t t = skip; t < inputs[i - from].size(); ++t) tally[0] += row[t], ++tally[1];
        row += inputs[i - from].size();
        loss.tallies.push_back(tally);
        bits.tallies.push_back({tally[0], tally[1] * token_bytes});
        const Ids shown(inputs[i - from].begin(),
                        inputs[i - from].begin() + std::min<size_t>(24, inputs[i - from].size()));
        result.inputs.push_back(tokens_->decode(shown));
        result.truths.emplace_back();
        result.outputs.push_back(say(tally[0] / std::max(1.0, tally[1])));
      }
    }
    result.seconds = watch.seconds();
    perplexity.tallies = loss.tallies;
    result.metrics = {loss, perplexity, bits};
    return result;
  }

  // A prompt and what follows it, with the log-probability of what follows; `tell` gets the pieces.
  Prediction go_on(const std::string& prompt, Random& random, const Tell& tell,
                   bool details) const {
    Ids ids = asked_.of(prompt).encode(prompt);
    if (ids.empty()) ids = {Tokenizer::end};
    const int64_t room = model_->longest();
    check(room > 1, "lm: the model has no room to continue");
    const Sampling how{config_.temperature, config_.top_k, config_.top_p};
    // The end of a line is said by a token of its own, which may be drawn; the others may not.
    const int32_t barred = keeps_lines(config_.tokens) ? Tokenizer::end + 1 : Tokenizer::end;
    Ids out;
    double score = 0;
    std::vector<AnswerToken> tokens;
    auto text = model_->start();
    Tensor scores;
    const auto read = [&](const Ids& all) {
      const auto last =
          std::min<int64_t>(static_cast<int64_t>(all.size()), std::max<int64_t>(1, room / 2));
      const Ids tail(all.end() - last, all.end());
      text = model_->start();
      scores = text->step(Tensor::of({1, last}, tail));
    };
    // Of text whose last token may be half a character, or may yet change what is before it, that
    // much is told as has settled.
    std::string told;
    if (tell) tell(prompt);
    const auto tell_more = [&](bool last) {
      if (!tell) return;
      const std::string now = decode(out);
      if (!now.starts_with(told) || (!last && first_not_utf8(now) >= 0)) return;
      if (now.size() > told.size()) tell(std::string_view(now).substr(told.size()));
      told = now;
    };
    read(ids);
    for (int64_t i = 0; i < config_.length; ++i) {
      const Tensor likely = log_softmax(scores);
      const int32_t next = draw_token(likely.read(), how, barred, random);
      score += likely.read()[next];
      if (details) {
        tokens.push_back({.text = tokens_->piece(next), .log_probability = likely.read()[next]});
      }
      ids.push_back(next), out.push_back(next);
      tell_more(i + 1 == config_.length);
      if (i + 1 == config_.length) break;
      if (text->length() >= room) {
        read(ids);  // no place is left: go on from the last half
      } else {
        scores = text->step(Tensor::of({1}, Ids{next}));
      }
    }
    Prediction prediction{prompt + decode(out), score};
    prediction.tokens = std::move(tokens);
    return prediction;
  }

  std::string decode(const Ids& ids) const {
    std::string text;
    Ids line;
    for (int32_t id : ids) {
      if (id != Tokenizer::end) {
        line.push_back(id);
        continue;
      }
      text += tokens_->decode(line) + "\n";
      line.clear();
    }
    return text + tokens_->decode(line);
  }

  std::optional<Tokenizer> tokens_;
  AskedTokens asked_;
  Ids train_, dev_, test_;
  double dev_bytes_ = 0, test_bytes_ = 0;
  std::vector<int64_t> starts_;
  std::unique_ptr<const LanguageModel> model_;
  const CountsText* counts_ = nullptr;
  Ids known_;  // what it counted
};

}  // namespace

std::unique_ptr<Solver> make_lm(const Config& config, Purpose purpose, const std::string& folder) {
  return std::make_unique<Lm>(config, purpose, folder);
}

}  // namespace fovea
