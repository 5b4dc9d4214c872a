// What models are given and what they give back.
#pragma once

#include "fovea/nn/sequences.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// What an example is made of: the column `takes` of the table of models.
enum class Takes { text, numbers };
// What an answer is: the column `gives`.
enum class Gives {
  label,   // one for the example
  labels,  // one for each token
  tokens,  // a text of any length
  next,    // the token that follows each token
  hidden,  // tokens that were hidden
  number,
};
std::string name_of(Takes takes);
std::string name_of(Gives gives);

// A batch of examples. Which parts are there goes by what a model takes.
struct ModelInputs {
  Sequences text{};  // B texts
  Tensor letters{};  // int32 [rows, letters_of_word]: of each word of the text, 0 behind its end;
                     // empty where the model asks for none
  Tensor rows{};     // int32 [n]: the rows of the text that are asked about; empty: all
  Tensor numbers{};  // [B, features]
  // Examples whose numbers and answers are known, for models that look at them: [n, features] and
  // [n, 1]. `own`: the batch is these very examples, and none may look at itself.
  struct Known {
    Tensor numbers{}, answers{};
    bool own = false;
  } known{};
};

// Letters of a word that models see: its first and last; the rest of a longer one is left out.
inline constexpr int64_t letters_of_word = 16;

// How large what comes from the data is; what does not apply is 0.
struct ModelSizes {
  int64_t vocabulary = 0;         // tokens of the text
  int64_t target_vocabulary = 0;  // tokens of the answer
  int64_t alphabet = 0;           // letters
  int64_t labels = 0;
  int64_t features = 0;  // numbers of an example
  int64_t longest = 0;   // tokens of the longest text that may come
};

}  // namespace fovea
