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
  // How a context changes the query.
  enum class Next {
    add,          // q + c
    map_and_add,  // H q + c
    transform,    // tanh(W_q q + W_c c + b)
  };
  int64_t hops = 2;             // at least one
  bool shared = false;          // one set of weights for all hops
  Next next = Next::transform;  // transform needs no equal widths
  bool beside = false;          // the last context stands beside the query when keys are scored
  ScoreFactory score{};         // null: general
  AlignmentFactory align{};     // null: softmax
};

// The mechanism with its parameters.
struct MultiHop {
  MultiHop(Scope s, int64_t d_q, int64_t d_k, int64_t d_v, const MultiHopOptions& options = {});

  // What one hop hands to the next.
  struct State {
    Tensor query;    // [B, Tq, H, d_q]
    Tensor context;  // [B, Tq, H, d_v]; empty before the first hop without `beside`
  };
  // What a call gives.
  struct Output {
    Tensor context;                     // of the last hop
    Tensor query;                       // what would ask next: q + c in a memory network's answer
    std::vector<AttentionOutput> hops;  // each hop's context and weights
  };
  Output operator()(const AttentionInputs& in) const;

  // One hop alone, for models whose memory changes from hop to hop; in.q is not looked at.
  State start(const AttentionInputs& in) const;
  AttentionOutput hop(int64_t s, AttentionInputs in, State& state) const;

  // What one hop has of its own.
  struct Hop {
    Score score;      // of keys against the query
    Alignment align;  // of those scores
    // H or W_q, and W_c with b: where `next` has them.
    std::optional<Linear> from_query, from_context;
  };
  MultiHopOptions options;  // as it was made
  std::string path;         // hop s is path/s to a Recorder
  std::vector<Hop> parts;   // one for each hop, or one for all

 private:
  Tensor next(const Hop& part, const State& state) const;
};

}  // namespace fovea
