#include "fovea/model/numbers/kernel_regression.h"

#include "fovea/attention/engine.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {

KernelRegression::KernelRegression(Scope s, const ModelSizes& sizes,
                                   const AttentionOptions& attention)
    : score_(score_factory(attention)(s, sizes.features, sizes.features)),
      align_(unrewarded_alignment_factory("kernel regression", attention)(s / "align",
                                                                          sizes.features)),
      name_(attention.score) {}

Scorer::Output KernelRegression::operator()(const ModelInputs& in) const {
  const int64_t B = in.numbers.dim(0), n = in.known.numbers.dim(0), D = in.numbers.dim(1);
  AttentionInputs inputs;  // all queries meet the same keys: one batch entry of B queries
  inputs.q = reshape(in.numbers, {1, B, 1, D});
  inputs.k = reshape(in.known.numbers, {1, n, 1, D});
  inputs.v = reshape(in.known.answers, {1, n, 1, 1});
  if (in.known.own) inputs.who = others();
  inputs.name = name_;
  return {reshape(attend(inputs, score_, align_).context, {B, 1})};
}

Scorer::Output MeanRegression::operator()(const ModelInputs& in) const {
  return {broadcast_to(reshape(mean(in.known.answers), {1, 1}), {in.numbers.dim(0), 1})};
}

}  // namespace fovea
