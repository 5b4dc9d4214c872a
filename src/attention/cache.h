// Keys and values that attention keeps between decoding steps.
#pragma once

#include "fovea/attention/pattern.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Arrays with room behind the last key, which doubles when it is full: a step copies its own keys
// and values alone. While a tape lives, appending is recorded on it and copies all.
class KeyValueCache {
 public:
  int64_t length() const { return length_; }  // how many keys each entry has
  // k [B, m, Hk, Dk], v [B, m, Hk, Dv]
  void append(const Tensor& k, const Tensor& v);
  // Entry b of the batch becomes what entry rows[b] was (int32): beam search keeps some hypotheses,
  // and some of them twice. Moves only what differs between the two: hypotheses of one source have
  // most of their past in common.
  void select(const Tensor& rows);

  // Attention that needs no keys to look back keeps sums over all steps instead, arrays of any
  // shape [B, ...], which are as large after a thousand steps as after one.
  const std::vector<Tensor>& sums() const { return sums_; }
  // The sums once `more` steps have joined them.
  void keep_sums(std::vector<Tensor> sums, int64_t more) {
    sums_ = std::move(sums);
    length_ += more;
  }

  // Exactly what was appended, [B, length, Hk, D]; copied when there is room behind it.
  Tensor keys() const;
  Tensor values() const;

  // What was appended and zeros behind it, [B, room, Hk, D], without copying: for an attention that
  // takes the pattern first_keys(who, length).
  const Tensor& stored_keys() const { return keys_; }
  const Tensor& stored_values() const { return values_; }
  // Keys that fit before the memory has to grow.
  int64_t room() const { return keys_.empty() ? 0 : keys_.dim(1); }

 private:
  void fill_owners(int64_t length);

  Tensor keys_, values_;
  std::vector<Tensor> sums_;
  int64_t length_ = 0;
  // [length, B]: which entry a row was appended to before selections moved it; those that have the
  // same are equal. Shorter, or empty: the rest is where it was appended.
  std::vector<int32_t> owners_;
};

}  // namespace fovea
