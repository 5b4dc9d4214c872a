// What models are given and what they give back.
#pragma once

#include "fovea/model/graph/graph.h"
#include "fovea/nn/sequences.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// What an example is made of: the column `takes` of the table of models.
enum class Takes {
  text,
  pair,    // two texts
  phrase,  // a part of a text
  numbers,
  steps,    // rows of numbers, one a step
  story,    // sentences, and a question about them
  graph,    // nodes with features, and edges between them
  passage,  // a text, and a question about it
  picture,
  frames,  // pictures, one after the other
  scene,   // a picture, and a question about it
};
// What an answer is: the column `gives`.
enum class Gives {
  label,   // one for the example
  labels,  // one for each token
  tokens,  // a text of any length
  next,    // the token that follows each token
  hidden,  // tokens that were hidden
  number,
  steps,   // a row of bits or a symbol at each step
  choice,  // one of several candidates
  span,    // a part of the text
  links,   // whether there is an edge between two nodes
};
// As lists and errors name them.
std::string name_of(Takes takes);
std::string name_of(Gives gives);

// Rows of which few elements are not zero: of row b those from offsets[b] to offsets[b + 1].
struct SparseRows {
  Tensor offsets{};  // int32 [rows + 1]
  Tensor ids{};      // int32 [elements], in order within a row
  Tensor values{};   // [elements]

  int64_t count() const { return offsets.dim(0) - 1; }  // how many rows
};

// A batch of examples. Which parts are there goes by what a model takes.
struct ModelInputs {
  Sequences text{};  // B texts
  Tensor letters{};  // int32 [rows, letters_of_word]: of each word of text or story, 0 behind it;
                     // empty where the model asks for none
  Tensor rows{};     // int32 [n]: the rows of the text, or the nodes, that are asked about; empty:
                     // all
  NestedSequences document{};  // the text cut into sentences, or words into letters; or empty
  Sequences second{};          // pairs: the other text of each
  Tensor second_letters{};     // of `question` or `second`, as `letters` are of the text
  // Pairs: [rows, 1] of each text, 1 where the other has the word too, else 0; empty where the
  // model asks for none.
  Tensor shared{}, second_shared{};
  Tensor phrase{};   // int32 [B, 2]: where the phrase of each text begins, and where it ends
  Tensor numbers{};  // [B, features]
  // What linear models read, of each text or token; of each candidate the rows that name it.
  SparseRows sparse{};
  Tensor steps{};           // [T, B, inputs]: B sequences of T steps; `rows` are then t B + b
  NestedSequences story{};  // of each example its sentences, the oldest first
  Sequences question{};     // and what is asked
  NestedSequences keys{}, values{};  // of key-value memories; each sentence has both. Else empty
  Tensor supporting{};  // int32 [B, n]: sentences that the answer follows from, -1: no more; or
                        // empty
  Tensor candidates{};  // int32 [C] for all, or [B, C] for each: words, -1 where there are fewer
  Sequences answer{};   // what is learned to be written: begins with the begin token, lacks the end
  // While training, which epoch it is, for what changes on the way; -1: not training.
  int64_t epoch = -1;
  // Examples whose numbers and answers are known.
  struct Known {
    Tensor numbers{}, answers{};  // [n, features], [n, 1]
    bool own = false;             // the batch is these very examples, and none may look at itself
  } known{};                      // for models that look at them
  Tensor pictures{};              // [B, H, W, C], or of frames [B, frames, H, W, C]
  NodeGraph graph{};              // of one or several, side by side
  bool whole = false;             // the graphs are asked about, not their nodes
};

// Letters of a word that models see: its first and last; the rest of a longer one is left out.
inline constexpr int64_t letters_of_word = 16;

// How large what comes from the data is; what does not apply is 0.
struct ModelSizes {
  int64_t vocabulary = 0;           // tokens of the text
  int64_t target_vocabulary = 0;    // tokens of the answer
  int64_t alphabet = 0;             // letters
  int64_t labels = 0;               // that an answer is one of
  int64_t features = 0;             // numbers of an example, or of a node
  int64_t sparse = 0;               // features of ModelInputs::sparse
  int64_t longest = 0;              // tokens of the longest text that may come
  int64_t hashed = 0;               // words behind the vocabulary whose vectors are not learned
  int64_t longest_sentence = 0;     // words of a sentence
  int64_t longest_story = 0;        // sentences of a story
  int64_t inputs = 0, outputs = 0;  // numbers of a step, in and out
  int64_t height = 0, width = 0, channels = 0;  // of a picture
  int64_t frames = 0;                           // pictures of an example, where they are several
};

}  // namespace fovea
