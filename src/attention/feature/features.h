// What attention over several inputs is made of: the rows of an input, and one query for each
// example that pools them.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention/factory.h"
#include "fovea/nn/sequences.h"

namespace fovea {

// One of the inputs of a mechanism: B examples of up to T rows.
struct Features {
  Tensor rows;     // [B, T, d]
  Tensor lengths;  // int32 [B]: how many rows of each count
};
// The same from packed rows; where all are empty there is one row that does not count.
Features features_of(const RaggedRows& packed);
// The mean of the rows that count: [B, d]; zeros where none does.
Tensor mean_of(const Features& features);

// Which attention is used inside.
struct FeatureOptions {
  ScoreFactory score{};      // null: what the mechanism's paper has
  AlignmentFactory align{};  // null: softmax
};

// What a mechanism over several inputs gives.
struct FeatureOutput {
  // Each [B, d], in the order of the mechanism's equation; of meta-embeddings [B, T, d].
  std::vector<Tensor> contexts;
  Tensor log_probability{};  // [B]: of all that was drawn; empty where nothing was

  // The contexts side by side.
  Tensor joined() const;
  // Takes along what another attention drew.
  void drew(const Tensor& log_probability);
};

// c = sum_l align(score(q, f_l))_l f_l, with one query for each example.
struct Pooling {
  Pooling(Scope s, int64_t d_q, int64_t d, const FeatureOptions& options);

  // query [B, d_q]; gives [B, d], and adds to `out` what was drawn.
  Tensor operator()(const Tensor& query, const Features& features, FeatureOutput& out) const;

  Score score;       // of the query and a row
  Alignment align;   // over the rows
  std::string name;  // its path: what a Recorder calls its map
};

}  // namespace fovea
