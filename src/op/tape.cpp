#include "fovea/op/tape.h"

#include <atomic>

#include "fovea/op/elementwise.h"

namespace fovea {
namespace {

std::atomic<uint32_t> next_serial{1};

}  // namespace

struct Tape::Place {
  std::atomic<Tape*> tape;
  Place* outer;
  Place** thread;  // the thread it belongs to, told by its newest_place()
};

Tape::Place*& Tape::newest_place() {
  thread_local constinit Place* newest = nullptr;  // nothing to destroy: usable to the very end
  return newest;
}

Tape* Tape::newest() {
  Place*& newest = newest_place();
  while (newest && !newest->tape.load()) delete std::exchange(newest, newest->outer);
  return newest ? newest->tape.load() : nullptr;
}

Tensor Gradients::operator[](const Tensor& parameter) const {
  const uint32_t number = parameter.identity().parameter;
  check(number != 0, "gradients: an array ", parameter.shape(),
        " is not a parameter, or is frozen; for any other value ask Tape::gradients");
  const auto found = by_parameter_.find(number);
  check(found != by_parameter_.end(), "gradients: the loss does not depend on this parameter ",
        parameter.shape(), "; has() asks, or_zeros() gives zeros");
  return found->second;
}

Tensor Gradients::or_zeros(const Tensor& parameter) const {
  return has(parameter) ? (*this)[parameter] : Tensor::zeros(parameter.shape(), parameter.dtype());
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

Tape::Tape(Random* random) : serial_(next_serial.fetch_add(1)), random_(random) {
  newest();  // those that are gone make room
  Place*& newest = newest_place();
  newest = place_ = new Place{this, newest, &newest};
}

Tape::~Tape() {
  for (Node& node : nodes_) {
    if (node.adjoint) node.destroy(node.adjoint);
  }
  // Its place goes when nothing newer stands before it, on the thread it belongs to.
  const bool here = place_->thread == &newest_place();
  place_->tape = nullptr;
  if (here) newest();
}

Tape* Tape::current() {
  Tape* tape = newest();
  return tape && !tape->used_ && tape->paused_ == 0 ? tape : nullptr;
}

Random* Tape::random() {
  const Tape* tape = newest();
  return tape && !tape->used_ ? tape->random_ : nullptr;
}

Tape::Pause::Pause() : tape_(newest()) {
  if (tape_) ++tape_->paused_;
}
Tape::Pause::~Pause() {
  if (tape_) --tape_->paused_;
}

Tensor Tape::watch(const Tensor& x) {
  check(!used_, "watch: this tape has been used");
  Tensor leaf = x.reshaped(x.shape());
  push({"watched", 0, 0, nullptr, nullptr, nullptr}, leaf);
  return leaf;
}

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
  Gradients result;
  backward(output, std::move(gradient), [&result](uint32_t parameter, Tensor g) {
    result.by_parameter_.emplace(parameter, std::move(g));
  });
  return result;
}

void Tape::backward(const Tensor& output, Tensor gradient, const Take& take) {
  check(!used_, "backward: this tape has been used; record the forward pass on a new Tape");
  check(gradient.shape() == output.shape(), "backward: the gradient's shape ", gradient.shape(),
        " is not the output's ", output.shape());
  used_ = true;  // what the adjoints compute is not recorded
  const Identity& id = output.identity();
  if (id.tape != serial_ && !leaves_.contains(id.parameter)) return;
  go_back(node_of(output), std::move(gradient), take, nullptr);
}

std::string Tape::unreachable(const Tensor& value) const {
  if (value.empty()) return "is empty";
  const Identity& id = value.identity();
  if (id.tape == serial_ || leaves_.contains(id.parameter)) return "";
  if (id.parameter) return "is a parameter that nothing recorded on this tape has used";
  if (id.tape) return "was recorded on another tape";
  return "was never recorded: a frozen parameter, a value that was written to since, or one that "
         "should have been watched with Tape::watch before it was used";
}

std::vector<Tensor> Tape::gradients(const Tensor& loss, std::span<const Tensor> of) {
  check(!used_, "gradients: this tape has been used; record the forward pass on a new Tape");
  check(loss.elements() == 1, "gradients: the loss must be one number, got shape ", loss.shape());
  for (size_t i = 0; i < of.size(); ++i) {
    const std::string why = unreachable(of[i]);
    check(why.empty(), "gradients: value ", i, " ", why);
  }
  check(unreachable(loss).empty(), "gradients: the loss ", unreachable(loss));
  used_ = true;
  std::vector<Tensor> kept(nodes_.size());
  go_back(node_of(loss), Tensor::full(loss.shape(), 1, loss.dtype()), {}, &kept);
  std::vector<Tensor> result;
  for (size_t i = 0; i < of.size(); ++i) {
    result.push_back(kept[static_cast<size_t>(node_of(of[i]))]);
    check(!result.back().empty(), "gradients: the loss does not depend on value ", i, " ",
          of[i].shape());
  }
  return result;
}

void Tape::go_back(int32_t last, Tensor gradient, const Take& take, std::vector<Tensor>* keep) {
  std::vector<Tensor> sums(nodes_.size());
  sums[last] = std::move(gradient);
  for (int32_t i = last; i >= 0; --i) {
    Node& node = nodes_[i];
    if (!sums[i].empty()) {
      if (keep) (*keep)[i] = sums[i];
      if (node.parameter) {
        if (take) take(node.parameter, std::move(sums[i]));
      } else if (node.adjoint) {
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
}

std::vector<Tensor> gradients(const Tensor& loss, std::initializer_list<Tensor> of) {
  Tape* tape = Tape::current();
  check(tape != nullptr, "gradients: no tape is recording on this thread");
  return tape->gradients(loss, std::span(of.begin(), of.size()));
}

}  // namespace fovea
