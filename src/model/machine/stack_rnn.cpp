#include "fovea/model/machine/stack_rnn.h"

#include "fovea/attention/recorder.h"
#include "fovea/memory/shifting_stack.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

constexpr int64_t seen = 2;  // cells of each stack that the hidden layer sees

// The first cells, -1 where there are fewer.
Tensor top_of(const Tensor& cells, int64_t B, int64_t K, Dtype dtype) {
  const int64_t depth = cells.empty() ? 0 : cells.dim(2);
  if (depth >= seen) return reshape(slice(cells, 2, 0, seen), {B, K * seen});
  const Tensor none = Tensor::full({B, K, seen - depth}, -1, dtype);
  return reshape(depth == 0 ? none : concat({cells, none}, 2), {B, K * seen});
}

// 1 for the likeliest of the last axis, 0 for the others.
Tensor rounded(const Tensor& actions) {
  Tensor whole = Tensor::zeros(actions.shape(), actions.dtype());
  const Tensor best = argmax(actions, -1);
  const int64_t n = actions.dim(-1);
  with_real(actions.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < best.elements(); ++i)
      whole.write<T>()[i * n + best.read<int32_t>()[i]] = 1;
  });
  return whole;
}

}  // namespace

const Fields<StackRnnOptions>& stack_rnn_fields() {
  using O = StackRnnOptions;
  static const Fields<O> fields{
      {"width", &O::width, "units of a layer", whole_from(1, 65536)},
      {"stacks", &O::stacks, "stacks side by side", whole_from(1, 1024)},
      {"depth", &O::depth, "cells that a stack keeps", whole_from(2, 1 << 20)},
      {"recurrent", &O::recurrent, "the hidden layer sees itself, not only the stacks"},
      {"round", &O::round, "when it answers, the likeliest action is done entirely"}};
  return fields;
}

StackRnn::StackRnn(Scope s, const ModelSizes& sizes, const StackRnnOptions& o)
    : options_(o),
      inputs_(sizes.inputs),
      in_(s / "input", sizes.inputs, o.width),
      from_stack_(s / "stack", seen * o.stacks, o.width, {.bias = false}),
      actions_(s / "actions", o.width, 3 * o.stacks),
      pushed_(s / "pushed", o.width, o.stacks),
      output_(s / "output", o.width, sizes.outputs),
      path_(s.path()) {
  if (o.recurrent)
    from_hidden_.emplace(s / "hidden", o.width, o.width, LinearOptions{.bias = false});
}

Tensor StackRnn::step(const Tensor& x, State& state) const {
  const int64_t B = x.dim(0), K = options_.stacks;
  Tensor sum = in_(x) + from_stack_(top_of(state.cells, B, K, x.dtype()));
  if (from_hidden_ && !state.h.empty()) sum = sum + (*from_hidden_)(state.h);
  state.h = sigmoid(sum);
  Tensor actions = softmax(reshape(actions_(state.h), {B, K, 3}));
  if (options_.round && !Tape::current()) actions = rounded(actions);
  state.cells = shifted_stacks(state.cells, sigmoid(pushed_(state.h)), actions, options_.depth);
  if (Recorder* recorder = Recorder::current()) {
    Weights w;  // how much of the cells of each stack is not empty
    w.rows = reshape((state.cells + 1.0) * 0.5, {B, K, 1, state.cells.dim(2)});
    recorder->keep(path_.empty() ? "stack" : path_ + "/stack", std::move(w));
  }
  return state.h;
}

Scorer::Output StackRnn::operator()(const ModelInputs& in) const {
  check_steps("stack RNN", in, inputs_);
  State state;
  std::vector<Tensor> features;
  for (int64_t t = 0; t < in.steps.dim(0); ++t)
    features.push_back(step(step_of(in.steps, t), state));
  return {output_(features, in.rows)};
}

}  // namespace fovea
