// Attention for every score and alignment that the tiles of attention.h cannot serve, because an
// alignment wants whole rows of scores or a score is not a product. A few queries meet all their
// keys at a time, so that no Tq x Tk matrix is in memory, forward or backward; a backward pass
// works its scores out again.
//   e_ij = map(scale q_i . k_j) + bias_ij,   additive:   e_ij = w . map(q_i + k_j) + bias_ij,
//   or distance:   e_ij = -|q_i - k_j| + bias_ij
//   a_i = align(e_i)      out_i = sum_j drop(a_ij) v_j
#pragma once

#include "fovea/kernel/attention.h"

namespace fovea::kernel {

// A distance is made of differences, not of a product: |q|^2 - 2 q . k + |k|^2 loses the digits of
// small ones.
enum class ScoreMap { none, tanh, sigmoid, relu, leaky_relu, distance };

// What leaky_relu multiplies negative numbers with: that of graph attention (Velickovic et al.
// 2018).
constexpr double leaky_slope = 0.2;

enum class RowAlign {
  softmax,
  sigmoid,
  entmax,
  local,  // softmax, times exp(-(j - p_i)^2 / (2 sigma^2)); its window comes as key ranges
  given,  // GivenAlign
};

// An alignment from outside. It is called from several threads at once, for some rows of scores at
// a time, `count` rows of n numbers that begin ld apart, aligned to whole vectors; keys that may
// not be attended and the padding hold -inf. What it makes of a row depends on that row alone.
struct GivenAlign {
  const void* self = nullptr;
  // Scores to weights, in place. A score of -inf must become 0, except in a row of nothing else,
  // which the kernel clears itself.
  void (*forward)(const void* self, float* rows, int64_t count, int64_t ld, int64_t n) = nullptr;
  // grad, laid out as the weights, comes as the gradient of the weights and leaves as that of the
  // scores: finite, 0 where a score is -inf.
  void (*backward)(const void* self, const float* weights, float* grad, int64_t count, int64_t ld,
                   int64_t n) = nullptr;
};

struct RowsInputs {
  HeadInputs<float> base;  // base.align is not looked at, and base.scale by products alone
  ScoreMap map = ScoreMap::none;
  const float* w = nullptr;  // [D]: an additive score, whose map is not distance
  RowAlign align = RowAlign::softmax;
  float alpha = 1.5f;              // entmax, in (1, 2]
  HeadView<const double> centers;  // local: p_i is centers.at(b, h)[i * row]
  float sigma = 1;                 // local
  GivenAlign given{};
};

struct RowsGradients {
  AttentionGradients<float> base;
  float* dw = nullptr;          // [D], for an additive score
  HeadView<double> dcenters{};  // for local alignment
};

// lse [B, H, Tq] is written for softmax and local alignment, -inf where a query may attend nothing;
// it may be null. The output has the same bits with and without it and the summary.
void attention_rows_forward(const RowsInputs& in, HeadView<float> out, float* lse = nullptr,
                            const AttentionSummary<float>* summary = nullptr);

// Overwrites every gradient; every sum has one order. dweights is the gradient that arrives at the
// weights before dropout, row i of a head being [Tk]; none: 0. Without dout the weights alone are
// differentiated, and dv is 0.
void attention_rows_backward(const RowsInputs& in, HeadView<const float> dout,
                             const RowsGradients& to, HeadView<const float> dweights = {});

// The weights (before dropout) of chosen queries: weights is [B, H, count, Tk].
void attention_rows_weights(const RowsInputs& in, const int32_t* queries, int64_t count,
                            float* weights);

}  // namespace fovea::kernel
