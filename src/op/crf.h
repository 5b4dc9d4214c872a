// Linear-chain conditional random fields over packed sequences; equations in kernel/crf.h.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// -log p(targets) of each sequence: [B]. scores [rows, L], transitions [L + 1, L], the last row of
// which is where sequences begin; offsets int32 [B + 1] (op/pack.h), targets int32 [rows].
Tensor crf_loss_each(const Tensor& scores, const Tensor& transitions, const Tensor& offsets,
                     const Tensor& targets);

// What a field makes of sequences.
struct CrfAnswer {
  // The likeliest labels of each sequence, int32 [rows], and log p(y_t = l) of each row, [rows, L].
  Tensor labels, likely;
};
// With scores, transitions and offsets as above; not on the tape.
CrfAnswer crf_answer(const Tensor& scores, const Tensor& transitions, const Tensor& offsets);

}  // namespace fovea
