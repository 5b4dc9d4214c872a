// A comparison on disk: DIR/runs/CHOICE/seed-N is the folder of one run, with summary.json
// (training) and eval.json (what each test example counted). From these come the table and the
// report.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "fovea/train/significance.h"

namespace fovea {

struct ComparedChoice {
  std::string name;            // "score=additive,align=entmax"
  std::vector<int64_t> seeds;  // of the runs that finished, one each
  // A metric over the seeds.
  struct Value {
    double mean = 0;                 // over the seeds
    std::optional<double> spread{};  // standard deviation over seeds; none for one seed
    std::vector<double> values{};    // one a seed
  };
  std::vector<std::pair<std::string, Value>> metrics;  // the task's own first
  bool best = false;                                   // the best mean of those that finished
  Difference to_best;  // how it differs from the best, and whether that may be chance
  // Means over the runs; of peak_mb the most.
  double parameters = 0, step_ms = 0, peak_mb = 0, steps = 0;
  // Answering one example alone: the median, and what 95 of 100 stay below; many at once.
  std::optional<double> example_ms{}, example_ms_95{}, examples_per_second{};
  std::string failed;  // what stopped it, where it did not finish

  // Null when it was not measured.
  const Value* metric(std::string_view name) const;
};

// All choices of a folder.
struct Comparison {
  std::string metric;                   // that ranks them
  bool higher_is_better = true;         // of that metric
  std::vector<ComparedChoice> choices;  // best first, failed ones last
  std::string best_run;  // "runs/CHOICE/seed-N": of the best choice the seed that validated best
  nlohmann::json page;   // for comparison_page()
};

// Reads every finished run in the folder. `about`: title, task, data, budget, command and the like,
// for the page.
Comparison read_comparison(const std::string& folder, const nlohmann::json& about);

}  // namespace fovea
