// pair: one label for two texts; where several second texts stand with one first text, they are
// ranked too.
#include <map>

#include "fovea/data/builtin.h"
#include "fovea/data/text_pairs.h"
#include "fovea/task/label_solver.h"
#include "fovea/task/make.h"
#include "fovea/task/text_cut.h"
#include "fovea/train/ranking_metrics.h"

namespace fovea {
namespace {

struct NumberedPair : TextPair {
  std::vector<int32_t> first_ids{}, second_ids{};
};

// Labels that say that a text is what was asked for, the surest first.
std::string relevant_label(const Vocabulary& labels) {
  if (labels.size() != 2) return "";
  for (const char* name : {"1", "yes", "true", "relevant", "answer", "positive", "duplicate"}) {
    if (labels.id(name) >= 0) return name;
  }
  return "";
}

class PairSolver final : public LabelSolver<NumberedPair> {
 public:
  PairSolver(const Config& config, Purpose purpose, const std::string& folder)
      : LabelSolver(config, purpose, folder) {
    begin(purpose, folder);
  }

  Drawing attend(const std::string& input) const override {
    const NumberedPair example = ask(input);
    Recorder recorder(capture_of(example.first_ids.size() + example.second_ids.size()));
    const std::string label = answer({example}, 1)[0][0].text;
    const PlacedTokens first = placed_tokens(tokens_for(example.first), example.first),
                       second = placed_tokens(tokens_for(example.first), example.second);
    return {label, with_keys(maps_of(recorder, 0, [&](const std::string& map) {
              // Alternating attention asks the first text twice.
              return onto({label, label + " 2"}, map.ends_with("/second") ? second : first);
            }))};
  }

 protected:
  std::vector<NumberedPair> read(const std::string& path) const override {
    return noted(path, read_text_pairs);
  }
  std::vector<NumberedPair> generate(const std::string&, int64_t n, Random random) const override {
    return numbered(generate_answers(n > 0 ? n : 4'000, random));
  }
  Lengths lengths_of(const NumberedPair& e) const override {
    return {static_cast<int64_t>(e.first_ids.size()), static_cast<int64_t>(e.second_ids.size())};
  }
  std::string together(const NumberedPair& e) const override { return e.first; }
  std::vector<std::string> texts_of(const NumberedPair& e) const override {
    return {e.first, e.second};
  }
  std::vector<const std::vector<int32_t>*> ids_of(const NumberedPair& e) const override {
    return {&e.first_ids, &e.second_ids};
  }
  NumberedPair parsed(const std::string& line) const override {
    const size_t tab = line.find('\t');
    check(tab != std::string::npos, "pair: needs two texts with a tab between them, got '", line,
          "'");
    NumberedPair e;
    e.first = line.substr(0, tab), e.second = line.substr(tab + 1);
    return e;
  }
  std::string line_of(const NumberedPair& e) const override { return e.first + "\t" + e.second; }
  void number(NumberedPair& e, const Tokenizer& tokens) const override {
    const auto ids = [&](const std::string& text) {
      std::vector<int32_t> list = cut_to(tokens.encode(text), config_.longest);
      return list.empty() ? std::vector{Tokenizer::unknown} : list;
    };
    e.first_ids = ids(e.first), e.second_ids = ids(e.second);
  }
  ModelInputs inputs(const std::vector<NumberedPair>& of) const override {
    std::vector<std::vector<int32_t>> first, second;
    for (const NumberedPair& e : of) {
      first.push_back(e.first_ids), second.push_back(e.second_ids);
    }
    ModelInputs in;
    in.text = sequences_of(first);
    in.second = sequences_of(second);
    return in;
  }

  // Ranks the candidates of each first text by how likely they are the relevant label.
  void measure_more(const std::vector<NumberedPair>& of,
                    const std::vector<std::vector<Prediction>>& answers,
                    Evaluation& result) const override {
    const std::string relevant = relevant_label(labels_);
    if (relevant.empty()) return;
    std::map<std::string, std::vector<size_t>> candidates;
    for (size_t i = 0; i < of.size(); ++i) candidates[of[i].first].push_back(i);
    const bool ranks = std::ranges::any_of(candidates, [&](const auto& one) {
      return std::ranges::any_of(one.second, [&](size_t i) { return of[i].label == relevant; }) &&
             std::ranges::any_of(one.second, [&](size_t i) { return of[i].label != relevant; });
    });
    if (!ranks) return;
    const char* names[] = {"map", "mrr", "precision_at_1"};
    std::vector<Evaluation::One> all;
    for (const char* name : names) all.push_back({name, std::vector<Tally>(of.size(), {0, 0})});
    for (const auto& [first, group] : candidates) {
      std::vector<RankedCandidate> ranked;
      for (size_t i : group) {
        const auto found = std::ranges::find(answers[i], relevant, &Prediction::text);
        ranked.push_back({found->score, of[i].label == relevant});
      }
      const RankingTallies tallies = ranking_tallies(ranked);
      all[0].tallies[group[0]] = tallies.average_precision;
      all[1].tallies[group[0]] = tallies.reciprocal_rank;
      all[2].tallies[group[0]] = tallies.first_is_right;
    }
    for (auto& one : all) result.metrics.push_back(std::move(one));
  }
};

}  // namespace

std::unique_ptr<Solver> make_pair(const Config& config, Purpose purpose,
                                  const std::string& folder) {
  return std::make_unique<PairSolver>(config, purpose, folder);
}

}  // namespace fovea
