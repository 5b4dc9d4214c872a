#include "fovea/op/tape.h"

#include <atomic>

#include "fovea/op/elementwise.h"

namespace fovea {
namespace {

thread_local Tape* newest_tape = nullptr;
std::atomic<uint32_t> next_serial{1};
std::atomic<uint32_t> next_parameter{1};

}  // namespace

Tensor parameter(Tensor value) {
  value = value.reshaped(value.shape());  // copies of it elsewhere do not become parameters
  value.set_identity({.parameter = next_parameter.fetch_add(1)});
  return value;
}

Tensor Gradients::operator[](const Tensor& parameter) const {
  const auto found = by_parameter_.find(parameter.identity().parameter);
  return found == by_parameter_.end() ? Tensor::zeros(parameter.shape(), parameter.dtype())
                                      : found->second;
}

bool Gradients::has(const Tensor& parameter) const {
  return by_parameter_.contains(parameter.identity().parameter);
}

void Gradients::set(const Tensor& parameter, Tensor gradient) {
  check(parameter.identity().parameter != 0, "gradients: this array is not a parameter");
  by_parameter_.insert_or_assign(parameter.identity().parameter, std::move(gradient));
}

Gradients& Gradients::operator+=(const Gradients& other) {
  for (const auto& [id, gradient] : other.by_parameter_) {
    Tensor& sum = by_parameter_[id];
    sum = sum.empty() ? gradient : sum + gradient;
  }
  return *this;
}

Gradients& Gradients::operator*=(double factor) {
  for (auto& [id, gradient] : by_parameter_) scale_in_place(gradient, factor);
  return *this;
}

void InputGradients::add(int input, Tensor gradient) {
  if (!wants(input)) return;
  Tensor& sum = sums_[nodes_[input]];
  if (sum.empty()) {
    sum = std::move(gradient);
  } else {
    add_in_place(sum, gradient);
  }
}

Tensor* InputGradients::begun(int input) {
  Tensor& sum = sums_[nodes_[input]];
  return sum.empty() ? nullptr : &sum;
}

Tape::Tape() : serial_(next_serial.fetch_add(1)), outer_(newest_tape) { newest_tape = this; }

Tape::~Tape() {
  for (Node& node : nodes_) {
    if (node.adjoint) node.destroy(node.adjoint);
  }
  newest_tape = outer_;
}

Tape* Tape::current() { return newest_tape && !newest_tape->used_ ? newest_tape : nullptr; }

void* Tape::allocate(size_t bytes) {
  constexpr size_t align = alignof(std::max_align_t);
  bytes = (bytes + align - 1) / align * align;
  if (bytes > room_) {
    room_ = std::max<size_t>(bytes, 64 << 10);
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(room_));
    next_ = memory_.back().get();
  }
  room_ -= bytes;
  return std::exchange(next_, next_ + bytes);
}

int32_t Tape::node_of(const Tensor& input) {
  const Identity& id = input.identity();
  if (id.tape == serial_) return id.node;
  if (id.parameter == 0) return -1;
  const auto [leaf, is_new] = leaves_.try_emplace(id.parameter, static_cast<int32_t>(size()));
  if (is_new) nodes_.push_back({"parameter", id.parameter, 0, nullptr, nullptr, nullptr});
  return leaf->second;
}

bool Tape::note_inputs(const char* op, const Inputs& inputs, const Tensor& y) {
  const size_t before = input_nodes_.size();
  bool any = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    check(!y.same_as(inputs[i]), op, ": its output must not be the very array of an input");
    // An op may leave an optional input out by passing an empty array.
    const int32_t node = inputs[i].empty() ? -1 : node_of(inputs[i]);
    input_nodes_.push_back(node);
    any |= node >= 0;
  }
  if (!any) input_nodes_.resize(before);
  return any;
}

void Tape::push(const Node& node, Tensor& y) {
  y.set_identity({.tape = serial_, .node = static_cast<int32_t>(size())});
  nodes_.push_back(node);
}

Gradients Tape::backward(const Tensor& loss) {
  check(loss.elements() == 1, "backward: the loss must be one number, got shape ", loss.shape());
  return backward(loss, Tensor::full(loss.shape(), 1, loss.dtype()));
}

Gradients Tape::backward(const Tensor& output, Tensor gradient) {
  check(!used_, "backward: this tape has been used; record the forward pass on a new Tape");
  check(gradient.shape() == output.shape(), "backward: the gradient's shape ", gradient.shape(),
        " is not the output's ", output.shape());
  used_ = true;  // what the adjoints compute is not recorded
  Gradients result;
  const Identity& id = output.identity();
  if (id.tape != serial_ && !leaves_.contains(id.parameter)) return result;
  const int32_t last = node_of(output);
  std::vector<Tensor> sums(nodes_.size());
  sums[last] = std::move(gradient);
  for (int32_t i = last; i >= 0; --i) {
    Node& node = nodes_[i];
    if (!sums[i].empty()) {
      if (node.parameter) {
        result.by_parameter_.emplace(node.parameter, std::move(sums[i]));
      } else {
        const Tensor dy = std::move(sums[i]);
        InputGradients dx(sums, input_nodes_.data() + node.first_input);
        node.call(node.adjoint, dy, dx);
      }
    }
    if (node.adjoint) {  // what the closure kept alive is needed no longer
      node.destroy(node.adjoint);
      node.adjoint = nullptr;
    }
  }
  return result;
}

}  // namespace fovea
