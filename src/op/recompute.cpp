#include "fovea/op/recompute.h"

#include <optional>

namespace fovea {

Tensor recomputed(std::function<Tensor(std::span<const Tensor>)> f, std::vector<Tensor> inputs,
                  std::span<const Parameter> parameters) {
  if (!Tape::current()) return f(inputs);
  const size_t count = inputs.size();
  std::optional<Random> stream;  // as it stands before f draws from it
  if (const Random* random = Tape::random()) stream = *random;
  Tensor y;
  {
    const Tape::Pause pause;
    y = f(inputs);
    y = y.reshaped(y.shape());  // where f gives back an input, y is a value of its own
  }
  for (const Parameter& p : parameters) inputs.push_back(p);
  const std::span<const Tensor> list(inputs);
  return record("recomputed", list, y,
                [f = std::move(f), inputs, count, stream](const Tensor& dy, InputGradients& dx) {
                  std::optional<Random> again = stream;
                  std::optional<Tape> tape;
                  if (again) {
                    tape.emplace(*again);
                  } else {
                    tape.emplace();
                  }
                  // Inputs become leaves of the new tape; parameters are leaves of any.
                  std::vector<Tensor> at(inputs.begin(),
                                         inputs.begin() + static_cast<ptrdiff_t>(count));
                  std::vector<Parameter> leaves(count);
                  for (size_t i = 0; i < count; ++i) {
                    if (at[i].empty()) continue;
                    at[i] = at[i].reshaped(at[i].shape());
                    if (!dx.wants(static_cast<int>(i))) continue;
                    leaves[i] = Parameter(at[i]);
                    at[i] = leaves[i];
                  }
                  const Gradients g = tape->backward(f(at), dy);
                  for (size_t i = 0; i < inputs.size(); ++i) {
                    const Tensor& leaf = i < count ? leaves[i].value() : inputs[i];
                    const bool wanted = dx.wants(static_cast<int>(i));
                    if (wanted && g.has(leaf)) dx.add(static_cast<int>(i), g[leaf]);
                  }
                });
}

}  // namespace fovea
