// algorithm: problems that a simple program solves, drawn as training goes on; trained on short
// ones, measured by length.
#include <cmath>
#include <map>

#include "fovea/attention/recorder.h"
#include "fovea/data/algorithms.h"
#include "fovea/data/text_file.h"
#include "fovea/model/machine/random_access.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/softmax.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"

namespace fovea {
namespace {

constexpr int64_t epoch_batches = 100;

// Problems with their lengths, which metrics go by.
struct Problems {
  std::vector<std::string> lines;
  std::vector<int64_t> lengths;  // 0: not known
};

class AlgorithmSolver final : public Solver {
 public:
  AlgorithmSolver(const Config& config, Purpose purpose, const std::string& folder)
      : Solver(config, purpose, folder),
        algorithm_(find(config)),
        options_{.bits = config.bits, .symbols = config.symbols, .most = config.repeats},
        lengths_(
            lengths_of("lengths", config.lengths.empty() ? algorithm_.lengths : config.lengths)),
        measured_(lengths_of("test_lengths", config.test_lengths.empty() ? algorithm_.measured
                                                                         : config.test_lengths)) {
    // What nobody asked for is left out where it cannot be.
    if (config.test_lengths.empty()) {
      std::erase_if(measured_, [this](int64_t length) { return !is_possible(length); });
      if (measured_.empty()) measured_ = {lengths_.back()};
    }
    // Before anything is learned, not behind it.
    for (const auto* list : {&lengths_, &measured_}) {
      for (int64_t length : *list) algorithm_.lay(options_, draw(length, 1, Random(0))[0]);
    }
    const int64_t longest = std::max(dev_lengths().back(), measured_.back());
    model_ = model<Scorer>({.longest = std::max<int64_t>(4, options_.most + 1) * longest + 64,
                            .inputs = algorithm_.inputs(options_),
                            .outputs = algorithm_.outputs(options_)});
    // Whether the model can do with such problems shows before it is trained on them.
    if (purpose == Purpose::learn)
      answer(batch_of(algorithm_, options_, draw(lengths_.front(), 1, Random(0))));
  }

  void save_vocabulary(const std::string&) const override {}

  std::string summary() override {
    return say("problems of ", lengths_.front(), " to ", lengths_.back(), " ", algorithm_.unit,
               " to learn from, measured up to ", measured_.back());
  }

  // Problems are drawn as they are needed: there is nothing to count but those of the tests.
  DataReport data_report() override {
    DataReport report;
    report.dev = static_cast<int64_t>(drawn("dev", dev_lengths(), 0).lines.size());
    report.test = static_cast<int64_t>(drawn("test", measured_, 0).lines.size());
    return report;
  }

  int64_t begin_epoch(int64_t epoch) override {
    epoch_ = epoch;
    return epoch_batches;
  }

  Loss loss(int64_t number) override {
    Random random = Random(config_.seed)
                        .fork("problems")
                        .fork(static_cast<uint64_t>(epoch_ * epoch_batches + number));
    const int64_t length = lengths_[random.below(static_cast<uint64_t>(in_use()))];
    const auto all = draw(length, config_.batch, random);
    const int64_t first = shard_.begin(config_.batch), last = shard_.end(config_.batch);
    const StepBatch b = batch_of(
        algorithm_, options_,
        std::span(all).subspan(static_cast<size_t>(first), static_cast<size_t>(last - first)));
    ModelInputs in;
    in.steps = b.steps;
    in.rows = b.asked;
    in.epoch = epoch_;
    return {algorithm_.in_bits ? bit_loss((*model_)(in).scores, b.bits)
                               : model_->loss(in, b.symbols, config_.smoothing),
            b.steps.dim(0) * b.steps.dim(1),
            algorithm_.in_bits ? b.bits.elements() : b.symbols.elements()};
  }
  int64_t examples_in(int64_t) const override { return config_.batch; }

  std::vector<Metric> validate() override {
    return measure(drawn("dev", dev_lengths(), config_.validate_examples)).values();
  }
  Evaluation evaluate(const std::string& part) override {
    if (part == "dev") return measure(drawn("dev", dev_lengths(), 0));
    if (part == "test") return measure(drawn("test", measured_, 0));
    Problems given;
    for_each_line(part, [&](std::string_view line, int64_t number) {
      given.lines.emplace_back(line);
      given.lengths.push_back(0);
      try {
        algorithm_.lay(options_, given.lines.back());
      } catch (const Error& error) {
        fail<ErrorKind::input>(part, ":", number, ": ", error.what());
      }
    });
    check<ErrorKind::input>(!given.lines.empty(), part, ": is empty; needs at least one problem");
    return measure(given);
  }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions&) const override {
    std::vector<std::vector<Prediction>> all;
    for (const std::string& line : lines) {
      const AnsweredProblems a = answer(batch_of(algorithm_, options_, {&line, 1}));
      all.push_back({{a.texts[0], a.log_probabilities[0]}});
    }
    return all;
  }

  Drawing attend(const std::string& line) const override {
    const StepBatch b = batch_of(algorithm_, options_, {&line, 1});
    Recorder recorder;
    const AnsweredProblems a = answer(b);
    const std::vector<std::string> steps = step_labels(b);
    return {line + " → " + a.texts[0], maps_of(recorder, 0, [&](const std::string& name) {
              const auto named = [&](const char* part) {
                return name.find(part) != std::string::npos;
              };
              if (named("self") || named("held")) return MapLabels{steps, steps};
              if (named("circuit")) return circuit_labels(recorder);
              return MapLabels{steps, numbers_up_to(columns_of(recorder, name))};
            })};
  }

 private:
  static const Algorithm& find(const Config& config) {
    constexpr std::string_view builtin = "builtin:";
    check(!config.data.empty(), "algorithm: needs data: builtin:", algorithms()[0].name,
          " or another of its kind");
    check(config.data.starts_with(builtin),
          "algorithm: draws its own problems; data must be builtin:NAME, got '", config.data, "'");
    return find_algorithm(config.data.substr(builtin.size()));
  }

  bool is_possible(int64_t length) const {
    try {
      algorithm_.lay(options_, draw(length, 1, Random(0))[0]);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  // Of the lengths that are trained, shortest first, so many.
  int64_t in_use() const {
    const auto all = static_cast<int64_t>(lengths_.size());
    if (config_.curriculum <= 0) return all;
    return std::clamp<int64_t>((all * (epoch_ + 1) + config_.curriculum - 1) / config_.curriculum,
                               1, all);
  }

  std::vector<std::string> draw(int64_t length, int64_t count, const Random& random) const {
    std::vector<std::string> lines;
    for (int64_t i = 0; i < count; ++i) {
      lines.push_back(algorithm_.draw(options_, length, random.fork("shape"),
                                      random.fork("problem").fork(static_cast<uint64_t>(i))));
    }
    return lines;
  }

  // The longest that is trained, some shorter ones, and where there are several twice the longest:
  // weights are kept that also go beyond what they have seen.
  std::vector<int64_t> dev_lengths() const {
    std::vector<int64_t> list;
    const size_t n = lengths_.size();
    for (size_t part : {1, 2, 3, 4}) list.push_back(lengths_[(n * part + 3) / 4 - 1]);
    if (n > 1 && is_possible(2 * lengths_.back())) list.push_back(2 * lengths_.back());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

  // The same problems whatever the seed is. So many of each length: `examples`, or fewer.
  Problems drawn(const char* part, const std::vector<int64_t>& lengths, int64_t most) const {
    Problems problems;
    const int64_t usual = config_.examples > 0 ? config_.examples : lengths.size() > 20 ? 4 : 40;
    const int64_t each =
        most > 0 ? std::clamp<int64_t>(most / static_cast<int64_t>(lengths.size()), 1, usual)
                 : usual;
    for (int64_t length : lengths) {
      // Several shapes of each length, a few problems of each.
      for (int64_t i = 0; i < each; i += 8) {
        const Random random =
            Random(0).fork(part).fork(static_cast<uint64_t>(length)).fork(static_cast<uint64_t>(i));
        for (std::string& line : draw(length, std::min<int64_t>(8, each - i), random)) {
          problems.lines.push_back(std::move(line));
          problems.lengths.push_back(length);
        }
      }
    }
    return problems;
  }

  static Tensor bit_loss(const Tensor& scores, const Tensor& bits) {
    return mean(softplus(scores) - scores * bits);
  }

  // Of each problem of a batch.
  struct AnsweredProblems {
    std::vector<std::string> texts;
    std::vector<double> log_probabilities;  // of what is answered
    std::vector<Tally> wrong_bits, right, prefix, excess;
  };
  AnsweredProblems answer(const StepBatch& b) const {
    ModelInputs in;
    in.steps = b.steps;
    in.rows = b.asked;
    const Tensor scores = (*model_)(in).scores;
    const int64_t B = b.steps.dim(1), n = b.asked.elements() / B, out = scores.dim(1);
    const Tensor likely = algorithm_.in_bits ? scores : log_softmax(scores);
    AnsweredProblems a;
    for (int64_t i = 0; i < B; ++i) {
      std::string text;
      double sum = 0, wrong = 0, excess = 0;
      int64_t before_error = n;
      for (int64_t k = 0; k < n; ++k) {
        const auto row = likely.read().subspan((k * B + i) * out, out);
        double bad = 0;
        if (algorithm_.in_bits) {
          std::vector<float> bits;
          for (int64_t j = 0; j < out; ++j) {
            const float want = b.bits.read()[(k * B + i) * out + j];
            bits.push_back(row[j] > 0 ? 1.0f : 0.0f);
            bad += bits.back() != want;
            sum -= std::log1p(std::exp(-std::abs(row[j])));
            if (!b.known.empty()) {
              const double p = 1 / (1 + std::exp(-row[j])), best = b.known.read()[k * B + i];
              const auto cost = [&](double q) { return -std::log2(want > 0 ? q : 1 - q); };
              excess += std::min(cost(p), 1e3) - cost(best);
            }
          }
          text += (k > 0 ? " " : "") + text_of_bits(bits);
        } else {
          const auto best = std::max_element(row.begin(), row.end()) - row.begin();
          bad = best != b.symbols.read<int32_t>()[k * B + i];
          sum += row[best];
          text += (k > 0 ? " " : "") + symbol_text(best);
        }
        wrong += bad;
        if (bad > 0) before_error = std::min(before_error, k);
      }
      a.texts.push_back(std::move(text));
      a.log_probabilities.push_back(sum);
      a.wrong_bits.push_back({wrong, static_cast<double>(n * out)});
      a.right.push_back({wrong == 0 ? 1.0 : 0.0, 1});
      a.prefix.push_back({static_cast<double>(before_error), static_cast<double>(n)});
      a.excess.push_back({excess, static_cast<double>(n)});
    }
    return a;
  }

  std::string symbol_text(int64_t symbol) const {
    if (!algorithm_.symbol) return std::to_string(symbol);
    return is_mark(symbol) ? "(end)" : algorithm_.symbol(symbol);
  }
  // The one behind all symbols. A language has its own letters, whatever the option says.
  bool is_mark(int64_t symbol) const {
    return symbol == options_.symbols &&
           std::ranges::find(algorithm_.options, "symbols") != algorithm_.options.end();
  }

  bool is_ngram() const { return algorithm_.name == "n-gram"; }

  Evaluation measure(const Problems& of) const {
    const Stopwatch watch;
    Evaluation result;
    Evaluation::One wrong{"wrong_bits", {}}, right{"sequences", {}}, prefix{"prefix", {}},
        excess{"excess_bits", {}};
    // Neighbours of equally many steps are answered together.
    for (size_t at = 0; at < of.lines.size();) {
      size_t end = at + 1;
      const auto first = algorithm_.lay(options_, of.lines[at]);
      while (end < of.lines.size() && end - at < 64) {
        const auto next = algorithm_.lay(options_, of.lines[end]);
        if (next.steps.size() != first.steps.size() || next.asked.size() != first.asked.size())
          break;
        ++end;
      }
      const StepBatch b = batch_of(algorithm_, options_, std::span(of.lines).subspan(at, end - at));
      const AnsweredProblems a = answer(b);
      for (size_t i = 0; at < end; ++at, ++i) {
        wrong.tallies.push_back(a.wrong_bits[i]);
        right.tallies.push_back(a.right[i]);
        prefix.tallies.push_back(a.prefix[i]);
        excess.tallies.push_back(a.excess[i]);
        result.inputs.push_back(of.lines[at]);
        result.truths.push_back(truth_of(b, static_cast<int64_t>(i)));
        result.outputs.push_back(a.texts[i]);
      }
    }
    result.seconds = watch.seconds();
    if (is_ngram()) {
      result.metrics = {excess};
    } else if (algorithm_.in_bits) {
      result.metrics = {wrong, right};
    } else {
      result.metrics = {right, prefix};
    }
    add_by_length(result, of.lengths);
    return result;
  }

  // The first metric once more for each length; counting languages have too many to list.
  static void add_by_length(Evaluation& e, const std::vector<int64_t>& lengths) {
    std::map<int64_t, Evaluation::One> by_length;
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] == 0) return;
      by_length.try_emplace(lengths[i],
                            Evaluation::One{say(e.metrics[0].metric, "@", lengths[i]), {}});
    }
    if (by_length.size() < 2 || by_length.size() > 20) return;
    const std::vector<Tally> first = e.metrics[0].tallies;
    for (auto& [length, one] : by_length) {
      for (size_t i = 0; i < lengths.size(); ++i)
        one.tallies.push_back(lengths[i] == length ? first[i] : Tally(first[i].size(), 0));
      e.metrics.push_back(std::move(one));
    }
  }

  std::string truth_of(const StepBatch& b, int64_t i) const {
    const int64_t B = b.steps.dim(1), n = b.asked.elements() / B;
    std::string text;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t row = k * B + i;
      if (k > 0) text += ' ';
      if (algorithm_.in_bits) {
        const int64_t out = b.bits.dim(1);
        text += text_of_bits(b.bits.read().subspan(row * out, out));
      } else {
        text += symbol_text(b.symbols.read<int32_t>()[row]);
      }
    }
    return text;
  }

  // What each step of one problem is given, as a label: a vector, a symbol, a mark, or nothing.
  std::vector<std::string> step_labels(const StepBatch& b) const {
    const int64_t T = b.steps.dim(0), in = b.steps.dim(2);
    // Vectors of bits may be all zeros: only a step that is asked for an answer is given nothing.
    const bool vectors = algorithm_.in_bits && !is_ngram();
    const int64_t first_asked = b.asked.read<int32_t>()[0];
    std::vector<std::string> labels;
    for (int64_t t = 0; t < T; ++t) {
      const auto row = b.steps.read().subspan(t * in, in);
      const auto is_set = [](float x) { return x != 0; };
      if (vectors ? t >= first_asked : std::ranges::none_of(row, is_set)) {
        labels.push_back("·");
      } else if (vectors) {
        // A priority of 1, beside a vector of sort, is no mark: that comes last.
        const auto bits = row.first(options_.bits);
        const auto beside = algorithm_.name == "sort" ? row.last(1) : row.subspan(options_.bits);
        const bool mark = std::ranges::none_of(bits, is_set) && std::ranges::count(beside, 1) > 0;
        labels.push_back(mark ? "|" : text_of_bits(bits));
      } else {
        const auto at = std::ranges::max_element(row) - row.begin();
        labels.push_back(is_mark(at) ? "|" : symbol_text(at));
      }
    }
    return labels;
  }

  // Of a random-access machine, step by step, what each module and register takes.
  static MapLabels circuit_labels(const Recorder& recorder) {
    MapLabels labels;
    int64_t steps = 0, registers = 0;
    for (const auto& map : recorder.maps()) {
      if (!map.name.starts_with("circuit")) continue;
      ++steps;
      registers = map.weights.rows.dim(3) - static_cast<int64_t>(machine_modules().size());
    }
    const auto name = [](int64_t r) { return "r" + std::to_string(r); };
    for (int64_t r = 0; r < registers; ++r) labels.keys.push_back(name(r));
    for (const MachineModule& m : machine_modules()) labels.keys.push_back(m.name);
    for (int64_t t = 1; t <= steps; ++t) {
      for (const MachineModule& m : machine_modules()) {
        for (int k = 0; k < m.arguments; ++k)
          labels.queries.push_back(say(t, ": ", m.name, k == 0 ? "" : ", 2nd"));
      }
      for (int64_t r = 0; r < registers; ++r) labels.queries.push_back(say(t, ": ", name(r), " ="));
    }
    return labels;
  }

  static int64_t columns_of(const Recorder& recorder, const std::string& name) {
    int64_t most = 0;
    for (const auto& map : recorder.maps()) {
      if (map.name.starts_with(name) && !map.weights.rows.empty())
        most = std::max(most, map.weights.rows.dim(3));
    }
    return most;
  }
  static std::vector<std::string> numbers_up_to(int64_t n) {
    std::vector<std::string> names;
    for (int64_t i = 0; i < n; ++i) names.push_back(std::to_string(i));
    return names;
  }

  const Algorithm& algorithm_;
  AlgorithmOptions options_;
  std::vector<int64_t> lengths_, measured_;
  std::unique_ptr<const Scorer> model_;
  int64_t epoch_ = 0;
};

}  // namespace

std::unique_ptr<Solver> make_algorithm(const Config& config, Purpose purpose,
                                       const std::string& folder) {
  return std::make_unique<AlgorithmSolver>(config, purpose, folder);
}

}  // namespace fovea
