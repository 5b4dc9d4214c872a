// What models of stories share: sentences as they stand in a memory, and answers as a choice among
// candidates.
#pragma once

#include "fovea/base/fields.h"
#include "fovea/memory/bags.h"
#include "fovea/model/model.h"
#include "fovea/model/seq2seq/beam_search.h"
#include "fovea/nn/scope.h"

namespace fovea {

struct StoryOptions {
  int64_t width = 50;     // features of a word and a sentence
  int64_t memory = 50;    // sentences that are kept, the newest; 0: all that come
  bool positions = true;  // a word counts by where it stands
};
// The fields of any struct that is built on it.
const Fields<StoryOptions>& story_fields();

// A table of words, and behind them rows for times; rarer words than a table can hold have vectors
// that are not learned (ModelSizes::hashed of them).
struct WordTable {
  WordTable() = default;
  // `times`: rows behind the words.
  WordTable(Scope s, const ModelSizes& sizes, int64_t width, int64_t times, double deviation,
            const Parameter& fixed);
  Tensor operator()(const Sequences& words, const Tensor& places, const Tensor& weights) const;
  // Plain sums of the words of each sequence, and of single words: candidates and answers.
  Tensor each(const Sequences& words) const;
  Tensor rows(const Tensor& ids) const;

  Parameter weight;        // [vocabulary + times, width]
  Parameter fixed;         // [hashed, width], frozen
  int64_t vocabulary = 0;  // rows of words; those behind them are of times
};
// The rows that are not learned; empty where there are none.
Parameter fixed_rows(Scope s, const ModelSizes& sizes, int64_t width);

// The newest sentences of each story, words and places; with times, each has a word more that says
// how old it is (0: the newest), in the last place.
struct RememberedSentences {
  Sequences words;  // of each kept sentence
  Tensor places;    // int32 [words]
  Packing outer;    // sentences of each story
  Tensor first{};   // int32 [B]: how many older sentences of each story were left out
};
// How many sentences are remembered, and how their ages are told.
struct TimeOptions {
  int64_t memory = 0;    // 0: all
  int64_t times = 0;     // words for them, from this id on below; 0: none
  int64_t first_id = 0;  // the time word of the newest sentence
  double noise = 0;      // while training, up to this part of further times lies in between
};
// Words from longest_sentence on share its last place; the place behind it is the time's.
RememberedSentences remembered(const NestedSequences& story, int64_t longest_sentence,
                               const TimeOptions& times);
// A question's words in their places.
Tensor places_in(const Sequences& words, int64_t longest_sentence);

// Story and question as one sequence of words for each example; behind each sentence of the story
// the mark, unless that is -1.
std::vector<std::vector<int32_t>> read_through(const ModelInputs& in, int32_t mark = -1);

// Weights of places: position encoding, or ones.
Tensor story_weights(bool positions, int64_t longest_sentence, int64_t width, Dtype dtype);

// Scores of candidates, in.candidates [C] or [B, C], for u [B, width]: [B, C]; -1e30 where there
// is none.
Tensor candidate_scores(const WordTable& table, const Tensor& u, const Tensor& candidates);

// The sum, not the mean, of the cross-entropy: the recipes of these models state rates for it.
Tensor summed_loss(const Tensor& scores, const Tensor& targets, double smoothing);
// A model whose loss is such a sum.
class SumsLoss {
 public:
  virtual ~SumsLoss() = default;
};
// A model that cannot learn a question without the facts which support its answer.
class LearnsFromFacts {
 public:
  virtual ~LearnsFromFacts() = default;
};

// A model that may write its answer, word by word, in the place of choosing one.
class WritesAnswers {
 public:
  virtual ~WritesAnswers() = default;
  // Of each example its answers, best first; an Error where it chooses.
  virtual std::vector<std::vector<Hypothesis>> write(const ModelInputs& in,
                                                     const BeamOptions& options) const = 0;
};

}  // namespace fovea
