// Successive halving (Jamieson, Talwalkar 2016; Li et al., "Hyperband", 2018), all candidates of a
// rung before any of the next: each rung has the same share of the time, keeps one candidate in
// three and trains it three times as long. The clock is looked at once, to turn the time into
// steps, and after that only to stop what would go beyond it; what was done is written down, and is
// what a plan does again, however the search ended.
#pragma once

#include <atomic>
#include <functional>

#include "fovea/task/fit/plan.h"
#include "fovea/task/solver.h"

namespace fovea {

// One candidate, trained to so many steps in all: what a search is made of, and what another
// process can do for it.
struct SearchPart {
  size_t candidate = 0;  // of the plan
  int64_t steps = 0;     // in all
  bool last = false;     // the last rung lets the rate fall
  double seconds = 0;    // that it may take; 0: any
};

// Where and how to search, and whom to tell.
struct SearchCall {
  std::string folder;           // runs/NAME/seed-SEED below it
  bool by_plan = false;         // the steps of the plan, and no clock
  double began = 0;             // seconds that have gone before
  double test_validations = 1;  // how many validations a measurement on the test part is
  int64_t validations = 0;      // examples to validate on; 0: not known
  const std::atomic<bool>* stop = nullptr;  // when set: no more training, the best so far wins
  std::function<void(const std::string& line)> tell{};  // a line for each thing that ended
  std::function<void(const std::string& line)> show{};  // what is under way, many times a second
  // Where there is more than one process: does all parts, as search_part() does one, `workers` at a
  // time, and comes back when they are done. One that failed has left no result.
  std::function<void(const std::vector<SearchPart>& parts)> elsewhere{};
  int64_t workers = 1;
};

// What became of a candidate.
struct Tried {
  std::string name, folder;            // the candidate's, and where its run is
  bool baseline = false;               // fitted or counted, not trained by steps
  std::optional<Metric> validation{};  // the best; none: it did not get so far
  int64_t steps = 0, parameters = 0;   // how long it was trained, how many numbers it has
  double seconds = 0;                  // of training, measuring on the test part not counted
  std::string failed;                  // why; empty: it did not
  std::optional<Evaluation> test{};    // of baselines and the winner
  std::vector<Drawing> drawings{};     // of the first test examples, of the winner and baselines
};

// What became of all.
struct SearchResult {
  std::vector<Tried> tried;  // in the order of the plan
  size_t winner = 0;         // which of them is best on validation
  double seconds = 0;        // all of it
  bool stopped = false;      // from outside, before its end
};

// Fills the plan with what it did, and keeps it in folder/plan.json as it goes.
SearchResult search(FitPlan& plan, const SearchCall& call);

// Does a part of the search whose plan is in the folder, and leaves there what came of it.
void search_part(const std::string& folder, const SearchPart& part, const std::atomic<bool>* stop);

}  // namespace fovea
