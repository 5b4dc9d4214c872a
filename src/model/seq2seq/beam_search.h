// Beam search over any decoder; a beam of 1 is greedy.
#pragma once

#include "fovea/model/seq2seq/translator.h"

namespace fovea {

struct BeamOptions {
  int64_t beam = 1;            // answers followed at once; 1: the likeliest token each time
  int64_t nbest = 1;           // answers given back for each memory, at most `beam`
  double length_penalty = 1;   // a of score / ((5 + length) / 6)^a: Wu et al. 2016
  double longest_factor = 2;   // an answer has at most factor * memory + 10 tokens
  int32_t begin = 2, end = 3;  // the tokens an answer begins and ends with
  int32_t never = -1;          // a token that no answer has
};

// An answer, and how good it is.
struct Hypothesis {
  std::vector<int32_t> ids;  // without begin and end
  double score = 0;          // log-probability over the length penalty
};

// For each memory its answers, best first. None is longer than the decoder can write.
std::vector<std::vector<Hypothesis>> beam_search(const Decoder& decoder, const Memory& memory,
                                                 const BeamOptions& options);

}  // namespace fovea
