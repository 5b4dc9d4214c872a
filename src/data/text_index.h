// Texts to their numbers 0, 1, 2, ... in one flat array: a look-up mostly costs one cache line here
// and one for the text itself, where a std::unordered_map follows pointers from node to node.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace fovea {

// Eight bytes at a time; for tables in memory only, never for files.
inline uint64_t hash_text(std::string_view text) {
  constexpr uint64_t odd = 0x9e3779b97f4a7c15;
  const auto mix = [](uint64_t a) {
    const auto product = static_cast<unsigned __int128>(a ^ odd) * 0xd6e8feb86659fd93;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  const char* const bytes = text.data();
  const size_t n = text.size();
  uint64_t hash = n * odd, word = 0;
  if (n >= 8) {
    for (size_t at = 0; at + 8 < n; at += 8) {
      std::memcpy(&word, bytes + at, 8);
      hash = mix(hash ^ word);
    }
    std::memcpy(&word, bytes + n - 8, 8);  // overlaps the last one, which costs less than a loop
  } else if (n >= 4) {
    uint32_t first, last;
    std::memcpy(&first, bytes, 4);
    std::memcpy(&last, bytes + n - 4, 4);
    word = uint64_t{first} << 32 | last;
  } else if (n > 0) {
    const auto at = [&](size_t i) { return uint64_t{static_cast<unsigned char>(bytes[i])}; };
    word = at(0) << 16 | at(n / 2) << 8 | at(n - 1);
  }
  return mix(hash ^ word);
}

// Keeps hashes and numbers; whoever owns the texts compares them.
class TextIndex {
 public:
  // The number for which equal(number) holds among those of this hash; -1 without.
  template <class Equal>
  int32_t find(uint64_t hash, const Equal& equal) const {
    if (slots_.empty()) return -1;
    for (size_t i = hash & mask_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.number < 0) return -1;
      if (slot.tag == tag_of(hash) && equal(slot.number)) return slot.number;
    }
  }

  // Gives the next number; the caller has looked that the text is not there yet.
  int32_t add(uint64_t hash) {
    if (hashes_.size() * 2 >= slots_.size()) grow();
    const auto number = static_cast<int32_t>(hashes_.size());
    hashes_.push_back(hash);
    place(hash, number);
    return number;
  }

 private:
  struct Slot {
    uint32_t tag = 0;
    int32_t number = -1;
  };
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

  void place(uint64_t hash, int32_t number) {
    size_t i = hash & mask_;
    while (slots_[i].number >= 0) i = (i + 1) & mask_;
    slots_[i] = {tag_of(hash), number};
  }
  void grow() {
    slots_.assign(slots_.empty() ? 16 : slots_.size() * 2, Slot{});
    mask_ = slots_.size() - 1;
    for (size_t i = 0; i < hashes_.size(); ++i) place(hashes_[i], static_cast<int32_t>(i));
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::vector<uint64_t> hashes_;
  size_t mask_ = 0;
};

}  // namespace fovea
