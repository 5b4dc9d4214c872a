// One label for a sequence: recurrent states, pooled by attention whose query is a learned vector
// (Yang et al. 2016; Lin et al. 2017), or without attention by the last state, the mean or the
// maximum.
#pragma once

#include <optional>

#include "fovea/model/named_attention.h"
#include "fovea/model/recurrent_encoder.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct ClassifierOptions {
  RecurrentModelOptions recurrent{};
  AttentionChoice attention{.score = "self_attentive"};
  std::string summary = "last";  // without attention: last, mean, max
};

struct Classifier {
  Classifier(Scope s, int64_t vocabulary, int64_t labels, const ClassifierOptions& options);

  struct Output {
    Tensor scores;           // [B, labels]
    Tensor log_probability;  // [B]: of what a drawing alignment drew; else empty
  };
  Output operator()(const Sequences& tokens, Random* random) const;

  ClassifierOptions options;
  RecurrentEncoder encoder;
  const Tensor* query = nullptr;  // [features]
  std::optional<NamedAttention> attention;
  Linear output;
};

}  // namespace fovea
