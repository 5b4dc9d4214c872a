// An alignment from outside the library: a rule for one row, in float and double, forward and back.
//
//   struct TopK {  // softmax over the k heaviest keys
//     template <class T> void forward(std::span<T> row) const;
//     template <class T> void backward(std::span<const T> weights, std::span<T> gradient) const;
//   };
//   attend(in, scaled_score(), row_alignment("top_k", TopK{8}));
//
// forward() finds scores in the row, -inf where the query may not look, and leaves weights, 0
// there; it is not asked about rows that may look at nothing. backward() finds the weights and
// their gradient, and leaves the gradient of the scores. Both are called from several threads at
// once. In attend, MultiHead and every model such an alignment runs in the kernels, on the rows
// that they hold: masks, biases, dropout, capture and gradients are theirs.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "fovea/attention/alignment.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace given {

// Whether there is something to align.
template <class T>
bool may_look(std::span<const T> row) {
  return std::ranges::any_of(row, [](T x) { return x > -std::numeric_limits<T>::infinity(); });
}

// The rule for `count` rows of n scores, `ld` apart: as kernels call it.
template <class Rule>
void forward_block(const void* self, float* rows, int64_t count, int64_t ld, int64_t n) {
  for (int64_t r = 0; r < count; ++r) {
    const std::span<float> row(rows + r * ld, static_cast<size_t>(n));
    if (may_look<float>(row)) static_cast<const Rule*>(self)->forward(row);
  }
}

// Its adjoint for as many rows; both arrays have the same layout.
template <class Rule>
void backward_block(const void* self, const float* weights, float* gradient, int64_t count,
                    int64_t ld, int64_t n) {
  const auto size = static_cast<size_t>(n);
  for (int64_t r = 0; r < count; ++r) {
    static_cast<const Rule*>(self)->backward(std::span<const float>(weights + r * ld, size),
                                             std::span<float>(gradient + r * ld, size));
  }
}

// The definition, along the last axis of e.
template <class Rule>
Tensor weights(const Rule& rule, const Tensor& e) {
  const int64_t n = e.dim(-1), rows = n == 0 ? 0 : e.elements() / n;
  Tensor a = Tensor::zeros(e.shape(), e.dtype());
  with_real(e.dtype(), [&]<class T>(T) {
    for (int64_t r = 0; r < rows; ++r) {
      const auto from = e.read<T>().subspan(static_cast<size_t>(r * n), static_cast<size_t>(n));
      if (!may_look(from)) continue;
      const auto to = a.write<T>().subspan(static_cast<size_t>(r * n), static_cast<size_t>(n));
      std::ranges::copy(from, to.begin());
      rule.forward(to);
    }
  });
  return record("row_alignment", {e}, a, [rule, a, n, rows](const Tensor& da, InputGradients& de) {
    Tensor g = da;
    with_real(a.dtype(), [&]<class T>(T) {
      for (int64_t r = 0; r < rows; ++r) {
        const auto from = static_cast<size_t>(r * n), size = static_cast<size_t>(n);
        rule.backward(a.read<T>().subspan(from, size), g.write<T>().subspan(from, size));
      }
    });
    de.add(0, g);
  });
}

}  // namespace given

// The alignment of a rule, which is copied; `name` is what errors and reports call it.
template <class Rule>
Alignment row_alignment(std::string name, Rule rule) {
  auto kept = std::make_shared<const Rule>(rule);
  return {
      .name = std::move(name),
      .weights = [rule](const Tensor& e,
                        const AlignmentStart&) { return AlignedWeights{given::weights(rule, e)}; },
      .rows = RowAlignment{
          .align = kernel::RowAlign::given,
          .given = {kept.get(), given::forward_block<Rule>, given::backward_block<Rule>},
          .keeps = kept}};
}

}  // namespace fovea
