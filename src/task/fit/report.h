// What a search found, for people: a table, the model's card, and a page.
#pragma once

#include <nlohmann/json.hpp>

#include "fovea/task/fit/audit.h"
#include "fovea/task/fit/inference.h"
#include "fovea/task/fit/interval.h"
#include "fovea/task/fit/search.h"
#include "fovea/train/significance.h"

namespace fovea {

struct FitReport {
  // A candidate that was measured.
  struct Row {
    std::string name;                       // the candidate's
    double validation = 0;                  // the metric there, at its best
    std::optional<double> test{}, error{};  // error: of the test value, one standard deviation
    Interval interval{};                    // of the test value, where there is one
    Difference to_best{};                   // of those tested
    bool winner = false, baseline = false;  // best on validation; not trained by steps
    int64_t steps = 0, parameters = 0;      // how long it was trained, how many numbers it has
    double seconds = 0;                     // of training, measuring on the test part not counted
  };
  std::string metric;                // the task's own, of find_metric()
  std::vector<Row> rows;             // the winner, then by validation
  std::vector<std::string> verdict;  // sentences: how sure, and what more time would bring
  // A test example that got another label than its own.
  struct Mistake {
    std::string input, truth, output;  // the text, its label, and the one that it got
    double probability = 0;            // of the output
  };
  std::vector<Mistake> mistakes;                            // that the winner is surest of
  std::vector<std::pair<std::string, int64_t>> confusions;  // "truth taken for output", how often
  std::vector<std::pair<std::string, std::string>> failed;  // candidates, and why
};

// The winner must have been measured on the test part.
FitReport report_of(const FitPlan& plan, const SearchResult& result);

// README.md of the folder: what the model is, learned from what, how good, how sure.
std::string model_card(const FitPlan& plan, const FitData& data, const Audit& audit,
                       const FitReport& report);
// report.html, from the runs' folders; `about`: command, version, machine.
std::string fit_page(const std::string& folder, const FitPlan& plan, const FitData& data,
                     const Audit& audit, const FitReport& report, const SearchResult& result,
                     nlohmann::json about);

}  // namespace fovea
