// From scores to weights, a row at a time. An alignment is a value, as a score is: those of the
// literature are made by the files of align/, and row_alignment() (align/given.h) makes one of a
// function from outside. Keys that a pattern forbids have weight 0 in all of them, and a row that
// may look at nothing is 0.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fovea/attention/contract.h"
#include "fovea/nn/scope.h"

namespace fovea {

// What an alignment settles before there are scores.
struct AlignmentStart {
  Pattern who{};             // narrows the call's own
  Tensor center{};           // float64 [B, Tq, H]: where each query's window stands
  Tensor log_probability{};  // of what it drew
};

// How kernels that hold whole rows of scores align them.
struct RowAlignment {
  kernel::RowAlign align = kernel::RowAlign::softmax;  // by which rule
  float alpha = 1.5f;                                  // entmax
  float sigma = 1;                                     // local, around AlignmentStart::center
  kernel::GivenAlign given{};                          // a function from outside,
  std::shared_ptr<const void> keeps{};                 // and what it works with
};

// What an alignment makes of scores.
struct AlignedWeights {
  Tensor a;                  // [B, H, Tq, Tk]
  Tensor log_probability{};  // of what was drawn, [B, Tq, H]
};

// Softmax, unless more is said.
struct Alignment {
  std::string name = "softmax";  // for errors and reports
  // Null: nothing is to be settled before.
  std::function<AlignmentStart(const AttentionInputs& in, const Extent& e)> start{};
  // The definition, in ops: scores [..., keys], -inf where a query may not look. Null: softmax.
  std::function<AlignedWeights(const Tensor& e, const AlignmentStart& start)> weights{};
  // The same by the kernels; none: the definition is all there is.
  std::optional<RowAlignment> rows = RowAlignment{};
  // It learns from a reward: a loss must take AttentionOutput::log_probability along.
  bool rewarded = false;
};

// The weights by definition.
AlignedWeights aligned(const Alignment& align, const Tensor& e, const AlignmentStart& start = {});

// How models are told which alignment to use: given a place for parameters and a query's width.
using AlignmentFactory = std::function<Alignment(Scope, int64_t d_q)>;

}  // namespace fovea
