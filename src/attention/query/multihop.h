// Multi-hop attention: the context of one hop forms the query of the next.
//   memory networks (Sukhbaatar et al. 2015):   c_s = attend(q_s),   q_s+1 = q_s + c_s  or  H q_s +
//   c_s survey (Brauwers, Frasincar 2023; Tran, Niederee 2018), with the context beside the query:
//     c_0 = mean of v,   q_s+1 = tanh(W_q q_s + W_c c_s + b),   c_s+1 = attend(concat(q_s+1, c_s))
// Weights are each hop's own, or shared by all.
#pragma once

#include <optional>
#include <vector>

#include "fovea/attention/factory.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct MultiHopOptions {
  enum class Next {
    add,          // q + c
    map_and_add,  // H q + c
    transform,    // tanh(W_q q + W_c c + b)
  };
  int64_t hops = 2;
  bool shared = false;
  Next next = Next::transform;
  bool beside = false;       // the last context stands beside the query when keys are scored
  ScoreFactory score{};      // null: general
  AlignmentFactory align{};  // null: softmax
};

struct MultiHop {
  MultiHop(Scope s, int64_t d_q, int64_t d_k, int64_t d_v, const MultiHopOptions& options = {});

  struct State {
    Tensor query;    // [B, Tq, H, d_q]
    Tensor context;  // [B, Tq, H, d_v]; empty before the first hop without `beside`
  };
  struct Output {
    Tensor context;                     // of the last hop
    Tensor query;                       // what would ask next: q + c in a memory network's answer
    std::vector<AttentionOutput> hops;  // each hop's context and weights
  };
  Output operator()(const AttentionInputs& in) const;

  // One hop alone, for models whose memory changes from hop to hop; in.q is not looked at.
  State start(const AttentionInputs& in) const;
  AttentionOutput hop(int64_t s, AttentionInputs in, State& state) const;

  struct Hop {
    Score score;
    Alignment align;
    std::optional<Linear> from_query, from_context;
  };
  MultiHopOptions options;
  std::string path;  // hop s is path/s to a Recorder
  std::vector<Hop> parts;

 private:
  Tensor next(const Hop& part, const State& state) const;
};

}  // namespace fovea
