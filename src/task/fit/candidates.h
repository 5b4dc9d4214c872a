// What a search tries: baselines that are fitted at once, and models that are trained by steps, in
// the order in which they are worth a try; docs/fit.md says what the ranges were learned from.
#pragma once

#include <string>
#include <vector>

#include "fovea/task/fit/audit.h"

namespace fovea {

struct Candidate {
  std::string name;       // of its folder and in tables
  Settings settings;      // beside those that all have
  bool baseline = false;  // fitted or counted, not trained by steps
  int64_t enough = 0;     // steps behind which it only learns its examples by heart; 0: any number
};

// What a list of candidates is made for.
struct CandidateAsked {
  std::string task;     // its name
  std::string vectors;  // a file; empty: none
  int64_t trained = 4;  // at most so many that are trained by steps
};
// How many are worth training in so many seconds: a step on little text is quick.
int64_t worth_training(double seconds, const Audit& audit);

// Only rows of the table that fit the task; all that they say is checked.
std::vector<Candidate> candidates(const Audit& audit, const CandidateAsked& asked);

}  // namespace fovea
