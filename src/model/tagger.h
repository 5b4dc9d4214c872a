// A label for every token: recurrent states, with or without attention over them.
//   y_t = W [h_t; c_t] + b,   c_t = attend(h_t, h_1 .. h_T)
// A word's letters stand beside its embedding, so that words never seen have features too: a
// convolution and a maximum over the letters (dos Santos, Zadrozny 2014).
#pragma once

#include <optional>

#include "fovea/model/named_attention.h"
#include "fovea/model/recurrent_encoder.h"
#include "fovea/nn/conv.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct TaggerOptions {
  RecurrentModelOptions recurrent{};
  AttentionChoice attention{.score = "none"};
  int64_t letters = 64;  // features made of a word's letters; 0: none
};

struct Tagger {
  // A word's first and last letters; the rest of a longer one is left out.
  static constexpr int64_t word_length = 16;

  Tagger(Scope s, int64_t vocabulary, int64_t alphabet, int64_t labels,
         const TaggerOptions& options);

  // Scores [rows, labels]. letters: int32 [rows, word_length], 0 behind the end; empty where
  // options.letters is 0.
  Tensor operator()(const Sequences& words, const Tensor& letters, Random* random) const;

  TaggerOptions options;
  std::optional<Embedding> alphabet;
  std::optional<Conv1d> spelling;
  RecurrentEncoder encoder;
  std::optional<NamedAttention> attention;
  Linear output;
};

}  // namespace fovea
