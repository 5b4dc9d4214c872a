// Linear-chain conditional random fields over packed sequences; equations in kernel/crf.h.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// -log p(targets) of each sequence: [B]. scores [rows, L], transitions [L + 1, L], the last row of
// which is where sequences begin; offsets int32 [B + 1] (op/pack.h), targets int32 [rows].
Tensor crf_loss_each(const Tensor& scores, const Tensor& transitions, const Tensor& offsets,
                     const Tensor& targets);

// Not on the tape: the likeliest labels of each sequence, int32 [rows], and log p(y_t = l) of every
// row, [rows, L].
struct CrfAnswer {
  Tensor labels, likely;
};
CrfAnswer crf_answer(const Tensor& scores, const Tensor& transitions, const Tensor& offsets);

}  // namespace fovea
