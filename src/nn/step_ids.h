// What decoders are given step by step of sequences that are known: one token of each at a time.
#pragma once

#include <algorithm>

#include "fovea/nn/sequences.h"

namespace fovea {

// Token t of every sequence, int32 [B]; past its end a sequence repeats its last, and nobody looks
// at what comes of it.
inline Tensor ids_at(const Sequences& s, int64_t t) {
  Tensor ids({s.count()}, Dtype::i32);
  const auto offsets = s.offsets.read<int32_t>();
  const auto from = s.ids.read<int32_t>();
  auto to = ids.write<int32_t>();
  for (size_t b = 0; b < to.size(); ++b) {
    to[b] = from[static_cast<size_t>(std::min<int64_t>(offsets[b] + t, offsets[b + 1] - 1))];
  }
  return ids;
}

}  // namespace fovea
