// Multi-head attention: Vaswani et al., "Attention Is All You Need", 2017; with fewer key heads
// than heads it is grouped-query attention: Ainslie et al., "GQA", 2023.
//   head_i = attention(x W_i^Q, m W_i^K, m W_i^V)     y = concat(head_1 ... head_H) W^O
// over an input x and a memory m: m = x is self-attention, anything else cross-attention.
#pragma once

#include "fovea/attention/cache.h"
#include "fovea/attention/efficient/self_attention.h"
#include "fovea/attention/factory.h"
#include "fovea/attention/position/positions.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct MultiHeadOptions {
  int64_t heads = 8;             // each looks on its own
  int64_t key_heads = 0;         // 0: as many as heads; otherwise a divisor of them
  int64_t d_head = 0;            // 0: d_model / heads
  int64_t d_memory = 0;          // width of what keys and values are made from; 0: d_model
  bool bias = true;              // in the four projections
  double dropout = 0;            // of the weights, while this thread trains
  ScoreFactory score{};          // null: the scaled product; parameters are shared by the heads
  AlignmentFactory align{};      // null: softmax
  PositionsFactory positions{};  // null: none
  // Null: all pairs. Else a layer of self-attention alone, with a head of keys for each head,
  // without a score or an alignment of its own, and without positions that go by distances.
  SelfAttentionFactory self{};
};

// MultiHead attention(s / "self", 512, {.heads = 8});
// Tensor y = attention({.x = x, .who = causal()}).y;
struct MultiHead {
  MultiHead(Scope s, int64_t d_model, const MultiHeadOptions& options = {});

  // What a call takes.
  struct Inputs {
    Tensor x;            // [B, Tq, d_model]
    Tensor memory{};     // [B, Tk, d_memory]; empty: x
    Tensor values{};     // [B, Tk, d_memory], where values are made from something else than keys
    Pattern who{};       // may look at whom
    Tensor bias{};       // as in AttentionInputs
    int64_t offset = 0;  // x's first row stands where row `offset` of the memory does
    Tensor lengths{};    // as in AttentionInputs
    Tensor places{};     // as in AttentionInputs
    Capture capture{};   // which weights to keep
  };
  // What a call gives.
  struct Output {
    Tensor y;                // [B, Tq, d_model]
    Weights weights;         // those that the capture asked for
    Tensor log_probability;  // as in AttentionOutput
  };
  Output operator()(const Inputs& in) const;

  // Self-attention, some steps on: the keys and values of x join those of all steps before, and x
  // looks at them all. The pattern is about the queries of x and all keys so far: with more than
  // one row in x, say causal_lower_right() or window_lower_right(). Steps are as good as the whole
  // sequence at once.
  Output step(const Inputs& in, KeyValueCache& cache) const;

  // Cross-attention in a decoder: the memory's keys and values are made once, then every step reads
  // them.
  void remember(const Tensor& memory, KeyValueCache& cache) const;
  Output read(const Inputs& in, const KeyValueCache& cache) const;

  MultiHeadOptions options;       // as it was made
  std::string name;               // its path: what a Recorder calls its map
  Linear query, key, value, out;  // W^Q, W^K, W^V of all heads at once, and W^O; no W^K where
                                  // `self` makes nothing of keys

 private:
  // What some of the projections make of x, each [B, T, its heads, d_head].
  std::vector<Tensor> split(const Tensor& x, std::initializer_list<const Linear*> parts) const;
  Tensor turned(const Tensor& x, int64_t offset) const;  // queries or keys to their positions
  Tensor distances(const Tensor& q, int64_t n, int64_t offset) const;
  Output look(const Inputs& in, const Tensor& q, int64_t offset, const KeyValueCache& cache) const;
  Output finish(AttentionInputs in) const;
  Output projected(const AttentionOutput& o) const;
  // Queries, keys and values of x; where there are no keys, the queries again.
  std::vector<Tensor> all_three(const Tensor& x) const;

  Score score_;
  Alignment align_;
  Positions positions_;
  SelfAttention self_;
};

}  // namespace fovea
