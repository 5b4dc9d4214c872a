#include "fovea/task/comparison.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fovea/base/error.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json read_json(const fs::path& path) {
  std::ifstream file(path);
  return json::parse(file, nullptr, false);
}

// One seed of a choice.
struct ReadRun {
  int64_t seed;
  json summary, eval, curve;
};

struct ReadChoice {
  std::string name, failed;
  std::vector<ReadRun> runs;  // by seed
};

json curve_of(const fs::path& path, const std::string& metric) {
  json curve = json::array();
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const json one = json::parse(line, nullptr, false);
    if (!one.is_object()) continue;
    json point{{"step", one.value("step", 0)},
               {"seconds", one.value("seconds", 0.0)},
               {"loss", one["loss"]}};
    if (one.contains("validation")) {
      const auto found = one["validation"].find(metric);
      if (found != one["validation"].end()) point["metric"] = *found;
    }
    curve.push_back(std::move(point));
  }
  return curve;
}

std::string first_metric(const json& eval) {
  return eval.is_object() && eval.contains("metrics") && !eval["metrics"].empty()
             ? eval["metrics"][0].value("name", "")
             : "";
}

// The sentence with which a run ended, from its log.
std::string last_words(const fs::path& log) {
  std::ifstream file(log);
  std::string line, words;
  constexpr std::string_view ours = "fovea: ";
  while (std::getline(file, line)) {
    if (line.starts_with(ours)) words = line.substr(ours.size());
  }
  return words;
}

ReadChoice read_choice(const fs::path& folder) {
  ReadChoice choice{folder.filename().string(), "", {}};
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view prefix = "seed-";
    if (!name.starts_with(prefix)) continue;
    json summary = read_json(entry.path() / "summary.json");
    json eval = read_json(entry.path() / "eval.json");
    if (!summary.is_object() || !eval.is_object()) {
      const std::string words = last_words(entry.path() / "log.txt");
      if (!words.empty()) choice.failed = words;
      continue;
    }
    json curve = curve_of(entry.path() / "metrics.jsonl", first_metric(eval));
    choice.runs.push_back({std::stoll(name.substr(prefix.size())), std::move(summary),
                           std::move(eval), std::move(curve)});
  }
  std::ranges::sort(choice.runs, {}, &ReadRun::seed);
  if (!choice.runs.empty()) choice.failed.clear();
  return choice;
}

ComparedChoice::Value value_of(std::vector<double> values) {
  ComparedChoice::Value v{.values = std::move(values)};
  const auto n = static_cast<double>(v.values.size());
  for (double x : v.values) v.mean += x / n;
  if (n < 2) return v;
  double sum = 0;
  for (double x : v.values) sum += (x - v.mean) * (x - v.mean) / (n - 1);
  v.spread = std::sqrt(sum);
  return v;
}

// The mean over the runs that measured it.
std::optional<double> mean_of(const std::vector<ReadRun>& runs, const char* key) {
  double sum = 0, n = 0;
  for (const ReadRun& run : runs) {
    if (run.eval.contains(key) && run.eval[key].is_number()) {
      sum += run.eval[key].get<double>(), ++n;
    }
  }
  return n > 0 ? std::optional(sum / n) : std::nullopt;
}

ComparedChoice summarise(const ReadChoice& read) {
  ComparedChoice choice;
  choice.name = read.name, choice.failed = read.failed;
  if (read.runs.empty()) return choice;
  const auto n = static_cast<double>(read.runs.size());
  for (const ReadRun& run : read.runs) {
    choice.seeds.push_back(run.seed);
    choice.parameters = run.summary.value("parameters", 0.0);
    choice.step_ms += run.summary.value("step_ms", 0.0) / n;
    choice.steps += run.summary.value("steps", 0.0) / n;
    choice.peak_mb = std::max(choice.peak_mb, run.summary.value("peak_mb", 0.0));
  }
  choice.example_ms = mean_of(read.runs, "example_ms");
  choice.example_ms_95 = mean_of(read.runs, "example_ms_95");
  choice.examples_per_second = mean_of(read.runs, "examples_per_second");
  for (const json& metric : read.runs[0].eval["metrics"]) {
    const std::string name = metric["name"];
    std::vector<double> values;
    for (const ReadRun& run : read.runs) {
      for (const json& one : run.eval["metrics"]) {
        if (one["name"] == name) values.push_back(one["value"]);
      }
    }
    choice.metrics.emplace_back(name, value_of(std::move(values)));
  }
  return choice;
}

// Seeds that all choices of several seeds have.
std::vector<int64_t> common_seeds(const std::vector<ReadChoice>& choices) {
  std::optional<std::vector<int64_t>> common;
  for (const ReadChoice& choice : choices) {
    if (choice.runs.size() < 2) continue;
    std::vector<int64_t> seeds;
    for (const ReadRun& run : choice.runs) {
      if (!common || std::ranges::find(*common, run.seed) != common->end()) {
        seeds.push_back(run.seed);
      }
    }
    common = seeds;
  }
  return common.value_or(std::vector<int64_t>());
}

// Choices that finished come first, the best of them at the front.
std::vector<Difference> differences(const std::vector<ReadChoice>& choices,
                                    const MetricKind& metric) {
  const std::vector<int64_t> common = common_seeds(choices);
  std::vector<MeasuredChoice> measured;
  for (const ReadChoice& choice : choices) {
    if (choice.runs.empty()) break;
    std::vector<std::vector<Tally>> tallies;
    for (const ReadRun& run : choice.runs) {
      const bool counts = common.size() < 2
                              ? tallies.empty()
                              : choice.runs.size() < 2 || std::ranges::count(common, run.seed) > 0;
      if (counts) tallies.push_back(run.eval["tallies"].value(metric.name, std::vector<Tally>()));
    }
    const bool whole = std::ranges::all_of(
        tallies, [&](const auto& t) { return !t.empty() && t.size() == tallies[0].size(); });
    if (!whole) return std::vector<Difference>(choices.size());
    measured.push_back(measure_choice(tallies, metric.of));
  }
  std::vector<Difference> result = differences_to_best(measured, 0, metric.higher_is_better);
  result.resize(choices.size());
  return result;
}

// Of the seeds the one whose weights validated best: the test set must not choose what is shipped.
std::string best_run_of(const ReadChoice& choice, const MetricKind& metric) {
  const ReadRun* best = nullptr;
  double most = 0;
  for (const ReadRun& run : choice.runs) {
    const json validation = run.summary.value("validation", json::object());
    // Weights are chosen by the first metric of the validation, which need not be the table's.
    const auto found = validation.begin();
    const bool known = found != validation.end() && found->is_number();
    const double sign = (known ? find_metric(found.key()) : metric).higher_is_better ? 1 : -1;
    const double worth = known ? sign * found->get<double>() : -1e300;
    if (!best || worth > most) best = &run, most = worth;
  }
  return say("runs/", choice.name, "/seed-", best->seed);
}

json number(const std::optional<double>& x) { return x ? json(*x) : json(); }

json page_choice(const ComparedChoice& c, const ReadChoice& read) {
  json metrics = json::object(), runs = json::array(), options = json::object();
  std::istringstream parts(c.name);  // the name of a choice is its settings
  for (std::string part; std::getline(parts, part, ',');) {
    const auto at = part.find('=');
    if (at != std::string::npos) options[part.substr(0, at)] = part.substr(at + 1);
  }
  for (const auto& [name, v] : c.metrics) {
    metrics[name] = {{"mean", v.mean}, {"spread", number(v.spread)}, {"values", v.values}};
  }
  for (const ReadRun& run : read.runs) runs.push_back({{"seed", run.seed}, {"curve", run.curve}});
  const auto finished = [&](double x) { return read.runs.empty() ? json() : json(x); };
  const bool has_classes = !read.runs.empty() && read.runs[0].eval.contains("by_class");
  return {{"name", c.name},
          {"options", options},
          {"best", c.best},
          {"verdict", name_of(c.to_best.verdict)},
          {"p_value", number(c.to_best.p_value)},
          {"metrics", metrics},
          {"parameters", finished(c.parameters)},
          {"step_ms", finished(c.step_ms)},
          {"peak_mb", finished(c.peak_mb)},
          {"example_ms", number(c.example_ms)},
          {"example_ms_95", number(c.example_ms_95)},
          {"examples_per_second", number(c.examples_per_second)},
          {"failed", c.failed},
          {"by_class", has_classes ? read.runs[0].eval["by_class"] : json()},
          {"runs", runs}};
}

// The same examples for every choice, from the first seed of each.
json page_examples(const std::vector<const ReadChoice*>& choices) {
  json examples = json::array();
  const ReadChoice* first = nullptr;
  for (const ReadChoice* choice : choices) {
    if (!first && !choice->runs.empty()) first = choice;
  }
  if (!first) return examples;
  const json& eval = first->runs[0].eval;
  for (size_t i = 0; i < eval["drawings"].size(); ++i) {
    json one{
        {"input", eval["inputs"][i]}, {"truth", eval["truths"][i]}, {"choices", json::array()}};
    for (size_t c = 0; c < choices.size(); ++c) {
      if (choices[c]->runs.empty()) continue;
      const json& its = choices[c]->runs[0].eval;
      if (its["inputs"].size() <= i || its["inputs"][i] != eval["inputs"][i]) continue;
      one["choices"].push_back(
          {{"choice", c},
           {"output", its["outputs"][i]},
           {"maps", i < its["drawings"].size() ? its["drawings"][i]["maps"] : json::array()}});
    }
    examples.push_back(std::move(one));
  }
  return examples;
}

}  // namespace

const ComparedChoice::Value* ComparedChoice::metric(std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, [](const auto& m) { return m.first; });
  return found == metrics.end() ? nullptr : &found->second;
}

Comparison read_comparison(const std::string& folder, const json& about) {
  std::vector<ReadChoice> all;
  if (fs::exists(folder + "/runs")) {
    for (const auto& entry : fs::directory_iterator(folder + "/runs")) {
      if (entry.is_directory()) all.push_back(read_choice(entry.path()));
    }
  }
  std::ranges::sort(all, {}, &ReadChoice::name);
  Comparison comparison;
  for (const ReadChoice& choice : all) {
    if (!choice.runs.empty()) comparison.metric = first_metric(choice.runs[0].eval);
  }
  if (!comparison.metric.empty()) {
    comparison.higher_is_better = find_metric(comparison.metric).higher_is_better;
  }
  const auto worth = [&](const ReadChoice& choice) {
    if (choice.runs.empty()) return -std::numeric_limits<double>::infinity();
    const ComparedChoice c = summarise(choice);
    const auto* value = c.metric(comparison.metric);
    return !value ? -1e300 : comparison.higher_is_better ? value->mean : -value->mean;
  };
  std::ranges::stable_sort(all, std::ranges::greater(), worth);
  json choices = json::array(), metrics = json::array(), seeds = json::array();
  std::vector<const ReadChoice*> pointers;
  std::vector<Difference> to_best(all.size());
  if (!comparison.metric.empty()) {
    const MetricKind& metric = find_metric(comparison.metric);
    to_best = differences(all, metric);
    comparison.best_run = best_run_of(all[0], metric);
  }
  for (const ReadChoice& read : all) {
    ComparedChoice choice = summarise(read);
    choice.best = comparison.choices.empty() && !read.runs.empty();
    choice.to_best = to_best[comparison.choices.size()];
    for (const auto& [name, value] : choice.metrics) {
      if (std::ranges::find(metrics, json(name)) == metrics.end()) metrics.push_back(name);
    }
    for (int64_t seed : choice.seeds) {
      if (std::ranges::find(seeds, json(seed)) == seeds.end()) seeds.push_back(seed);
    }
    choices.push_back(page_choice(choice, read));
    pointers.push_back(&read);
    comparison.choices.push_back(std::move(choice));
  }
  comparison.page = about;
  comparison.page["metric"] = {{"name", comparison.metric},
                               {"higher_is_better", comparison.higher_is_better}};
  comparison.page["metrics"] = metrics;
  comparison.page["seeds"] = seeds;
  comparison.page["choices"] = choices;
  comparison.page["best_run"] = comparison.best_run;
  comparison.page["examples"] = page_examples(pointers);
  return comparison;
}

}  // namespace fovea
