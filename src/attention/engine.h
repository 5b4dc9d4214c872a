// The attention engine: any score, any alignment, any pattern.
#pragma once

#include "fovea/attention/alignment.h"
#include "fovea/attention/contract.h"
#include "fovea/attention/score/dot.h"

namespace fovea {

// Takes the fused kernel where it can, else the one that holds a block of rows at a time (neither
// has a Tq x Tk matrix in memory), else the plain definition; FOVEA_EXPLAIN=1 prints which, and
// why.
AttentionOutput attend(const AttentionInputs& in, const Score& score = scaled_score(),
                       const Alignment& align = {});

// The same, unseen by a Recorder: for means and other parts of a mechanism that are no attention to
// look at.
AttentionOutput attend_unrecorded(const AttentionInputs& in, const Score& score = scaled_score(),
                                  const Alignment& align = {});

// The plain definition, in ops, for float32 and float64: what the fused kernels are tested against.
AttentionOutput attend_plain(const AttentionInputs& in, const Score& score = scaled_score(),
                             const Alignment& align = {});

}  // namespace fovea
