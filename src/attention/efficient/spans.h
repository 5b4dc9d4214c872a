// What a pattern says to mechanisms that never look at single pairs: which stretch of a sequence
// each query may see. Lengths, causal and packed patterns are of that kind.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention/contract.h"

namespace fovea {

// For each query the keys [lo, hi), the same for all heads.
struct Spans {
  int64_t batches = 1;          // 1: all batch entries alike; or B
  int64_t Tq = 0, Tk = 0;       // how many queries and keys there are
  std::vector<int32_t> lo, hi;  // [batches, Tq]

  int64_t at(int64_t b, int64_t i) const { return (b % batches) * Tq + i; }  // place in lo and hi
};
// Those of a call; a pattern of masks or edges is an Error in the mechanism's name.
Spans spans_of(const AttentionInputs& in, const std::string& name);

// Queries of one batch entry that see the same keys, or each one key more than the one before it.
struct Stretch {
  int64_t b;       // batch entry
  int64_t q0, q1;  // queries [q0, q1)
  int64_t k0, k1;  // keys: those that the last query sees
  bool causal;     // query i sees the keys [k0, k1 - (q1 - 1 - i))
};
// In order of batch entries and queries; windows are an Error in the mechanism's name.
std::vector<Stretch> stretches_of(const Spans& spans, int64_t B, const std::string& name);

// How long each sequence is where every query sees its whole sequence, int32 [B]. Packed sequences
// and causal patterns are none.
struct WholeSequences {
  bool whole = true;             // all queries of an entry see its first `lengths` keys
  std::vector<int32_t> lengths;  // [B]
};
// Of all stretches of B batch entries.
WholeSequences whole_sequences(const std::vector<Stretch>& stretches, int64_t B);

// `f` for each batch of sequences that see themselves whole: the call itself, or one after the
// other where several are packed in a row. It gets the sequences' lengths, and gives contexts
// [B, T, H, D]. Causal patterns are an Error in the mechanism's name.
Tensor by_sequence(
    const AttentionInputs& in, const std::string& name,
    const std::function<Tensor(const AttentionInputs&, const std::vector<int32_t>&)>& f);

// int32 [B, T, 1, 1]: 1 for the first n[b] rows of a batch entry. Empty where all are.
Tensor rows_within(const std::vector<int32_t>& n, int64_t T);
// x with zeros behind each sequence's end; x itself where there is nothing behind it.
Tensor cleared_behind(const Tensor& x, const std::vector<int32_t>& n);
// The lengths as patterns take them.
Tensor lengths_tensor(const std::vector<int32_t>& n);

}  // namespace fovea
