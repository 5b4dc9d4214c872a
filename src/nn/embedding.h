// A row of a learned table for every id.
#pragma once

#include "fovea/nn/scope.h"
#include "fovea/op/index.h"
#include "fovea/op/linear.h"

namespace fovea {

struct Embedding {
  Parameter weight;  // [rows, width]

  Embedding() = default;  // of nothing
  Embedding(Scope s, int64_t rows, int64_t width, const Init& init = init::normal(0.1))
      : weight(s.param("weight", {rows, width}, init)) {}

  Tensor operator()(const Tensor& ids) const { return embedding(weight, ids); }
  // Scores of every row for x [..., width]: the output layer of a model with tied embeddings.
  Tensor scores(const Tensor& x) const { return linear(x, weight); }
};

}  // namespace fovea
