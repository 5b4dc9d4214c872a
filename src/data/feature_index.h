// Features of texts and words by number. A feature is known by a 64-bit hash of what it says, which
// is the same everywhere: so a folder needs no list of their texts, and looking one up costs no
// string. Among ten million features two share a hash with a probability of 3 in a million.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// FNV-1a, to be gone on with byte by byte; finish() spreads it over all bits. For files too: it
// will never change.
class FeatureHash {
 public:
  // `kind` keeps features apart that say the same in other places: a word, and the word before it.
  explicit FeatureHash(uint64_t kind = 0)
      : state_(0xcbf29ce484222325 ^ (kind * 0x9e3779b97f4a7c15)) {}
  // Goes on with a byte, or with all of a text.
  FeatureHash& add(char byte) {
    state_ = (state_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    return *this;
  }
  FeatureHash& add(std::string_view text) {
    for (char byte : text) add(byte);
    return *this;
  }
  // The hash of all that was added.
  uint64_t finish() const {
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

 private:
  uint64_t state_;
};

// How many groups (texts, sentences) each feature comes in.
class FeatureCounter {
 public:
  // Groups are counted one after the other: a feature that comes twice in one counts once.
  void add(uint64_t feature, int32_t group);

  // A feature and how frequent it is.
  struct Count {
    uint64_t feature;  // its hash
    int64_t groups;    // that it comes in
  };
  // Those of at least `least` groups, and of these the `most` most frequent (0: all), by feature.
  std::vector<Count> counts(int64_t least, int64_t most) const;

 private:
  struct Slot {
    uint64_t feature = 0;
    int32_t groups = 0, last = -1;
  };
  void grow();
  std::vector<Slot> slots_;
  size_t taken_ = 0;
};

// Numbers 0 .. size()-1 of the features that are known.
class FeatureIndex {
 public:
  FeatureIndex() = default;
  // Sorted, each once.
  explicit FeatureIndex(std::vector<uint64_t> features);
  // -1 when it is not known.
  int32_t id(uint64_t feature) const;
  int64_t size() const { return static_cast<int64_t>(features_.size()); }  // how many

  Tensor to_tensor() const;  // int32 [size, 2]: the upper and the lower half of each hash
  static FeatureIndex from(const Tensor& stored);  // and back

 private:
  std::vector<uint64_t> features_;
  std::vector<int32_t> slots_;  // a power of two, at most half of them taken
};

}  // namespace fovea
