// regress: a number from numbers, by models that look at the examples they learned from.
#include <charconv>
#include <cmath>

#include "fovea/attention/recorder.h"
#include "fovea/data/table.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/task/fitting_solver.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"
#include "fovea/task/number_metrics.h"
#include "fovea/train/checkpoint.h"

namespace fovea {
namespace {

using Row = std::vector<double>;  // the target last

struct Arrays {
  Tensor features;  // [n, d]
  Tensor targets;   // [n, 1]
};

Arrays arrays_of(const std::vector<Row>& rows, int64_t d) {
  const auto n = static_cast<int64_t>(rows.size());
  Arrays a{Tensor({n, d}), Tensor({n, 1})};
  auto features = a.features.write();
  auto targets = a.targets.write();
  for (int64_t i = 0; i < n; ++i) {
    check(static_cast<int64_t>(rows[i].size()) == d + 1, "regress: the model needs ", d,
          " features and a target, got ", rows[i].size(), " columns");
    for (int64_t j = 0; j < d; ++j) features[i * d + j] = static_cast<float>(rows[i][j]);
    targets[i] = static_cast<float>(rows[i][d]);
  }
  return a;
}

class Regress final : public FittingSolver<Row> {
 public:
  Regress(const Config& config, Purpose purpose, const std::string& folder)
      : FittingSolver(config, purpose, folder) {
    if (purpose == Purpose::learn) {
      const auto& rows = learned();
      known_ = arrays_of(rows, static_cast<int64_t>(rows[0].size()) - 1);
      // One kernel width suits all features once each has deviation 1.
      center_ = mean(known_.features, 0, true);
      scale_ = sqrt(mean(square(known_.features - center_), 0, true)) + 1e-12;
    } else {
      const auto file = Safetensors::open(folder + "/examples.safetensors");
      known_ = {file.load("features"), file.load("targets")};
      center_ = file.load("center");
      scale_ = file.load("scale");
    }
    keys_ = (known_.features - center_) / scale_;
    take_model(model<Scorer>({.features = keys_.dim(1)}));
  }

  void save_vocabulary(const std::string& folder) const override {
    save_safetensors(folder + "/examples.safetensors",
                     std::vector<NamedTensor>{{"features", known_.features},
                                              {"targets", known_.targets},
                                              {"center", center_},
                                              {"scale", scale_}});
  }

  // All examples at once, each predicted from the others.
  int64_t begin_epoch(int64_t) override { return 1; }
  Loss loss(int64_t) override {
    const Tensor predicted =
        (*model_)({.numbers = keys_, .known = {keys_, known_.targets, /*own=*/true}}).scores;
    return {mean(square(predicted - known_.targets)), keys_.dim(0)};
  }
  int64_t examples_in(int64_t) const override { return 0; }  // each row looks at all the others

  std::vector<Metric> validate() override { return measure(validation_examples()).values(); }
  Evaluation evaluate(const std::string& part) override { return measure(examples(part)); }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions&) const override {
    std::vector<Row> rows;
    for (const std::string& line : lines) rows.push_back(features_of(line));
    std::vector<std::vector<Prediction>> all;
    for (double value : answer(rows)) {
      all.push_back({{say(value), 0}});
      all.back()[0].number = value;
    }
    return all;
  }

  Drawing attend(const std::string& input) const override {
    const Row row = features_of(input);
    Recorder recorder;
    Drawing drawing{say(answer({row})[0]), {}};
    std::vector<std::string> names;
    for (int64_t i = 0; i < keys_.dim(0); ++i) {
      std::string name;
      for (int64_t j = 0; j < keys_.dim(1); ++j) {
        name += say(j ? "," : "", known_.features.read()[i * keys_.dim(1) + j]);
      }
      names.push_back(std::move(name));
    }
    drawing.maps = maps_of(recorder, 0, [&](const std::string&) {
      return MapLabels{{input}, names};
    });
    return drawing;
  }

 protected:
  std::vector<Row> read(const std::string& path) const override {
    ReadSummary summary;
    auto table = read_numbers(path, read_options(config_), &summary);
    note_file(summary);
    return std::move(table.rows);
  }
  std::vector<Row> generate(const std::string&, int64_t n, Random) const override {
    return generate_sine(n > 0 ? n : 200, 0).rows;
  }
  Lengths lengths_of(const Row&) const override { return {1}; }

 private:
  // Numbers separated by commas; a target behind them is not looked at, so that a line of the data
  // will do.
  Row features_of(const std::string& line) const {
    const auto d = static_cast<size_t>(keys_.dim(1));
    Row row;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');) {
      const auto from = field.find_first_not_of(" \t"), to = field.find_last_not_of(" \t");
      const std::string word = from == std::string::npos ? "" : field.substr(from, to - from + 1);
      double value = 0;
      const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
      check(result.ec == std::errc() && result.ptr == word.data() + word.size() &&
                std::isfinite(value),
            "regress: '", field, "' is not a number; needs ", d, " separated by commas");
      row.push_back(value);
    }
    check(row.size() == d, "regress: needs ", d, " numbers separated by commas, got ", row.size());
    row.push_back(0);
    return row;
  }

  Tensor normal(const std::vector<Row>& rows) const {
    return (arrays_of(rows, keys_.dim(1)).features - center_) / scale_;
  }
  ModelInputs inputs(const std::vector<Row>& rows) const {
    return {.numbers = normal(rows), .known = {keys_, known_.targets, false}};
  }
  Fitted::Examples known(const std::vector<Row>& rows) const override {
    return {inputs(rows), arrays_of(rows, keys_.dim(1)).targets};
  }
  std::vector<double> answer(const std::vector<Row>& rows) const {
    const Tensor y = (*model_)(inputs(rows)).scores;
    return {y.read().begin(), y.read().end()};
  }

  Evaluation measure(const std::vector<Row>& of) const {
    const Stopwatch watch;
    const auto predicted = answer(of);
    Evaluation result;
    result.seconds = watch.seconds();
    NumberMetrics metrics;
    for (size_t i = 0; i < of.size(); ++i) {
      metrics.add(of[i].back(), predicted[i]);
      std::string input;
      for (size_t j = 0; j + 1 < of[i].size(); ++j) input += say(j ? "," : "", of[i][j]);
      result.inputs.push_back(input);
      result.truths.push_back(say(of[i].back()));
      result.outputs.push_back(say(predicted[i]));
    }
    result.metrics = metrics.all();
    return result;
  }

  Arrays known_;
  Tensor center_, scale_, keys_;
};

}  // namespace

std::unique_ptr<Solver> make_regress(const Config& config, Purpose purpose,
                                     const std::string& folder) {
  if (variant_of(find_task(config.task), config.settings).takes == Takes::text) {
    return make_text_regress(config, purpose, folder);
  }
  return std::make_unique<Regress>(config, purpose, folder);
}

}  // namespace fovea
