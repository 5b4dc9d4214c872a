// Sequences, packed: the rows of all of them one after the other, without padding. Of ids, of rows
// of numbers, and of sequences themselves (words in sentences in documents).
#pragma once

#include <span>
#include <vector>

#include "fovea/op/pack.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// How packed rows are cut into sequences.
struct Packing {
  // Of no rows.
  Packing() = default;
  // Sequences that begin at these offsets, int32 [B + 1], rising from 0 to the number of rows; an
  // Error for anything else.
  explicit Packing(const Tensor& offsets);

  Tensor offsets{};     // int32 [B + 1]
  int64_t longest = 0;  // rows of the longest sequence

  // How many sequences there are.
  int64_t count() const { return offsets.dim(0) - 1; }
  // How many rows they have together.
  int64_t rows() const { return offsets.read<int32_t>().back(); }
  // Of each sequence its rows: int32 [B].
  Tensor lengths() const;
  // For every row the number of its sequence: int32 [rows].
  Tensor owners() const;
  // For every row its place in its sequence, from 0: int32 [rows].
  Tensor places() const;
  // An Error that begins with `name` unless offsets and longest are those of sequences.
  void check_whole(const char* name) const;
};

// Sequences of ids.
struct Sequences : Packing {
  // Of nothing.
  Sequences() = default;
  // Cut as `packing` says; an Error unless there are as many ids.
  Sequences(Tensor ids, const Packing& packing);

  Tensor ids{};  // int32 [rows]
};
// These lists, in their order.
Sequences sequences_of(std::span<const std::vector<int32_t>> lists);

// Sequences whose rows are arrays, as of measurements in time.
struct RaggedRows : Packing {
  // Of nothing.
  RaggedRows() = default;
  // values [rows, ...], cut where the packing says; an Error unless they are as many.
  RaggedRows(Tensor values, const Packing& packing);
  // The same from the lengths of the sequences, int32 [B].
  static RaggedRows with_lengths(Tensor values, const Tensor& lengths);

  // With zeros behind the end of shorter sequences: [B, longest, ...].
  Tensor padded() const { return unpack(values, offsets, longest); }

  Tensor values{};  // [rows, ...]
};

// Two levels: words in sentences in documents, sentences in a story. What is done to each inner
// sequence gives a row for it, and outer_rows() cuts those into the outer ones:
//   const RaggedRows sentences = story.outer_rows(embed(story.inner));
struct NestedSequences {
  Sequences inner{};  // every inner sequence, those of the first outer one first
  Packing outer{};    // how they are cut into the outer ones; outer.rows() is inner.count()

  // How many outer sequences there are.
  int64_t count() const { return outer.count(); }
  // One row for each inner sequence, [inner.count(), ...], as sequences of them.
  RaggedRows outer_rows(Tensor rows) const { return {std::move(rows), outer}; }
};
// Of each outer sequence its inner ones; an outer one may be empty, as may an inner one.
NestedSequences nested_sequences_of(std::span<const std::vector<std::vector<int32_t>>> lists);

}  // namespace fovea
