#include "fovea/train/optimizer.h"

#include <cmath>

#include "fovea/kernel/adam.h"
#include "fovea/kernel/reduce.h"

namespace fovea {

Adam::Adam(Parameters& parameters, const Options& options)
    : parameters_(parameters), options_(options) {
  for (const auto& entry : parameters.entries()) {
    m_.push_back(Tensor::zeros(entry.value.shape(), entry.value.dtype()));
    v_.push_back(m_.back());
  }
}

void Adam::step(const Gradients& gradients, double factor) {
  check(m_.size() == parameters_.entries().size(),
        "adam: parameters were added after the optimiser was made");
  ++steps_;
  const double rate = options_.rate * factor;
  const kernel::AdamStep how{.rate = rate,
                             .beta1 = options_.beta1,
                             .beta2 = options_.beta2,
                             .eps = options_.eps,
                             .decay = rate * options_.weight_decay,
                             .fix1 = 1 - std::pow(options_.beta1, steps_),
                             .fix2 = 1 - std::pow(options_.beta2, steps_)};
  for (size_t i = 0; i < m_.size(); ++i) {
    Tensor& w = parameters_.entries()[i].value;
    if (!gradients.has(w)) continue;
    const Tensor g = gradients[w];
    with_real(w.dtype(), [&]<class T>(T) {
      kernel::adam(how, w.write<T>().data(), m_[i].write<T>().data(), v_[i].write<T>().data(),
                   g.read<T>().data(), w.elements());
    });
  }
}

double gradient_norm(const Parameters& parameters, const Gradients& gradients) {
  double sum = 0;
  for (const auto& entry : parameters.entries()) {
    if (!gradients.has(entry.value)) continue;
    const Tensor g = gradients[entry.value];
    sum += with_real(g.dtype(), [&]<class T>(T) {
      return kernel::square_sum(g.read<T>().data(), g.elements());
    });
  }
  return std::sqrt(sum);
}

double clip_by_norm(const Parameters& parameters, Gradients& gradients, double limit) {
  check(limit > 0, "clip: the limit must be above 0, got ", limit);
  const double norm = gradient_norm(parameters, gradients);
  if (norm > limit) gradients *= limit / norm;
  return norm;
}

}  // namespace fovea
