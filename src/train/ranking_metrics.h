// Metrics of ranked candidates, as in answering questions: of one question at a time.
#pragma once

#include <vector>

#include "fovea/train/metric.h"

namespace fovea {

// A candidate of a question.
struct RankedCandidate {
  double score = 0;       // the highest comes first
  bool relevant = false;  // it answers the question
};

// {value, 1} of a question that has a relevant candidate, {0, 0} of one that has none: it says
// nothing about ranking, and is left out as trec_eval's users do. Of equal scores
// the relevant come last: files often name them first, and who tells nothing apart earns nothing.
struct RankingTallies {
  Tally average_precision, reciprocal_rank, first_is_right;  // for MAP, MRR and P@1
};
// Of all candidates of one question, which are ranked here.
RankingTallies ranking_tallies(std::vector<RankedCandidate> candidates);

}  // namespace fovea
