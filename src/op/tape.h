// All of automatic differentiation. While a Tape lives, ops on this thread are recorded; without
// one they are not, and that is all the difference between training and inference.
//
//   Tape tape;
//   Tensor loss = cross_entropy(model(x), y);
//   Gradients g = tape.backward(loss);      // values: g[w] is the gradient of parameter w
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// Gives a value the identity of a parameter: gradients can then be asked for it.
Tensor parameter(Tensor value);

// One gradient for each parameter that the loss depends on. Adding two is how micro-batches,
// threads and machines combine.
class Gradients {
 public:
  // Zeros where the loss does not depend on the parameter.
  Tensor operator[](const Tensor& parameter) const;
  bool has(const Tensor& parameter) const;
  void set(const Tensor& parameter, Tensor gradient);
  Gradients& operator+=(const Gradients& other);
  Gradients& operator*=(double factor);

 private:
  friend class Tape;
  std::unordered_map<uint32_t, Tensor> by_parameter_;
};

// What an adjoint adds its results to: one place for each input of the op.
class InputGradients {
 public:
  bool wants(int input) const { return nodes_[input] >= 0; }
  // `gradient` becomes the gradient of the input, or is added to what other uses of it gave.
  void add(int input, Tensor gradient);
  // The sum so far, for a kernel that can add to it in place; null when this is the first.
  Tensor* begun(int input);

 private:
  friend class Tape;
  InputGradients(std::span<Tensor> sums, const int32_t* nodes) : sums_(sums), nodes_(nodes) {}
  std::span<Tensor> sums_;  // by node
  const int32_t* nodes_;    // by input; -1: nobody asked
};

// The inputs of one op, borrowed for the call: {x, w}, or a list whose length varies.
class Inputs {
 public:
  Inputs(std::initializer_list<std::reference_wrapper<const Tensor>> list) : size_(list.size()) {
    few_ = list.begin();  // not above, where GCC warns that the list is only borrowed
  }
  Inputs(std::span<const Tensor> list) : many_(list.data()), size_(list.size()) {}
  size_t size() const { return size_; }
  const Tensor& operator[](size_t i) const { return few_ ? few_[i].get() : many_[i]; }

 private:
  const std::reference_wrapper<const Tensor>* few_ = nullptr;
  const Tensor* many_ = nullptr;
  size_t size_;
};

class Tape {
 public:
  Tape();  // this thread's tape until it is destroyed or used; tapes nest
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Gradients of a loss (one element) with respect to every parameter it depends on. A tape serves
  // one backward pass; afterwards nothing more is recorded on it.
  Gradients backward(const Tensor& loss);
  // The same from the gradient of an output of any shape.
  Gradients backward(const Tensor& output, Tensor gradient);

  // The tape that records on this thread now, or null.
  static Tape* current();
  int64_t size() const { return static_cast<int64_t>(nodes_.size()); }

 private:
  template <class Adjoint>
  friend Tensor record(const char* op, Inputs inputs, Tensor y, Adjoint adjoint);

  struct Node {
    const char* op;
    uint32_t parameter;   // not 0: a leaf
    int32_t first_input;  // in input_nodes_
    void* adjoint;        // a closure in the tape's own memory, so that recording does not allocate
    void (*call)(void*, const Tensor& dy, InputGradients&);
    void (*destroy)(void*);
  };

  int32_t node_of(const Tensor& input);
  // Notes which nodes the inputs are; false if none leads to a parameter, and there is nothing to
  // do.
  bool note_inputs(const char* op, const Inputs& inputs, const Tensor& y);
  void* allocate(size_t bytes);
  void push(const Node& node, Tensor& y);

  uint32_t serial_;
  Tape* outer_;
  bool used_ = false;
  std::vector<Node> nodes_;
  std::vector<int32_t> input_nodes_;
  std::unordered_map<uint32_t, int32_t> leaves_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::byte* next_ = nullptr;
  size_t room_ = 0;
};

// Enters y = op(inputs), a new array, on the tape and returns it. adjoint(dy, dx) is called at most
// once, with the gradient of y, and adds to dx the gradient of each input that dx.wants().
template <class Adjoint>
Tensor record(const char* op, Inputs inputs, Tensor y, Adjoint adjoint) {
  static_assert(alignof(Adjoint) <= alignof(std::max_align_t));
  Tape* tape = Tape::current();
  if (!tape) return y;
  const auto first_input = static_cast<int32_t>(tape->input_nodes_.size());
  if (!tape->note_inputs(op, inputs, y)) return y;
  void* closure = new (tape->allocate(sizeof(Adjoint))) Adjoint(std::move(adjoint));
  tape->push({.op = op,
              .parameter = 0,
              .first_input = first_input,
              .adjoint = closure,
              .call = [](void* f, const Tensor& dy,
                         InputGradients& dx) { (*static_cast<Adjoint*>(f))(dy, dx); },
              .destroy = [](void* f) { static_cast<Adjoint*>(f)->~Adjoint(); }},
             y);
  return y;
}

}  // namespace fovea
