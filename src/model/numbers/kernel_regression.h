// A number from numbers, by attention over the examples that are known: Nadaraya 1964, Watson 1964.
//   a_j = align_j(score(q, k_j)),   f(q) = sum_j a_j v_j
// With the kernel score e = -|(q - k) w|^2 / 2 and w given it has nothing to learn; with w learned
// it is the simplest attention that trains. Any score and alignment of the catalogue can take its
// place; the mean of the known answers is what all of them must beat.
#pragma once

#include "fovea/model/model.h"
#include "fovea/model/named_attention.h"

namespace fovea {

class KernelRegression : public Scorer {
 public:
  KernelRegression(Scope s, const ModelSizes& sizes, const AttentionOptions& attention);

  // Scores [B, 1] are the numbers themselves.
  Output operator()(const ModelInputs& in) const override;

 private:
  Score score_;
  Alignment align_;
  std::string name_;
};

// The mean of the known answers, whatever is asked: learns nothing.
class MeanRegression : public Scorer {
 public:
  Output operator()(const ModelInputs& in) const override;
};

}  // namespace fovea
