// A search as it was planned and done: what each candidate was trained for, in steps. Searching
// again by a plan looks at no clock, and so finds the same winner with the same bits on any machine
// and any number of threads.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "fovea/base/fitting.h"
#include "fovea/task/fit/candidates.h"

namespace fovea {

// A candidate, what it is to be trained for, and what came of it.
struct PlannedCandidate : Candidate {
  // For each rung how many steps it has been trained for when that ends; the schedule of the last
  // goes by `whole`.
  std::vector<int64_t> steps{};
  int64_t whole = 0;
  bool begun = false;       // it was fitted, or took steps, before there was a plan
  int64_t first = 0;        // steps that told how long one takes, before the first rung
  int64_t warmup = 0;       // steps of warm-up behind those; 0: as the settings have it
  double step_seconds = 0;  // when it was planned
  // What it had reached at the end of each rung that it took part in.
  std::vector<double> reached{};
  bool finished = false;   // a baseline that is fitted
  FitChoice fitted{};      // what came of fitting what is fitted of it
  bool refitted = false;   // what is fitted of it, in the end to the validation examples too
  int64_t parameters = 0;  // of its model, once that was made
  double seconds = 0;      // that it was trained for, so far
};

// All of a search: on what, for how long, and whom.
struct FitPlan {
  std::string task;                            // its name
  Settings data;                               // data, dev, test, columns, tokens, ...
  double seconds = 0;                          // the budget
  double used = 0;                             // of it, so far
  double reserve = 1;                          // of it, put aside for measuring at the end
  int64_t factor = 3;                          // a rung keeps one in so many
  int64_t rungs = 0;                           // 0: not planned yet
  bool stopped = false;                        // from outside, before its end
  std::vector<int64_t> places{};               // how many take part in each rung
  std::vector<PlannedCandidate> candidates{};  // the first is the simplest

  // As a file of JSON; load() takes one that save() left, and anything else is an Error.
  void save(const std::string& path) const;
  static FitPlan load(const std::string& path);
};

// Those that go on from a rung: as many as the next has places for, the best first; of equals the
// one that stands first in the plan.
std::vector<size_t> promoted(const FitPlan& plan, int64_t rung, bool higher_is_better);
// Turns seconds into steps, for the candidates that take part and `workers` trainings at a time:
// rungs share the time evenly, nobody is trained for longer than is enough, and what is left over
// goes to more candidates.
void plan_steps(FitPlan& plan, const std::vector<size_t>& taking_part, double seconds,
                int64_t workers);
// How many take part in each rung, of so many: one in `factor` of those before, down to one.
std::vector<int64_t> places_for(int64_t candidates, int64_t factor);

}  // namespace fovea
