// Beam search over any Translator; a beam of 1 is greedy.
#pragma once

#include "fovea/model/translator.h"

namespace fovea {

struct BeamOptions {
  int64_t beam = 1;
  int64_t nbest = 1;           // answers given back for each source, at most `beam`
  double length_penalty = 1;   // a of score / ((5 + length) / 6)^a: Wu et al. 2016
  double longest_factor = 2;   // an answer has at most factor * source + 10 tokens
  int32_t begin = 2, end = 3;  // the tokens an answer begins and ends with
};

struct Answer {
  std::vector<int32_t> ids;  // without begin and end
  double score = 0;          // log-probability over the length penalty
};

// For each source its answers, best first.
std::vector<std::vector<Answer>> beam_search(const Translator& model, const Sequences& source,
                                             const BeamOptions& options);

}  // namespace fovea
