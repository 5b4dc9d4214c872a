// One call of attend, checked and worked out: what every path starts from.
#pragma once

#include "fovea/attention/alignment.h"
#include "fovea/attention/contract.h"

namespace fovea {

struct PreparedAttention {
  const AttentionInputs& in;  // as they were given
  const Alignment& align;     // as it was given
  Extent e;                   // of the call
  int64_t Hk;                 // heads of keys and values
  ScoreForm form;             // what the score came down to
  Tensor bias{};              // all that is added to the scores
  bool by_diagonal = false;   // bias is [b, h, 1, Tq + Tk - 1]: what diagonal Tq - 1 + j - i has
  AlignmentStart start{};     // what the alignment settled before
  std::shared_ptr<const ResolvedPattern> who{};  // the call's, narrowed by the alignment's
  double dropout = 0;                            // 0 unless this thread trains
  uint64_t seed = 0;                             // of the dropout

  // Whether this was asked to be kept.
  bool wants(Capture::What what) const { return in.capture.what == what; }
};

// Checks shapes, applies the score's parameters, works out the pattern, draws the dropout's seed.
// `diagonals`: distances may stay what they are, for kernels that can walk down diagonals.
PreparedAttention prepare(const AttentionInputs& in, const Score& score, const Alignment& align,
                          bool diagonals = false);

// The three paths, and why one does not take a call: empty when it does.
AttentionOutput attend_plain(const PreparedAttention& call);
std::string fused_declines(const PreparedAttention& call);
AttentionOutput attend_fused(const PreparedAttention& call);
// The kernels that hold one block of queries' rows at a time: slower, for more scores and
// alignments, and for weights with a gradient.
std::string rows_declines(const PreparedAttention& call);
AttentionOutput attend_rows(const PreparedAttention& call);
// The kernels for lists of edges.
std::string edges_declines(const PreparedAttention& call);
AttentionOutput attend_edges(const PreparedAttention& call);

// What was asked for, cut out of all weights [B, H, Tq, Tk].
Weights captured(const PreparedAttention& call, const Tensor& all);

// The queries whose rows a call asks for.
std::vector<int32_t> asked_queries(const PreparedAttention& call);

}  // namespace fovea
