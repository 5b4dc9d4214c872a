// Meta-embeddings, several vectors of a token as one: Kiela, Wang, Cho, "Dynamic Meta-Embeddings
// for Improved Sentence Representations", 2018.
//   x'_i = P_i x_i + b_i      x = sum_i a_i x'_i,   a = align(score(x'_1), .., score(x'_n))
// dynamic: the score looks at the projected vector; contextual: at the state of a small recurrent
// layer that has read the projected vectors of the sentence, one set's at a time.
#pragma once

#include <optional>
#include <span>

#include "fovea/attention/feature/features.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/recurrent.h"

namespace fovea {

struct MetaEmbeddingOptions : FeatureOptions {
  bool contextual = false;  // else dynamic
  int64_t units = 2;        // contextual: of the recurrent layer, in each direction
};

// The layer: a vector of each set goes in, one comes out.
struct MetaEmbedding {
  // Features of a vector of each set, and of the one that is made of them.
  MetaEmbedding(Scope s, std::span<const int64_t> widths, int64_t width,
                const MetaEmbeddingOptions& options = {});

  // What a call gives.
  struct Output {
    Tensor rows;               // [rows, width]
    Tensor log_probability{};  // [rows]: of what was drawn; empty where nothing was
  };
  // Of each set the vectors of the same tokens, [rows, width of the set], cut into sequences. A
  // Recorder gets the share of each set: [sequences, 1, tokens, sets].
  Output operator()(std::span<const Tensor> sets, const Packing& of) const;

  std::vector<Linear> project;      // P_i
  std::optional<Recurrent> reader;  // contextual
  Parameter query;                  // [features that the score reads], for scores that need one
  Score score;                      // of a vector of one set
  Alignment align;                  // over the sets
  std::string name;                 // its path: what a Recorder calls its map
};

}  // namespace fovea
