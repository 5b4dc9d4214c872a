#include "fovea/task/comparison.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fovea/base/random.h"
#include "fovea/train/bootstrap.h"

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
  ComparedChoice::Value v{0, 0, std::move(values)};
  const auto n = static_cast<double>(v.values.size());
  for (double x : v.values) v.mean += x / n;
  if (n < 2) return v;
  for (double x : v.values) v.spread += (x - v.mean) * (x - v.mean) / (n - 1);
  v.spread = std::sqrt(v.spread);
  return v;
}

ComparedChoice summarise(const ReadChoice& read) {
  ComparedChoice choice;
  choice.name = read.name, choice.failed = read.failed;
  if (read.runs.empty()) return choice;
  const auto n = static_cast<double>(read.runs.size());
  for (const ReadRun& run : read.runs) {
    choice.seeds.push_back(run.seed);
    const double examples = std::max<double>(1, static_cast<double>(run.eval["inputs"].size()));
    choice.parameters = run.summary.value("parameters", 0.0);
    choice.step_ms += run.summary.value("step_ms", 0.0) / n;
    choice.steps += run.summary.value("steps", 0.0) / n;
    choice.peak_mb = std::max(choice.peak_mb, run.summary.value("peak_mb", 0.0));
    choice.example_ms += run.eval.value("seconds", 0.0) * 1e3 / examples / n;
  }
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

// What each test example counted, all seeds together; only seeds that both have.
std::vector<Tally> tallies_of(const ReadChoice& choice, const std::string& metric,
                              const ReadChoice& other) {
  std::vector<Tally> sums;
  for (const ReadRun& run : choice.runs) {
    if (std::ranges::find(other.runs, run.seed, &ReadRun::seed) == other.runs.end()) continue;
    const auto tallies = run.eval["tallies"].value(metric, std::vector<Tally>());
    sums.resize(std::max(sums.size(), tallies.size()));
    for (size_t i = 0; i < tallies.size(); ++i) add_to(sums[i], tallies[i]);
  }
  return sums;
}

double chance(const ReadChoice& a, const ReadChoice& b, const std::string& metric) {
  const auto ta = tallies_of(a, metric, b), tb = tallies_of(b, metric, a);
  if (ta.empty() || ta.size() != tb.size()) return -1;
  return paired_bootstrap(ta, tb, find_metric(metric).of, Random(0).fork("bootstrap"));
}

json page_choice(const ComparedChoice& c, const ReadChoice& read) {
  json metrics = json::object(), runs = json::array(), options = json::object();
  std::istringstream parts(c.name);  // the name of a choice is its settings
  for (std::string part; std::getline(parts, part, ',');) {
    const auto at = part.find('=');
    if (at != std::string::npos) options[part.substr(0, at)] = part.substr(at + 1);
  }
  for (const auto& [name, v] : c.metrics) {
    metrics[name] = {{"mean", v.mean}, {"spread", v.spread}, {"values", v.values}};
  }
  for (const ReadRun& run : read.runs) runs.push_back({{"seed", run.seed}, {"curve", run.curve}});
  const auto number = [&](double x) { return read.runs.empty() ? json() : json(x); };
  return {{"name", c.name},
          {"options", options},
          {"best", c.best},
          {"p_value", c.p_value < 0 ? json() : json(c.p_value)},
          {"metrics", metrics},
          {"parameters", number(c.parameters)},
          {"step_ms", number(c.step_ms)},
          {"peak_mb", number(c.peak_mb)},
          {"example_ms", number(c.example_ms)},
          {"failed", c.failed},
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
  for (const ReadChoice& read : all) {
    ComparedChoice choice = summarise(read);
    choice.best = comparison.choices.empty() && !read.runs.empty();
    if (!choice.best && !read.runs.empty())
      choice.p_value = chance(all[0], read, comparison.metric);
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
  comparison.page["examples"] = page_examples(pointers);
  return comparison;
}

}  // namespace fovea
