// From scores of where an answer begins and ends to the answer: the best parts of a passage, which
// may have been read in several windows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

// What a model made of one window, as SpanReader::Output has it: element 0 is of no answer (-inf
// where there always is one), element 1 + t of word `from` + t of the passage.
struct ScoredWindow {
  int64_t from = 0;               // the first word of the passage that is in it
  std::vector<float> start, end;  // [1 + words] scores of the answer's first word and its last
};

// Words [first, last] of the passage; first < 0: there is no answer.
struct FoundSpan {
  int64_t first = -1, last = -1;  // both belong to it
  double log_probability = 0;     // of its first word and its last
};

// Which spans are taken, and how many.
struct SpanChoice {
  int64_t longest = 30;  // words of an answer
  double no_answer = 0;  // added to the score of there being none, before the best is chosen
  int64_t nbest = 1;     // at most so many; that there is none counts as one
};

// The best first. Probabilities are over the words of all windows; that there is no answer is as
// likely as the window says that thinks least so, since one that has it is enough (Devlin et al.
// 2018).
std::vector<FoundSpan> best_spans(std::span<const ScoredWindow> windows, const SpanChoice& choice);

// Of one span how likely it is: -inf where no window holds it whole.
double span_log_probability(std::span<const ScoredWindow> windows, int64_t first, int64_t last);

// For each of n words of the passage how likely it is part of the answer, given that there is one
// of at most `longest` words.
std::vector<float> inside_answer(std::span<const ScoredWindow> windows, int64_t n, int64_t longest);

}  // namespace fovea
