// read, for models that choose: the answer to a question with a blank is one of its candidates.
#include <cmath>
#include <limits>

#include "fovea/attention/recorder.h"
#include "fovea/base/utf8.h"
#include "fovea/model/model.h"
#include "fovea/op/softmax.h"
#include "fovea/task/read_kinds.h"
#include "fovea/task/read_solver.h"
#include "fovea/task/vectors.h"

namespace fovea {
namespace {

int64_t candidate_called(const NumberedQuestion& e, const std::string& text) {
  const std::string wanted = to_lowercase(text);
  for (size_t c = 0; c < e.candidates.size(); ++c) {
    if (to_lowercase(e.candidates[c]) == wanted) return static_cast<int64_t>(c);
  }
  return -1;
}

class ReadChoice final : public ReadSolver {
 public:
  ReadChoice(const Config& config, Purpose purpose, const std::string& folder)
      : ReadSolver(config, purpose, folder) {
    begin(purpose, folder);
    model_ = model<Scorer>(
        {.vocabulary = tokens_->size(), .alphabet = alphabet_->size(), .longest = config.longest});
    if (purpose == Purpose::learn) start_from_vectors(config, parameters_, *tokens_);
  }

  Loss loss(int64_t number) override {
    const auto chosen = batch(number);
    std::vector<Asked> asked;
    std::vector<int32_t> targets;
    for (const NumberedQuestion& e : chosen) {
      const int64_t right = candidate_called(e, e.answers[0].text);
      targets.push_back(static_cast<int32_t>(right));
      const auto& named = e.mentions[static_cast<size_t>(right)];
      asked.push_back({&e, window_around(e, named.empty() ? 0 : named[0])});
    }
    const ModelInputs in = with_candidates(asked);
    const Tensor wanted = Tensor::of({static_cast<int64_t>(chosen.size())}, targets);
    return {model_->loss(in, wanted, config_.smoothing), in.text.rows() + in.question.rows()};
  }

  // The given candidate of each line, behind its last tab.
  std::vector<ScoredText> score(const std::vector<std::string>& lines) const override {
    std::vector<ScoredText> all;
    for (const std::string& line : lines) {
      const size_t tab = line.rfind('\t');
      check(tab != std::string::npos, "score: needs a passage, a question and an answer with tabs ",
            "between them, got '", shortened(line), "'");
      const NumberedQuestion e = ask(line.substr(0, tab));
      const std::string given = line.substr(tab + 1);
      const int64_t c = candidate_called(e, given);
      check(c >= 0, "score: '", shortened(given), "' is none of the ", e.candidates.size(),
            " candidates");
      all.push_back({{given}, {likely({e})[0][static_cast<size_t>(c)]}});
    }
    return all;
  }

  Drawing attend(const std::string& input) const override {
    const std::vector<NumberedQuestion> of{ask(input)};
    const NumberedQuestion& e = of[0];
    const bool whole = windows_of(e).size() == 1;
    std::vector<AttentionMap> maps;
    Prediction best;
    {
      Recorder recorder(capture_of(static_cast<size_t>(e.numbers->size() + e.asked.size())));
      best = answer(of, 1)[0][0];
      if (whole) maps = maps_over(recorder, e);
    }
    // Wherever the passage names it.
    std::vector<float> weights(static_cast<size_t>(e.numbers->size()));
    for (int32_t at : e.mentions[static_cast<size_t>(candidate_called(e, best.text))]) {
      weights[static_cast<size_t>(at)] = static_cast<float>(std::exp(best.score));
    }
    maps.insert(maps.begin(), marked(e, best.text, std::move(weights)));
    return {e.question + " → " + best.text, std::move(maps)};
  }

 protected:
  bool chooses() const override { return true; }

  Evaluation measure(const std::vector<NumberedQuestion>& of) const override {
    const Stopwatch watch;
    const auto found = answer(of, 1);
    Evaluation result;
    result.seconds = watch.seconds();
    Evaluation::One right{"right_answers", {}};
    for (size_t i = 0; i < of.size(); ++i) {
      const std::string& truth = of[i].answers[0].text;
      right.tallies.push_back({found[i][0].text == truth ? 1.0 : 0.0, 1});
      result.inputs.push_back(line_of(of[i]));
      result.truths.push_back(truth);
      result.outputs.push_back(found[i][0].text);
    }
    result.metrics = {right};
    return result;
  }

 private:
  // With the candidates of each question and where its window names them.
  ModelInputs with_candidates(std::span<const Asked> of) const {
    ModelInputs in = inputs(of);
    size_t most = 1;
    for (const Asked& one : of) most = std::max(most, one.question->candidates.size());
    std::vector<int32_t> candidates, offsets{0}, rows;
    const auto start = in.text.offsets.read<int32_t>();
    for (size_t b = 0; b < of.size(); ++b) {
      const auto& [e, window] = of[b];
      for (size_t c = 0; c < most; ++c) {
        const bool there = c < e->candidates.size();
        candidates.push_back(there ? e->candidate_ids[c] : -1);
        for (int32_t at : there ? e->mentions[c] : std::vector<int32_t>()) {
          if (at < window.from || at >= window.to) continue;
          rows.push_back(start[b] + at - static_cast<int32_t>(window.from));
        }
        offsets.push_back(static_cast<int32_t>(rows.size()));
      }
    }
    const auto B = static_cast<int64_t>(of.size()), C = static_cast<int64_t>(most);
    in.candidates = Tensor::of({B, C}, candidates);
    const auto entries = static_cast<int64_t>(rows.size());
    in.sparse = {Tensor::of({B * C + 1}, offsets), Tensor::of({entries}, rows),
                 Tensor::full({entries}, 1)};
    return in;
  }

  // Log-probabilities of each question's candidates: of several windows, the mean.
  std::vector<std::vector<double>> likely(const std::vector<NumberedQuestion>& of) const {
    std::vector<std::vector<double>> sums(of.size());
    std::vector<int64_t> windows(of.size());
    for (size_t i = 0; i < of.size(); ++i) sums[i].resize(of[i].candidates.size());
    for (const Group& group : all_windows(of)) {
      const Tensor scores = log_softmax((*model_)(with_candidates(group.asked)).scores);
      const auto columns = static_cast<size_t>(scores.dim(1));
      for (size_t row = 0; row < group.of.size(); ++row) {
        auto& sum = sums[group.of[row]];
        ++windows[group.of[row]];
        for (size_t c = 0; c < sum.size(); ++c) {
          sum[c] += std::exp(double{scores.read()[row * columns + c]});
        }
      }
    }
    for (size_t i = 0; i < of.size(); ++i) {
      for (double& x : sums[i]) {
        x = std::log(std::max(x / static_cast<double>(windows[i]),
                              double{std::numeric_limits<float>::min()}));
      }
    }
    return sums;
  }

  std::vector<std::vector<Prediction>> answer(const std::vector<NumberedQuestion>& of,
                                              int64_t nbest) const override {
    std::vector<std::vector<Prediction>> all(of.size());
    const auto scores = likely(of);
    for (size_t i = 0; i < of.size(); ++i) {
      const Tokenizer& tokens = tokens_for(of[i]);  // looks at the whole passage
      for (size_t c = 0; c < of[i].candidates.size(); ++c) {
        Prediction p{of[i].candidates[c], scores[i][c]};
        const auto words = static_cast<int64_t>(tokens.encode(p.text).size());
        if (const auto& named = of[i].mentions[c]; !named.empty()) {
          p.place = place_of(of[i], named[0], named[0] + std::max<int64_t>(1, words) - 1);
        }
        all[i].push_back(std::move(p));
      }
      std::ranges::stable_sort(all[i], std::ranges::greater(), &Prediction::score);
      if (static_cast<int64_t>(all[i].size()) > nbest) all[i].resize(static_cast<size_t>(nbest));
    }
    return all;
  }

  std::unique_ptr<const Scorer> model_;
};

}  // namespace

std::unique_ptr<Solver> make_read_choice(const Config& config, Purpose purpose,
                                         const std::string& folder) {
  return std::make_unique<ReadChoice>(config, purpose, folder);
}

}  // namespace fovea
