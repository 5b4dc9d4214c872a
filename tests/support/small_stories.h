// Two stories with a question each, small enough for numeric gradients.
#pragma once

#include "fovea/attention/catalog.h"
#include "fovea/model/inputs.h"

namespace fovea::test {

inline const ModelSizes sizes{.vocabulary = 8,
                              .labels = 3,
                              .longest = 9,
                              .hashed = 2,
                              .longest_sentence = 3,
                              .longest_story = 9};

inline ModelInputs example(bool own_candidates = false) {
  using Nested = std::vector<std::vector<std::vector<int32_t>>>;
  ModelInputs in;
  in.story = nested_sequences_of(Nested{{{1, 2}, {3, 4, 5}, {8, 6}}, {{7, 2, 1}}});
  in.keys = nested_sequences_of(Nested{{{1}, {3, 4}, {8}}, {{7, 2}}});
  in.values = nested_sequences_of(Nested{{{2}, {5}, {6}}, {{1}}});
  in.question = sequences_of(std::vector<std::vector<int32_t>>{{1, 9}, {5, 2, 3}});
  in.supporting = Tensor::ids({2, 2}, {2, 0, 0, -1});
  in.candidates =
      own_candidates ? Tensor::ids({2, 3}, {2, 5, 9, 1, -1, -1}) : Tensor::ids({3}, {2, 5, 1});
  return in;
}

inline AttentionOptions softly() {
  AttentionOptions o;
  o.score = "dot";
  return o;
}

// The second story of example(), without the first.
inline ModelInputs second_alone() {
  ModelInputs alone;
  alone.story = nested_sequences_of(std::vector<std::vector<std::vector<int32_t>>>{{{7, 2, 1}}});
  alone.keys = nested_sequences_of(std::vector<std::vector<std::vector<int32_t>>>{{{7, 2}}});
  alone.values = nested_sequences_of(std::vector<std::vector<std::vector<int32_t>>>{{{1}}});
  alone.question = sequences_of(std::vector<std::vector<int32_t>>{{5, 2, 3}});
  alone.candidates = Tensor::ids({3}, {2, 5, 1});
  return alone;
}

}  // namespace fovea::test
