// Sequences of ids, packed: all rows one after the other, without padding.
#pragma once

#include <span>
#include <vector>

#include "fovea/op/pack.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct Sequences {
  Tensor ids;           // int32 [rows]
  Tensor offsets;       // int32 [B + 1]
  int64_t longest = 0;  // rows of the longest sequence

  int64_t count() const { return offsets.dim(0) - 1; }
  int64_t rows() const { return ids.dim(0); }
  Tensor lengths() const {
    Tensor n({count()}, Dtype::i32);
    const auto from = offsets.read<int32_t>();
    auto to = n.write<int32_t>();
    for (int64_t b = 0; b < count(); ++b) to[b] = from[b + 1] - from[b];
    return n;
  }
  // For every row the number of its sequence: int32 [rows].
  Tensor owners() const {
    Tensor owner({rows()}, Dtype::i32);
    const auto from = offsets.read<int32_t>();
    auto to = owner.write<int32_t>();
    for (int32_t b = 0; b < count(); ++b)
      std::fill(&to[from[b]], &to[from[b]] + from[b + 1] - from[b], b);
    return owner;
  }
};

inline Sequences sequences_of(std::span<const std::vector<int32_t>> lists) {
  check(!lists.empty(), "sequences: needs at least one");
  Sequences all;
  all.offsets = Tensor({static_cast<int64_t>(lists.size()) + 1}, Dtype::i32);
  auto offsets = all.offsets.write<int32_t>();
  std::vector<int32_t> ids;
  offsets[0] = 0;
  for (size_t b = 0; b < lists.size(); ++b) {
    ids.insert(ids.end(), lists[b].begin(), lists[b].end());
    offsets[b + 1] = static_cast<int32_t>(ids.size());
    all.longest = std::max(all.longest, static_cast<int64_t>(lists[b].size()));
  }
  all.ids = Tensor::of({static_cast<int64_t>(ids.size())}, ids);
  return all;
}

}  // namespace fovea
