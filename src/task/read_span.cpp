// read, for models that give a span: the answer is a part of the passage, or there is none.
#include <cmath>
#include <limits>

#include "fovea/attention/recorder.h"
#include "fovea/model/reader/span_reader.h"
#include "fovea/task/answer_spans.h"
#include "fovea/task/names.h"
#include "fovea/task/read_kinds.h"
#include "fovea/task/read_solver.h"
#include "fovea/task/vectors.h"
#include "fovea/train/answer_metrics.h"

namespace fovea {
namespace {

// First and last token of bytes [begin, end); first < 0 where none is among them.
struct TokenSpan {
  int64_t first = -1, last = -1;
};
TokenSpan tokens_in(const TextNumbers& numbers, int64_t begin, int64_t end) {
  TokenSpan span;
  const auto at = std::ranges::upper_bound(numbers.ends, begin);
  for (auto i = at - numbers.ends.begin(); i < numbers.size(); ++i) {
    if (numbers.begins[static_cast<size_t>(i)] >= end) break;
    if (span.first < 0) span.first = i;
    span.last = i;
  }
  return span;
}

class ReadSpan final : public ReadSolver {
 public:
  ReadSpan(const Config& config, Purpose purpose, const std::string& folder)
      : ReadSolver(config, purpose, folder) {
    begin(purpose, folder);
    if (folder.empty()) {
      std::vector<std::string> kinds{"answered"};
      if (std::ranges::any_of(parts().train,
                              [](const NumberedQuestion& e) { return e.answers.empty(); })) {
        kinds.emplace_back("unanswered");
      }
      kinds_ = Vocabulary::of(kinds);
    } else {
      kinds_ = load_names(folder, "questions");
    }
    model_ = model<SpanReader>({.vocabulary = tokens_->size(),
                                .alphabet = alphabet_->size(),
                                .labels = kinds_.size(),
                                .longest = config.longest});
    if (purpose == Purpose::learn) start_from_vectors(config, parameters_, *tokens_);
  }

  void save_vocabulary(const std::string& folder) const override {
    ReadSolver::save_vocabulary(folder);
    save_names(folder, "questions", kinds_);
  }

  Loss loss(int64_t number) override {
    const auto chosen = batch(number);
    std::vector<Asked> asked;
    std::vector<int32_t> targets;
    for (const NumberedQuestion& e : chosen) {
      const TokenSpan span = answer_tokens(e);
      const PassageWindow w = window_around(e, std::max<int64_t>(0, (span.first + span.last) / 2));
      asked.push_back({&e, w});
      // An answer that is longer than a window is learned as far as it is seen.
      const auto column = [&](int64_t token) {
        return static_cast<int32_t>(1 + std::clamp(token, w.from, w.to - 1) - w.from);
      };
      if (e.answers.empty()) {
        targets.insert(targets.end(), {0, 0});
      } else if (span.first < 0) {
        targets.insert(targets.end(), {-1, -1});  // nothing of it is a token
      } else {
        targets.insert(targets.end(), {column(span.first), column(span.last)});
      }
    }
    const ModelInputs in = inputs(asked);
    const Tensor wanted = Tensor::of({static_cast<int64_t>(chosen.size()), 2}, targets);
    return {model_->loss(in, wanted, config_.smoothing), in.text.rows() + in.question.rows()};
  }

  // The given answer of each line, behind its last tab, wherever the passage has it.
  std::vector<ScoredText> score(const std::vector<std::string>& lines) const override {
    std::vector<ScoredText> all;
    for (const std::string& line : lines) {
      const size_t tab = line.rfind('\t');
      check(tab != std::string::npos, "score: needs a passage, a question and an answer with tabs ",
            "between them, got '", shortened(line), "'");
      const std::vector<NumberedQuestion> of{ask(line.substr(0, tab))};
      const std::string given = line.substr(tab + 1);
      const auto windows = read_windows(of)[0];
      std::vector<TokenSpan> places;
      for (size_t at = of[0].passage->find(given); at != std::string::npos && !given.empty();
           at = of[0].passage->find(given, at + 1)) {
        const auto begin = static_cast<int64_t>(at);
        places.push_back(
            tokens_in(*of[0].numbers, begin, begin + static_cast<int64_t>(given.size())));
      }
      check(given.empty() || !places.empty(), "score: the answer '", shortened(given),
            "' is not in its passage");
      double p = 0;
      for (const TokenSpan& span : places) {
        p += std::exp(span_log_probability(windows, span.first, span.last));
      }
      if (given.empty()) p = std::exp(span_log_probability(windows, -1, -1));
      all.push_back({{given.empty() ? "(no answer)" : given},
                     {std::log(std::max(p, std::numeric_limits<double>::min()))}});
    }
    return all;
  }

  Drawing attend(const std::string& input) const override {
    const std::vector<NumberedQuestion> of{ask(input)};
    const NumberedQuestion& e = of[0];
    const bool whole = windows_of(e).size() == 1;
    std::vector<std::vector<ScoredWindow>> windows;
    std::vector<AttentionMap> maps;
    {
      Recorder recorder(capture_of(static_cast<size_t>(e.numbers->size() + e.asked.size())));
      windows = read_windows(of);
      // Of a passage that was read in windows the answer alone is shown.
      if (whole) maps = maps_over(recorder, e);
    }
    const Prediction best = prediction(e, best_spans(windows[0], choice(1))[0]);
    maps.insert(
        maps.begin(),
        marked(e, best.text, inside_answer(windows[0], e.numbers->size(), config_.longest_answer)));
    return {e.question + " → " + (best.text.empty() ? "(no answer)" : best.text), std::move(maps)};
  }

 protected:
  bool chooses() const override { return false; }

  Evaluation measure(const std::vector<NumberedQuestion>& of) const override {
    const Stopwatch watch;
    const auto found = answer(of, 1);
    Evaluation result;
    result.seconds = watch.seconds();
    const bool second = std::ranges::any_of(of, &NumberedQuestion::may_be_unanswered);
    const AnswerRules rules = second ? AnswerRules::squad_2 : AnswerRules::squad_1;
    Evaluation::One f1{"answer_f1", {}}, em{"answer_em", {}};
    for (size_t i = 0; i < of.size(); ++i) {
      std::vector<std::string> truths;
      for (const PassageAnswer& one : of[i].answers) truths.push_back(one.text);
      const std::string& text = found[i][0].text;
      f1.tallies.push_back(answer_f1_tally(text, truths, rules));
      em.tallies.push_back(answer_em_tally(text, truths, rules));
      result.inputs.push_back(line_of(of[i]));
      result.truths.push_back(truths.empty() ? "(no answer)" : truths[0]);
      result.outputs.push_back(text.empty() ? "(no answer)" : text);
    }
    result.metrics = {f1, em};
    if (!second) return result;
    // Apart, those that have an answer and those that have none.
    for (const bool has : {true, false}) {
      for (const Evaluation::One& whole : {f1, em}) {
        Evaluation::One part{whole.metric + (has ? "@answered" : "@unanswered"), {}};
        for (size_t i = 0; i < of.size(); ++i) {
          part.tallies.push_back(of[i].answers.empty() != has ? whole.tallies[i] : Tally{0, 0});
        }
        result.metrics.push_back(std::move(part));
      }
    }
    return result;
  }

 private:
  SpanChoice choice(int64_t nbest) const {
    return {.longest = config_.longest_answer, .no_answer = config_.no_answer, .nbest = nbest};
  }
  static TokenSpan answer_tokens(const NumberedQuestion& e) {
    if (e.answers.empty()) return {};
    const auto& [text, at] = e.answers[0];
    return tokens_in(*e.numbers, at, at + static_cast<int64_t>(text.size()));
  }

  // What the model makes of every window of each question.
  std::vector<std::vector<ScoredWindow>> read_windows(
      const std::vector<NumberedQuestion>& of) const {
    std::vector<std::vector<ScoredWindow>> all(of.size());
    for (const Group& group : all_windows(of)) {
      const SpanReader::Output out = (*model_)(inputs(group.asked));
      const auto columns = static_cast<size_t>(out.start.dim(1));
      for (size_t row = 0; row < group.of.size(); ++row) {
        const PassageWindow& window = group.asked[row].window;
        const auto scores = [&](const Tensor& t) {
          const auto from = t.read().begin() + static_cast<int64_t>(row * columns);
          return std::vector<float>(from, from + 1 + window.size());
        };
        all[group.of[row]].push_back({window.from, scores(out.start), scores(out.end)});
      }
    }
    return all;
  }

  static Prediction prediction(const NumberedQuestion& e, const FoundSpan& span) {
    Prediction p;
    p.score = span.log_probability;
    if (span.first < 0) return p;
    p.text = text_of(e, span.first, span.last);
    p.place = place_of(e, span.first, span.last);
    return p;
  }

  std::vector<std::vector<Prediction>> answer(const std::vector<NumberedQuestion>& of,
                                              int64_t nbest) const override {
    std::vector<std::vector<Prediction>> all(of.size());
    const auto windows = read_windows(of);
    for (size_t i = 0; i < of.size(); ++i) {
      for (const FoundSpan& span : best_spans(windows[i], choice(nbest))) {
        all[i].push_back(prediction(of[i], span));
      }
    }
    return all;
  }

  Vocabulary kinds_;  // of questions: answered, and where there are some, unanswered
  std::unique_ptr<const SpanReader> model_;
};

}  // namespace

std::unique_ptr<Solver> make_read_span(const Config& config, Purpose purpose,
                                       const std::string& folder) {
  return std::make_unique<ReadSpan>(config, purpose, folder);
}

}  // namespace fovea
