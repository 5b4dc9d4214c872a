// All of automatic differentiation. While a Tape lives, ops on this thread are recorded; without
// one they are not.
//
//   Tape tape;
//   Tensor loss = cross_entropy(model(x), y);
//   Gradients g = tape.backward(loss);      // values: g[w] is the gradient of parameter w
//
// Whether a model trains is one question with one answer: does the tape have a stream of random
// numbers? With Tape tape(random) dropout drops and alignments that draw do so, with numbers of
// that stream; with a plain Tape, or none, nothing is dropped and the likeliest is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/op/parameter.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// One gradient for each parameter that the loss depends on. Adding two is how micro-batches,
// threads and machines combine.
class Gradients {
 public:
  // Of a parameter that the loss depends on; anything else is an Error that says why there is none.
  // For values that are not parameters: Tape::gradients.
  Tensor operator[](const Tensor& parameter) const;
  // The same, and zeros where the loss does not depend on the parameter.
  Tensor or_zeros(const Tensor& parameter) const;
  // Whether the loss depends on the parameter.
  bool has(const Tensor& parameter) const;
  // Puts a gradient in the place of what was there, if anything was.
  void set(const Tensor& parameter, Tensor gradient);
  // Adds, or multiplies, parameter by parameter.
  Gradients& operator+=(const Gradients& other);
  Gradients& operator*=(double factor);

 private:
  friend class Tape;
  std::unordered_map<uint32_t, Tensor> by_parameter_;
};

// What an adjoint adds its results to: one place for each input of the op.
class InputGradients {
 public:
  // Whether anything before the input needs its gradient; what nobody wants need not be computed.
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
  size_t size() const { return size_; }  // how many there are
  const Tensor& operator[](size_t i) const { return few_ ? few_[i].get() : many_[i]; }

 private:
  const std::reference_wrapper<const Tensor>* few_ = nullptr;
  const Tensor* many_ = nullptr;
  size_t size_;
};

// The tape. It holds what the ops need for their gradients, until it is destroyed or used.
class Tape {
 public:
  Tape() : Tape(nullptr) {}  // this thread's tape until it is destroyed or used; tapes nest
  // The tape of a training step: what is dropped or drawn comes from `random`, which must live as
  // long as the forward pass.
  explicit Tape(Random& random) : Tape(&random) {}
  // In any order, and on any thread.
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // x as a value whose gradient can be asked for, without being a parameter: an input, say.
  Tensor watch(const Tensor& x);

  // Gradients of a loss (one element) with respect to every parameter it depends on. A tape serves
  // one backward pass; afterwards nothing more is recorded on it.
  Gradients backward(const Tensor& loss);
  // The same from the gradient of an output of any shape.
  Gradients backward(const Tensor& output, Tensor gradient);
  // The same, but each gradient is handed over as soon as nothing more will be added to it, by its
  // parameter's number(), while the pass goes on: those that the forward pass used first come last.
  using Take = std::function<void(uint32_t parameter, Tensor gradient)>;
  void backward(const Tensor& output, Tensor gradient, const Take& take);
  // Gradients of the loss with respect to any values that it was computed from on this tape:
  // parameters, watched values, results on the way. A value that the loss does not depend on, or
  // that this tape has not seen, is an Error that says which. Uses the tape up as backward() does.
  std::vector<Tensor> gradients(const Tensor& loss, std::span<const Tensor> of);

  // The tape that records on this thread now, or null.
  static Tape* current();
  // The stream that this thread's training step draws from; null when it is not training.
  static Random* random();
  // How many values are recorded so far.
  int64_t size() const { return static_cast<int64_t>(nodes_.size()); }

  // While one lives, this thread's tape records nothing, but a training step stays one: for a
  // function that will be run again.
  class Pause {
   public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Tape* tape_;
  };

 private:
  // Where a tape stands among those of its thread. It outlives the tape, which may be destroyed
  // while newer ones live, or on another thread.
  struct Place;
  static Place*& newest_place();
  static Tape* newest();

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

  explicit Tape(Random* random);
  int32_t node_of(const Tensor& input);
  // Why this tape has no gradient of a value; empty when it may have one.
  std::string unreachable(const Tensor& value) const;
  // From the gradient of node `last` to those of all before it; keep[i] stays what node i got.
  void go_back(int32_t last, Tensor gradient, const Take& take, std::vector<Tensor>* keep);
  // Notes which nodes the inputs are; false if none leads to a parameter, and there is nothing to
  // do.
  bool note_inputs(const char* op, const Inputs& inputs, const Tensor& y);
  void* allocate(size_t bytes);
  void push(const Node& node, Tensor& y);

  uint32_t serial_;
  Place* place_;
  Random* random_;
  int paused_ = 0;
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

// Tape::gradients of this thread's tape: gradients(loss, {q, k}).
std::vector<Tensor> gradients(const Tensor& loss, std::initializer_list<Tensor> of);

}  // namespace fovea
