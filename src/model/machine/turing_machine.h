// Neural Turing Machine: Graves, Wayne, Danihelka 2014. A controller with heads over a memory of
// slots; equations: memory/addressing.h. In a step the write heads find their place and write, in
// turn, and then the read heads find theirs and read.
//   h_t = controller(x_t, r_t-1),   y_t = W [h_t; r_t]
// What decides whether it learns: a constant, small first memory (Collier, Beel 2018) with heads
// that start at slot 0, one after the other, so that not all slots are alike. Where a content must
// name a place before anything was written there (a table that is looked up, as for n-grams), slots
// that are all alike cannot be told apart: then the first memory is learned.
#pragma once

#include <numbers>

#include "fovea/memory/addressing.h"
#include "fovea/model/machine/controller.h"
#include "fovea/model/named_attention.h"

namespace fovea {

struct TuringOptions : ControllerOptions {
  int64_t slots = 128;                      // of the memory: N
  int64_t slot_width = 20;                  // features of a slot
  int64_t read_heads = 1, write_heads = 1;  // that read, and that write
  int64_t shift = 1;                        // slots that a head may move in a step, either way
  std::string first_memory = "constant";    // constant, learned
  double strength = std::numbers::ln2;      // of finding by content, at first: beta
};
// As options of a run.
const Fields<TuringOptions>& turing_fields();
// The content is found by this score unless another is chosen.
inline constexpr const char* turing_score = "cosine";

// The machine with its weights; `attention` names the score and alignment that find a content.
class TuringMachine : public Scorer {
 public:
  TuringMachine(Scope s, const ModelSizes& sizes, const TuringOptions& options,
                const AttentionOptions& attention);

  Output operator()(const ModelInputs& in) const override;

  // What it is between two steps.
  struct State {
    Tensor memory;                    // [B, D, N]
    std::vector<Tensor> write, read;  // [B, N]: each head's weights
    Tensor reads;                     // [B, heads D]
    RecurrentStates controller;       // the controller's own; empty at first
  };
  // Before the first step: the first memory, heads on the first slots.
  State start(int64_t B, Dtype dtype) const;
  // What the answer of a step is made of: [B, width + heads D].
  Tensor step(const Tensor& x, State& state) const;
  // Answers from such features of all steps, as a StepOutput gives them.
  Tensor output(std::span<const Tensor> features, const Tensor& asked) const {
    return output_(features, asked);
  }

 private:
  Tensor address(const State& state, const Tensor& controls, int64_t at, const Tensor& before,
                 size_t head) const;
  void show(const State& state) const;

  TuringOptions options_;
  Slots slots_;
  int64_t inputs_;
  Controller controller_;
  Parameter first_;  // [1, D, N], if the first memory is learned
  Linear heads_;
  StepOutput output_;
  // Other scores and alignments than cosine and softmax go through the attention engine.
  std::vector<Score> scores_;
  std::vector<Alignment> aligns_;
  bool cosine_ = true, fused_ = true;
  std::string path_;
};

}  // namespace fovea
