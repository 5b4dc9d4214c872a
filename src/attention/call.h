// One call of attend, checked and worked out: what every path starts from.
#pragma once

#include "fovea/attention/align.h"
#include "fovea/attention/contract.h"

namespace fovea {

struct Call {
  const AttentionInputs& in;
  const Alignment& align;
  Extent e;
  int64_t Hk;
  ScoreForm form;
  Tensor bias{};             // as in AttentionInputs, with the distances' where there are any
  bool by_diagonal = false;  // bias is [b, h, 1, Tq + Tk - 1]: what diagonal Tq - 1 + j - i has
  Tensor center{};           // local alignment: [B, Tq, H], float64
  ResolvedPattern who{};
  double dropout = 0;  // 0 without a tape
  uint64_t seed = 0;   // of the dropout
};

// Checks shapes, applies the score's parameters, works out the pattern, draws the dropout's seed.
// `diagonals`: distances may stay what they are, for kernels that can walk down diagonals.
Call prepare(const AttentionInputs& in, const Score& score, const Alignment& align,
             bool diagonals = false);

AttentionOutput attend_plain(const Call& call);
// Why the fused kernels do not take this call; empty when they do.
std::string fused_declines(const Call& call);
AttentionOutput attend_fused(const Call& call);
// The same of the kernels that hold one block of queries' rows at a time: slower, for more scores
// and alignments.
std::string rows_declines(const Call& call);
AttentionOutput attend_rows(const Call& call);

// What was asked for, cut out of all weights [B, H, Tq, Tk].
Weights captured(const Call& call, const Tensor& all);

}  // namespace fovea
