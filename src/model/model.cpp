#include "fovea/model/model.h"

#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/softmax.h"

namespace fovea {

std::string name_of(Takes takes) {
  switch (takes) {
    case Takes::text:
      return "text";
    case Takes::numbers:
      return "numbers";
  }
  return "";
}

std::string name_of(Gives gives) {
  switch (gives) {
    case Gives::label:
      return "a label";
    case Gives::labels:
      return "a label for each token";
    case Gives::tokens:
      return "tokens";
    case Gives::next:
      return "the next token";
    case Gives::hidden:
      return "hidden tokens";
    case Gives::number:
      return "a number";
  }
  return "";
}

Tensor Scorer::loss(const ModelInputs& in, const Tensor& targets, double smoothing) const {
  const Output out = (*this)(in);
  return classification_loss(out.scores, targets, smoothing, out.log_probability);
}

Tensor classification_loss(const Tensor& scores, const Tensor& targets, double smoothing,
                           const Tensor& log_probability) {
  const Tensor each = cross_entropy_each(scores, targets, smoothing);
  const Tensor loss = mean(each);
  if (log_probability.empty()) return loss;
  Tensor advantage(each.shape(), each.dtype());  // numbers, not part of what is differentiated
  with_real(each.dtype(), [&]<class T>(T) {
    auto to = advantage.write<T>();
    const auto from = each.read<T>();
    const auto baseline = static_cast<T>(loss.item());
    for (size_t i = 0; i < to.size(); ++i) to[i] = from[i] - baseline;
  });
  return loss + mean(advantage * log_probability);
}

}  // namespace fovea
