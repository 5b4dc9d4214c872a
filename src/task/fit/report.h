// What a search found, for people: a table, the model's card, and a page.
#pragma once

#include <nlohmann/json.hpp>

#include "fovea/task/fit/audit.h"
#include "fovea/task/fit/inference.h"
#include "fovea/task/fit/search.h"
#include "fovea/train/significance.h"

namespace fovea {

struct FitReport {
  struct Row {
    std::string name;
    double validation = 0;
    std::optional<double> test{}, error{};  // error: of the test value, one standard deviation
    Difference to_best{};                   // of those tested
    bool winner = false, baseline = false;
    int64_t steps = 0, parameters = 0;
    double seconds = 0;
  };
  std::string metric;
  std::vector<Row> rows;             // the winner, then by validation
  std::vector<std::string> verdict;  // sentences: how sure, and what more time would bring
  struct Mistake {
    std::string input, truth, output;
    double probability = 0;
  };
  std::vector<Mistake> mistakes;                            // that the winner is surest of
  std::vector<std::pair<std::string, int64_t>> confusions;  // "truth taken for output", how often
  std::vector<std::pair<std::string, std::string>> failed;
};

FitReport report_of(const FitPlan& plan, const SearchResult& result);

// README.md of the folder: what the model is, learned from what, how good, how sure.
std::string model_card(const FitPlan& plan, const FitData& data, const Audit& audit,
                       const FitReport& report);
// report.html, from the runs' folders; `about`: command, version, machine.
std::string fit_page(const std::string& folder, const FitPlan& plan, const FitData& data,
                     const Audit& audit, const FitReport& report, const SearchResult& result,
                     nlohmann::json about);

}  // namespace fovea
