#include "fovea/nn/sequences.h"

#include <algorithm>

namespace fovea {
namespace {

int64_t longest_of(const Tensor& offsets) {
  const auto at = offsets.read<int32_t>();
  int64_t longest = 0;
  for (size_t b = 0; b + 1 < at.size(); ++b) {
    longest = std::max<int64_t>(longest, at[b + 1] - at[b]);
  }
  return longest;
}

// Calls f(sequence, row) for every row.
template <class F>
Tensor of_rows(const Packing& packing, F f) {
  Tensor result({packing.rows()}, Dtype::i32);
  const auto from = packing.offsets.read<int32_t>();
  auto to = result.write<int32_t>();
  for (int32_t b = 0; b < packing.count(); ++b) {
    for (int32_t i = from[b]; i < from[b + 1]; ++i) to[i] = f(b, i - from[b]);
  }
  return result;
}

}  // namespace

Packing::Packing(const Tensor& at) : offsets(at) {
  check_offsets("sequences", offsets,
                offsets.empty() || offsets.elements() == 0 || offsets.dtype() != Dtype::i32
                    ? 0
                    : offsets.read<int32_t>().back());
  longest = longest_of(offsets);
}

void Packing::check_whole(const char* name) const {
  check(!offsets.empty(), name, ": the sequences have no offsets");
  check_offsets(name, offsets,
                offsets.elements() > 0 && offsets.dtype() == Dtype::i32 ? rows() : 0);
  check(longest == longest_of(offsets), name, ": the longest sequence has ", longest_of(offsets),
        " rows, `longest` says ", longest);
}

Tensor Packing::lengths() const {
  Tensor n({count()}, Dtype::i32);
  const auto from = offsets.read<int32_t>();
  auto to = n.write<int32_t>();
  for (int64_t b = 0; b < count(); ++b) to[b] = from[b + 1] - from[b];
  return n;
}

Tensor Packing::owners() const {
  return of_rows(*this, [](int32_t sequence, int32_t) { return sequence; });
}

Tensor Packing::places() const {
  return of_rows(*this, [](int32_t, int32_t row) { return row; });
}

Sequences::Sequences(Tensor list, const Packing& packing) : Packing(packing), ids(std::move(list)) {
  check_whole("sequences");
  check(!ids.empty() && ids.dtype() == Dtype::i32 && ids.rank() == 1 && ids.dim(0) == rows(),
        "sequences: need int32 [", rows(), "] ids, got ", ids);
}

Sequences sequences_of(std::span<const std::vector<int32_t>> lists) {
  check(!lists.empty(), "sequences: needs at least one");
  Tensor lengths({static_cast<int64_t>(lists.size())}, Dtype::i32);
  std::vector<int32_t> ids;
  for (size_t b = 0; b < lists.size(); ++b) {
    ids.insert(ids.end(), lists[b].begin(), lists[b].end());
    lengths.write<int32_t>()[b] = static_cast<int32_t>(lists[b].size());
  }
  return {Tensor::of({static_cast<int64_t>(ids.size())}, ids), Packing(offsets_of(lengths))};
}

RaggedRows::RaggedRows(Tensor rows, const Packing& packing)
    : Packing(packing), values(std::move(rows)) {
  check_whole("ragged rows");
  check(!values.empty() && values.rank() >= 1, "ragged rows: values need [rows, ...], got ",
        values);
  check(values.dim(0) == Packing::rows(), "ragged rows: the sequences have ", Packing::rows(),
        " rows, the values ", values.shape());
}

RaggedRows RaggedRows::with_lengths(Tensor values, const Tensor& lengths) {
  return {std::move(values), Packing(offsets_of(lengths))};
}

NestedSequences nested_sequences_of(std::span<const std::vector<std::vector<int32_t>>> lists) {
  check(!lists.empty(), "nested sequences: needs at least one");
  Tensor counts({static_cast<int64_t>(lists.size())}, Dtype::i32);
  std::vector<std::vector<int32_t>> inner;
  for (size_t b = 0; b < lists.size(); ++b) {
    inner.insert(inner.end(), lists[b].begin(), lists[b].end());
    counts.write<int32_t>()[b] = static_cast<int32_t>(lists[b].size());
  }
  NestedSequences all;
  all.outer = Packing(offsets_of(counts));
  all.inner = inner.empty() ? Sequences(Tensor({0}, Dtype::i32), Packing(Tensor::ids({1}, {0})))
                            : sequences_of(inner);
  return all;
}

}  // namespace fovea
