#include "fovea/task/fit/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/file.h"
#include "fovea/base/json_text.h"
#include "fovea/data/columns.h"
#include "fovea/report/comparison_page.h"
#include "fovea/report/heat_map_json.h"
#include "fovea/task/class_report.h"
#include "fovea/task/comparison.h"
#include "fovea/train/significance.h"

namespace fovea {
namespace {

std::string figure(double x) { return fmt::format("{:.4f}", x); }

// The deviation of a value over other test examples, from what each of these does to it.
double error_of(const MeasuredChoice& choice) {
  const auto n = static_cast<double>(choice.influences.size());
  double mean = 0, squares = 0;
  for (double x : choice.influences) mean += x / n;
  for (double x : choice.influences) squares += (x - mean) * (x - mean);
  return n > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
}

std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

void add_verdict(const FitPlan& plan, const SearchResult& result, const MetricKind& metric,
                 FitReport& report) {
  const FitReport::Row& best = report.rows[0];
  const double sign = metric.higher_is_better ? 1 : -1;
  if (best.test && best.error) {
    report.verdict.push_back(fmt::format("{}: {} {} on the test part, 95 % interval {} to {}",
                                         best.name, words_of(report.metric), figure(*best.test),
                                         figure(best.interval.low), figure(best.interval.high)));
  }
  const FitReport::Row* next = nullptr;
  for (const FitReport::Row& row : report.rows) {
    if (row.winner || !row.test) continue;
    if (!next || sign * (*row.test - *next->test) > 0) next = &row;
  }
  if (next && best.test && figure(*best.test) == figure(*next->test)) {
    report.verdict.push_back("as good as the next best that was tested, " + next->name);
  } else if (next && best.test) {
    const double ahead = sign * (*best.test - *next->test);
    const bool differs = next->to_best.verdict == Verdict::one_seed_differs ||
                         best.to_best.verdict == Verdict::one_seed_differs;
    report.verdict.push_back(
        fmt::format("{} than the next best that was tested, {}, by {}: {}",
                    ahead >= 0 ? "better" : "worse", next->name, figure(std::abs(ahead)),
                    differs ? "more than chance on these test examples" : "that may be chance"));
  }
  const PlannedCandidate* winner = &plan.candidates[result.winner];
  if (winner->refitted) {
    report.verdict.push_back(
        "when all was chosen, what is fitted at once was fitted again to the validation examples "
        "too: do not measure the model on those");
  }
  const auto is_trained = [](const PlannedCandidate& one) { return !one.baseline; };
  const auto was_trained = [](const PlannedCandidate& one) { return !one.reached.empty(); };
  if (result.stopped) {
    report.verdict.push_back("the search was stopped before its end: --resume goes on with it");
  } else if (winner->baseline && std::ranges::any_of(plan.candidates, was_trained)) {
    report.verdict.push_back(
        "a bigger budget: the winner needs none; trained models came no further in this time");
  } else if (winner->baseline && std::ranges::any_of(plan.candidates, is_trained)) {
    report.verdict.push_back(
        "a bigger budget: in this time no attention was trained; a longer --time tries it");
  } else if (winner->reached.size() >= 2) {
    const double last =
        sign * (winner->reached.back() - winner->reached[winner->reached.size() - 2]);
    report.verdict.push_back(fmt::format(
        "a bigger budget: the last rung brought {} on validation; three times the time will "
        "likely bring {}",
        figure(last), last > 0.002 ? "less than that again" : "next to nothing"));
  }
}

void add_mistakes(const Evaluation& test, FitReport& report) {
  const ClassReport classes = class_report(test.items);
  for (const LabelledItem& item : classes.mistakes) {
    report.mistakes.push_back({item.text, item.truth, item.output, item.probability});
  }
  for (size_t t = 0; t < classes.confusion.size(); ++t) {
    for (size_t o = 0; o < classes.confusion[t].size(); ++o) {
      if (t == o || classes.confusion[t][o] < 2) continue;
      report.confusions.emplace_back(
          shortened(classes.classes[t].label) + " taken for " + shortened(classes.classes[o].label),
          classes.confusion[t][o]);
    }
  }
  std::ranges::stable_sort(report.confusions, std::ranges::greater(),
                           &std::pair<std::string, int64_t>::second);
  if (report.confusions.size() > 10) report.confusions.resize(10);
}

}  // namespace

FitReport report_of(const FitPlan& plan, const SearchResult& result) {
  FitReport report;
  const Tried& winner = result.tried[result.winner];
  report.metric = winner.test->metrics[0].metric;
  const MetricKind& metric = find_metric(report.metric);
  const double sign = metric.higher_is_better ? 1 : -1;
  std::vector<MeasuredChoice> measured;
  std::vector<size_t> row_of;
  for (size_t i = 0; i < result.tried.size(); ++i) {
    const Tried& tried = result.tried[i];
    if (!tried.failed.empty()) report.failed.emplace_back(tried.name, tried.failed);
    if (!tried.validation) continue;
    FitReport::Row row;
    row.name = tried.name;
    row.validation = tried.validation->value;
    row.winner = i == result.winner;
    row.baseline = tried.baseline;
    row.steps = tried.steps;
    row.parameters = tried.parameters;
    row.seconds = tried.seconds;
    if (tried.test) {
      const std::vector<std::vector<Tally>> tallies{tried.test->metrics[0].tallies};
      measured.push_back(measure_choice(tallies, metric.of));
      row.test = measured.back().values[0];
      row.error = error_of(measured.back());
      row.interval = interval_of(report.metric, *row.test, *row.error,
                                 static_cast<int64_t>(measured.back().influences.size()));
      row_of.push_back(report.rows.size());
    }
    report.rows.push_back(std::move(row));
  }
  size_t best = 0;
  for (size_t k = 1; k < measured.size(); ++k) {
    if (sign * (measured[k].values[0] - measured[best].values[0]) > 0) best = k;
  }
  const auto differences = differences_to_best(measured, best, metric.higher_is_better);
  for (size_t k = 0; k < differences.size(); ++k) report.rows[row_of[k]].to_best = differences[k];
  std::ranges::stable_sort(report.rows, [&](const auto& a, const auto& b) {
    if (a.winner != b.winner) return a.winner;
    return sign * a.validation > sign * b.validation;
  });
  add_verdict(plan, result, metric, report);
  add_mistakes(*winner.test, report);
  return report;
}

namespace {

std::vector<std::string> leaderboard(const FitReport& report) {
  std::vector<std::string> lines;
  for (const FitReport::Row& row : report.rows) {
    lines.push_back(
        fmt::format("| {}{} | {} | {} | {} | {} | {:.1f} |", row.name,
                    row.winner     ? " (chosen)"
                    : row.baseline ? " (baseline)"
                                   : "",
                    figure(row.validation),
                    row.test ? fmt::format("{} ({} to {})", figure(*row.test),
                                           figure(row.interval.low), figure(row.interval.high))
                             : "",
                    row.parameters, row.steps, row.seconds));
  }
  return lines;
}

std::string settings_text(const Settings& settings) {
  std::string text;
  for (const auto& [name, value] : settings)
    text += say(text.empty() ? "" : ", ", name, "=", value);
  return text;
}

}  // namespace

std::string model_card(const FitPlan& plan, const FitData& data, const Audit& audit,
                       const FitReport& report) {
  std::string card = fmt::format("# {}: {}\n\nMade by `fovea fit` from {} in {:.0f} s.\n\n",
                                 plan.task, report.rows[0].name, plan.data.get("data"), plan.used);
  for (const std::string& line : report.verdict) card += "- " + line + "\n";
  card += "\n## What it learned from\n\n";
  for (const std::string& line : data.because) card += "- " + line + "\n";
  for (const std::string& line : audit.facts) card += "- " + line + "\n";
  card += "\n## What is doubtful about the data\n\n";
  if (audit.findings.empty()) card += "Nothing was found.\n";
  for (const Audit::Finding& finding : audit.findings) {
    card += "- " + finding.what + "\n";
    for (const std::string& one : finding.shown) card += "  - " + one + "\n";
  }
  card += fmt::format(
      "\n## What was tried\n\n| model | {0}, validation | {0}, test | parameters | steps | s |\n"
      "|---|---|---|---|---|---|\n",
      words_of(report.metric));
  for (const std::string& line : leaderboard(report)) card += line + "\n";
  card +=
      "\nIn brackets are 95 % intervals over test examples; the test part was measured once, for "
      "the chosen model and the baselines. The model was chosen on validation.\n";
  for (const auto& [name, why] : report.failed) card += "\n" + name + " failed: " + why + "\n";
  for (const PlannedCandidate& one : plan.candidates) {
    if (one.name != report.rows[0].name) continue;
    Settings settings = one.settings;
    if (one.warmup > 0) settings.set("warmup", say(one.warmup));
    card += "\nOptions of the chosen one: `" + settings_text(settings) + "`\n";
  }
  return card + "\nThe same again, bit for bit: `fovea fit --plan plan.json --out OTHER`\n";
}

namespace {

nlohmann::json eval_json(const Tried& tried) {
  const Evaluation& e = *tried.test;
  nlohmann::json json{{"inputs", e.inputs},
                      {"truths", e.truths},
                      {"outputs", e.outputs},
                      {"seconds", e.seconds},
                      {"drawings", nlohmann::json::array()}};
  for (const auto& one : e.metrics) json["tallies"][one.metric] = one.tallies;
  for (const Metric& m : e.values())
    json["metrics"].push_back({{"name", m.name}, {"value", m.value}});
  if (!e.items.empty()) json["by_class"] = to_json(class_report(e.items));
  for (const Drawing& drawing : tried.drawings) json["drawings"].push_back(to_json(drawing));
  return json;
}

void write_json(const std::string& path, const nlohmann::json& json) {
  const std::string text = json_text(json) + "\n";
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace

std::string fit_page(const std::string& folder, const FitPlan& plan, const FitData& data,
                     const Audit& audit, const FitReport& report, const SearchResult& result,
                     nlohmann::json about) {
  for (const Tried& tried : result.tried) {
    if (!tried.test || !tried.validation) continue;
    write_json(tried.folder + "/eval.json", eval_json(tried));
    nlohmann::json summary{{"task", plan.task},
                           {"data", plan.data.get("data")},
                           {"stopped", tried.baseline ? "fitted" : "steps"},
                           {"steps", tried.steps},
                           {"epochs", 0},
                           {"best_step", tried.steps},
                           {"seconds", tried.seconds},
                           {"step_ms", 0.0},
                           {"peak_mb", 0.0},
                           {"parameters", tried.parameters},
                           {"validation", {{tried.validation->name, tried.validation->value}}}};
    for (const Metric& m : tried.test->values()) summary["test"][m.name] = m.value;
    write_json(tried.folder + "/summary.json", summary);
  }
  about["title"] = "fit: " + plan.data.get("data");
  about["task"] = plan.task;
  about["data"] = plan.data.get("data");
  about["budget"] = fmt::format("{:.0f} s", plan.seconds);
  nlohmann::json notes = nlohmann::json::array();
  const auto note = [&](const std::string& title, std::vector<std::string> lines) {
    if (!lines.empty()) notes.push_back({{"title", title}, {"lines", std::move(lines)}});
  };
  note("How sure that is", report.verdict);
  note("What was taken, and why", data.because);
  std::vector<std::string> doubts = audit.facts;
  for (const Audit::Finding& finding : audit.findings) {
    std::string line = finding.what;
    for (const std::string& one : finding.shown) line += "; " + one;
    doubts.push_back(std::move(line));
  }
  note("What the data is like", doubts);
  std::vector<std::string> rungs;
  for (const PlannedCandidate& one : plan.candidates) {
    if (one.reached.empty()) continue;
    std::string line = one.name + ":";
    for (size_t k = 0; k < one.reached.size(); ++k) {
      line += fmt::format(" {} after {} steps{}", figure(one.reached[k]), one.steps[k],
                          k + 1 < one.reached.size() ? "," : "");
    }
    rungs.push_back(std::move(line));
  }
  note("Rungs: " + words_of(report.metric) + " on validation", rungs);
  std::vector<std::string> mistakes, confusions;
  for (const auto& m : report.mistakes) {
    mistakes.push_back(fmt::format("{} taken for {}, {:.0f} % sure: {}", m.truth, m.output,
                                   100 * m.probability, m.input));
  }
  for (const auto& [what, n] : report.confusions) confusions.push_back(say(n, " times ", what));
  note("Taken for another", confusions);
  note("Mistakes it is surest of", mistakes);
  about["notes"] = notes;
  return comparison_page(read_comparison(folder, about).page);
}

}  // namespace fovea
