// pair: one label for two texts, or for a text and a record of numbers; where several second texts
// stand with one first text, they are ranked too.
#include <cmath>
#include <filesystem>
#include <map>

#include "fovea/base/utf8.h"
#include "fovea/data/builtin.h"
#include "fovea/data/text_pairs.h"
#include "fovea/task/label_solver.h"
#include "fovea/task/make.h"
#include "fovea/task/number_scales.h"
#include "fovea/task/text_cut.h"
#include "fovea/train/ranking_metrics.h"

namespace fovea {
namespace {

struct NumberedPair : TextPair {
  std::vector<int32_t> first_ids{}, second_ids{};
  std::vector<float> first_shared{}, second_shared{};  // where the model reads such marks
  const Tokenizer* split = nullptr;                    // what split both
};

// Labels that say that a text is what was asked for, the surest first.
std::string relevant_label(const Vocabulary& labels) {
  if (labels.size() != 2) return "";
  for (const char* name : {"1", "yes", "true", "relevant", "answer", "positive", "duplicate"}) {
    for (const std::string& label : labels.names()) {
      if (to_lowercase(label) == name) return label;
    }
  }
  return "";
}

// Of the weights of two inputs, a matrix of pairs: how much of each goes together.
AttentionMap both_sides(const AttentionMap& first, const AttentionMap& second) {
  AttentionMap both;
  both.name = "attention/both";
  both.queries = first.keys, both.keys = second.keys;
  both.query_places = first.key_places, both.key_places = second.key_places;
  // Of several questions the last is the one that is answered with.
  const auto last = [](const AttentionMap& map) {
    return std::span(map.weights).last(map.keys.size());
  };
  for (const float x : last(first)) {
    for (const float y : last(second)) both.weights.push_back(x * y);
  }
  return both;
}

class PairSolver final : public LabelSolver<NumberedPair> {
 public:
  PairSolver(const Config& config, Purpose purpose, const std::string& folder)
      : LabelSolver(config, purpose, folder) {
    if (!folder.empty() && std::filesystem::exists(folder + "/record.json")) {
      scales_ = NumberScales::load(folder, "record");
    }
    begin(purpose, folder);
  }

  void save_vocabulary(const std::string& folder) const override {
    LabelSolver::save_vocabulary(folder);
    if (scales_) scales_->save(folder, "record");
  }

  Drawing attend(const std::string& input) const override {
    const NumberedPair example = ask(input);
    const auto has_tokens = [&](const std::string& text) {
      return !tokens_for(example.first).pieces(text).empty();
    };
    check(has_tokens(example.first), "attend: the first text has no tokens");
    check(scales_ || has_tokens(example.second), "attend: the second text has no tokens");
    Recorder recorder(capture_of(example.first_ids.size() + example.second_ids.size()));
    const std::string label = answer({example}, 1)[0][0].text;
    if (auto said = linear_maps(label, example); !said.empty()) return {label, std::move(said)};
    const auto shown = [&](const std::string& text) {
      const PlacedTokens all = placed_tokens(tokens_for(example.first), text);
      return PlacedTokens{cut_to(all.pieces, config_.longest), cut_to(all.places, config_.longest)};
    };
    const PlacedTokens first = shown(example.first),
                       second = scales_ ? PlacedTokens{scales_->names, {}} : shown(example.second);
    // The encoder reads both texts in one go, the second behind the first.
    const auto self = [&](int64_t b, const PlacedTokens& tokens) {
      auto maps = maps_of(recorder, b, [&](const std::string& map) {
        return map.starts_with("encoder/") ? within(tokens) : MapLabels{};
      });
      for (AttentionMap& map : maps) map.name += b == 0 ? " of the first" : " of the second";
      return with_keys(std::move(maps));
    };
    std::vector<AttentionMap> maps = with_keys(maps_of(recorder, 0, [&](const std::string& map) {
      if (map.starts_with("encoder/")) {
        // A Transformer without attention between the texts reads each by itself.
        if (map.ends_with("/first")) return within(first);
        return map.ends_with("/second") ? within(second) : MapLabels{};
      }
      if (map.ends_with("/affinity")) {
        return MapLabels{first.pieces, second.pieces, first.places, second.places};
      }
      // Alternating attention asks the first text twice.
      return onto({label, label + " 2"}, map.ends_with("/second") ? second : first);
    }));
    const auto called = [&](std::string_view end) {
      return std::ranges::find_if(maps, [&](const AttentionMap& map) {
        return map.name.ends_with(end) && !map.name.starts_with("encoder/");
      });
    };
    if (const auto one = called("/first"), other = called("/second");
        one != maps.end() && other != maps.end() && called("/affinity") == maps.end()) {
      maps.push_back(both_sides(*one, *other));
    }
    if (config_.settings.get("encoder") == "transformer") {
      for (AttentionMap& map : self(0, first)) maps.push_back(std::move(map));
      if (!scales_) {
        for (AttentionMap& map : self(1, second)) maps.push_back(std::move(map));
      }
    }
    std::vector<PlacedTokens> texts{first};
    if (!scales_) texts.push_back(second);
    return {label, with_vector_shares(std::move(maps), recorder, config_, texts)};
  }

 protected:
  std::vector<NumberedPair> read(const std::string& path) const override {
    const ReadOptions options = read_options(config_);
    // The first file tells for all: of stdin nothing is known before it is read.
    if (!records_) {
      records_ = scales_ || (labels_.size() == 0 && (path != "-" || !options.columns.empty()) &&
                             has_records(path, options));
    }
    if (!*records_) return noted(path, read_text_pairs);
    return noted(path, [&](const std::string& from, const ReadOptions& how, ReadSummary* summary) {
      TextRecords all = read_text_records(from, how, summary);
      if (!scales_) scales_ = NumberScales{all.names, {}, {}};  // the rest by load_parts()
      check<ErrorKind::input>(all.names == scales_->names, from, ": its numbers are ",
                              listed(all.names), ", those that were learned from ",
                              listed(scales_->names),
                              "; say --columns numbers=", "... in that order");
      return std::move(all.pairs);
    });
  }
  std::vector<NumberedPair> generate(const std::string& name, int64_t n,
                                     Random random) const override {
    const int64_t some = n > 0 ? n : 4'000;
    if (name == "documents") {
      return numbered(generate_documents(some, config_.letters_of_text, random));
    }
    if (name != "records") return numbered(generate_answers(some, random));
    TextRecords all = generate_records(some, random);
    if (!scales_) scales_ = NumberScales{all.names, {}, {}};
    return numbered(std::move(all.pairs));
  }
  // Numbers are scaled by what is learned from, as words are counted there.
  Parts load_parts() const override {
    Parts parts = LabelSolver::load_parts();
    if (scales_ && scales_->center.empty()) {
      scales_ = NumberScales::of(scales_->names, numbers_of(parts.train));
    }
    return parts;
  }
  void add_sizes(ModelSizes& sizes) const override {
    if (scales_) sizes.features = static_cast<int64_t>(scales_->names.size());
  }
  Lengths lengths_of(const NumberedPair& e) const override {
    return {static_cast<int64_t>(e.first_ids.size()), static_cast<int64_t>(e.second_ids.size())};
  }
  std::string together(const NumberedPair& e) const override { return e.first; }
  std::vector<std::string> texts_of(const NumberedPair& e) const override {
    if (scales_) return {e.first};
    return {e.first, e.second};
  }
  std::vector<const std::vector<int32_t>*> ids_of(const NumberedPair& e) const override {
    return {&e.first_ids, &e.second_ids};
  }
  NumberedPair parsed(const std::string& line) const override {
    const size_t tab = line.find('\t');
    check(tab != std::string::npos, "pair: needs ",
          scales_ ? "a text and its numbers" : "two texts", " with a tab between them, got '", line,
          "'");
    NumberedPair e;
    e.first = line.substr(0, tab);
    if (scales_) {
      e.numbers = record_of("pair", line.substr(tab + 1), scales_->names.size());
    } else {
      e.second = line.substr(tab + 1);
    }
    return e;
  }
  std::string line_of(const NumberedPair& e) const override {
    return e.first + "\t" + (scales_ ? record_text(e.numbers) : e.second);
  }
  void number(NumberedPair& e, const Tokenizer& tokens) const override {
    const auto ids = [&](const std::string& text) {
      std::vector<int32_t> list = cut_to(tokens.encode(text), config_.longest);
      return list.empty() ? std::vector{Tokenizer::unknown} : list;
    };
    e.first_ids = ids(e.first);
    e.split = &tokens;
    if (scales_) return;
    e.second_ids = ids(e.second);
    if (!reads_shared()) return;
    const auto first = lower_words(tokens, e.first), second = lower_words(tokens, e.second);
    // Cut as the ids are; one where there is no word.
    const auto marks = [&](const auto& words, const auto& other) {
      std::vector<float> list = cut_to(shared_words(words, other), config_.longest);
      return list.empty() ? std::vector{0.0f} : list;
    };
    e.first_shared = marks(first, second), e.second_shared = marks(second, first);
  }
  FeatureWords words_of(const NumberedPair& e) const override {
    const std::vector<std::string> first = lower_words(*e.split, e.first);
    if (!scales_) return words_of_pair(first, lower_words(*e.split, e.second));
    const Tensor scaled = scales_->scaled({e.numbers});
    std::vector<double> deviations(scaled.read().begin(), scaled.read().end());
    for (size_t i = 0; i < deviations.size(); ++i) {
      if (std::isnan(e.numbers[i])) deviations[i] = e.numbers[i];
    }
    return words_of_record(first, scales_->names, deviations);
  }
  ModelInputs inputs(const std::vector<NumberedPair>& of) const override {
    std::vector<std::vector<int32_t>> first, second;
    for (const NumberedPair& e : of) {
      first.push_back(e.first_ids), second.push_back(e.second_ids);
    }
    ModelInputs in;
    in.text = sequences_of(first);
    if (scales_) {
      std::vector<std::vector<double>> rows;
      for (const NumberedPair& e : of) rows.push_back(e.numbers);
      in.numbers = scales_->scaled(rows);
    } else {
      in.second = sequences_of(second);
      if (reads_shared()) {
        in.shared = column_of(of, &NumberedPair::first_shared);
        in.second_shared = column_of(of, &NumberedPair::second_shared);
      }
    }
    return in;
  }

  int64_t ranked() const override { return labels_.size(); }
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

 private:
  bool reads_shared() const { return !scales_ && config_.settings.get("match") == "true"; }
  // The marks of all texts, one below the other: [rows, 1].
  static Tensor column_of(const std::vector<NumberedPair>& of,
                          std::vector<float> NumberedPair::*marks) {
    std::vector<float> all;
    for (const NumberedPair& e : of) all.insert(all.end(), (e.*marks).begin(), (e.*marks).end());
    return Tensor::of({static_cast<int64_t>(all.size()), 1}, all);
  }

  // Of a linear model what the words of each text, or the numbers, say for the label and against
  // it.
  std::vector<AttentionMap> linear_maps(const std::string& label, const NumberedPair& e) const {
    const PlacedTokens first = placed_tokens(*e.split, e.first),
                       second = scales_ ? PlacedTokens{scales_->names, {}}
                                        : placed_tokens(*e.split, e.second);
    const size_t n = first.pieces.size();
    const auto says = votes(e, label, n + second.pieces.size());
    if (!says) return {};
    const std::span<const double> all(*says);
    std::vector<AttentionMap> maps =
        vote_maps(label, all.first(n), first, "for/first", "against/first");
    for (AttentionMap& map :
         vote_maps(label, all.subspan(n), second, "for/second", "against/second")) {
      maps.push_back(std::move(map));
    }
    return with_keys(std::move(maps));
  }

  static std::vector<std::vector<double>> numbers_of(const std::vector<NumberedPair>& pairs) {
    std::vector<std::vector<double>> rows;
    for (const NumberedPair& pair : pairs) rows.push_back(pair.numbers);
    return rows;
  }
  static std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  mutable std::optional<bool> records_;         // examples are a text and a record
  mutable std::optional<NumberScales> scales_;  // there if they are
};

}  // namespace

std::unique_ptr<Solver> make_pair(const Config& config, Purpose purpose,
                                  const std::string& folder) {
  return std::make_unique<PairSolver>(config, purpose, folder);
}

}  // namespace fovea
