// Features made of a word's letters, so that words never seen have some too: a convolution and a
// maximum over the letters (dos Santos, Zadrozny, "Learning Character-level Representations for
// Part-of-Speech Tagging", 2014).
#pragma once

#include "fovea/base/fields.h"
#include "fovea/nn/conv.h"
#include "fovea/nn/embedding.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"

namespace fovea {

struct SpellingOptions {
  int64_t letters = 64;  // features of a word's letters; 0: none
};
// As options of a run.
const Fields<SpellingOptions>& spelling_fields();

// The layers with their weights.
struct Spelling {
  static constexpr int64_t letter_width = 32;  // features of a letter
  Embedding alphabet;                          // [letters, letter_width]
  Conv1d window;                               // over three letters

  Spelling(Scope s, int64_t letters, int64_t features)
      : alphabet(s / "alphabet", letters, letter_width),
        window(s / "spelling", letter_width, features, 3, Conv1dOptions{.padding = 1}) {}

  // int32 [rows, letters_of_word] -> [rows, features]
  Tensor operator()(const Tensor& letters) const { return max(relu(window(alphabet(letters))), 1); }
};

}  // namespace fovea
