#include "fovea/task/solver.h"

#include <cmath>

#include "fovea/data/tokenizer_style.h"

namespace fovea {

std::vector<Metric> Evaluation::values() const {
  std::vector<Metric> values;
  for (const One& one : metrics) {
    Tally sum;
    for (const Tally& tally : one.tallies) add_to(sum, tally);
    values.push_back(find_metric(one.metric).measure(sum));
    values.back().name = one.metric;
  }
  return values;
}

std::optional<std::string> Solver::heard(std::string&, const std::string& line) const {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return std::nullopt;
  return line;
}

Solver::Solver(const Config& config, Purpose purpose, const std::string& folder)
    : config_(config),
      parameters_(static_cast<uint64_t>(config.seed)),
      learns_(purpose == Purpose::learn) {
  if (purpose == Purpose::learn) return;
  file_.emplace(folder + "/model.safetensors");
  parameters_ = Parameters(static_cast<uint64_t>(config.seed), Dtype::f32, file_->source());
}

void Solver::note_file(const ReadSummary& summary) const {
  // The first one that a run reads is what it learns from.
  if (learns_ && files_.empty()) learned_ = summary.roles;
  files_.push_back(summary.sentence());
  note(summary.sentence());
}

std::string Solver::split_text() const {
  const auto part = [](const std::string& name, const std::string& file, double share) {
    return file.empty() ? say(name, " is ", std::lround(1000 * share) / 10.0, " % of the data")
                        : say(name, " is ", file);
  };
  return part("dev", config_.dev, config_.dev_part) + ", " +
         part("test", config_.test, config_.test_part) +
         (config_.dev.empty() || config_.test.empty() ? ", the same whatever the seed" : "");
}

void Solver::note_tokens(const std::string& which, std::span<const std::string> texts) const {
  if (config_.data.starts_with("builtin:")) return;
  note(say(which, ": ", detect_tokens(texts).reason()));
}

void Solver::check_source(const std::string& source) const {
  check(!source.empty(), config_.task,
        ": needs data: a file, or builtin:", find_task(config_.task).builtin[0].name);
  check(source != "-" || learns_,
        "the data that this model learned from came by stdin and is not "
        "there any more; name a file to measure on");
}

std::vector<Answered> Solver::predict_each(const std::vector<std::string>& lines,
                                           const PredictOptions& options) const {
  std::vector<Answered> all(lines.size());
  try {
    auto predictions = predict(lines, options);
    for (size_t i = 0; i < lines.size(); ++i) all[i].predictions = std::move(predictions[i]);
    return all;
  } catch (const Error& error) {
    if (lines.size() == 1) all[0].error = error.what();
    if (lines.size() <= 1) return all;
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    PredictOptions one = options;
    one.first += i;
    all[i] = std::move(predict_each({lines[i]}, one)[0]);
  }
  return all;
}

}  // namespace fovea
