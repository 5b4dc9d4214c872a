// How a Neural Turing Machine finds, writes and reads its slots: Graves, Wayne, Danihelka, "Neural
// Turing Machines", 2014. A memory is [B, D, N]: N slots of D features, a feature's numbers side by
// side.
//   w^c = softmax(beta cos(k, M_i))   by content: the attention engine's cosine score and softmax
//   w^g = g w^c + (1 - g) w           the gate between content and where the head was
//   w~_i = sum_j s_j w^g_i-j          a shift round the ring of slots
//   w_i = w~_i^gamma / sum            sharpened
// head_address() is all four as one op, whose kernel has its gradient; the others are its parts as
// ops of their own, what it is tested against, and what other scores and alignments go through.
#pragma once

#include "fovea/attention/alignment.h"
#include "fovea/attention/contract.h"
#include "fovea/kernel/addressing.h"

namespace fovea {

using kernel::Slots;

// By content, through the attention engine: memory [B, D, N], keys [B, H, D] (already times beta
// where the score has none), weights [B, H, N]. A Recorder sees it under `name`.
Tensor content_address(const Tensor& memory, const Tensor& keys, const Score& score,
                       const Alignment& align, const std::string& name);
// before + gate (content - before); gate [B, H, 1], the others [B, H, N].
Tensor gated_address(const Tensor& content, const Tensor& before, const Tensor& gate);
// Circular: w [B, H, N], shift [B, H, 2 reach + 1], the first of which moves `reach` slots back.
Tensor shifted_address(const Tensor& w, const Tensor& shift);
// w^sharpness / sum, through logarithms; sharpness [B, H, 1].
Tensor sharpened_address(const Tensor& w, const Tensor& sharpness);

// One head's new weights [B, N] from its controls, which begin at column `at` of a row (Slots says
// what they are and how many), and its weights before.
Tensor head_address(const Slots& slots, const Tensor& memory, const Tensor& controls, int64_t at,
                    const Tensor& before);
// The memory after a write with weights w [B, N]: erase (before its sigmoid) and add, D each, begin
// at column `at`.
Tensor written(const Slots& slots, const Tensor& memory, const Tensor& w, const Tensor& controls,
               int64_t at);
// What is read with weights w: [B, D].
Tensor read_of(const Slots& slots, const Tensor& memory, const Tensor& w);

}  // namespace fovea
