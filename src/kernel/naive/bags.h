// Plain twin of kernel/bags.
#pragma once

#include <cstdint>

namespace fovea::naive {

// Rows of words, each bag the sum of its words' vectors times a weight for their place:
//   y_s = sum_w weights[place_w] o table[id_w],   words offsets[s] .. offsets[s + 1] of bag s
// Ids from `rows` on are those of a second table that is not learned.
template <class T>
struct Bags {
  int64_t bags, d, rows;
  const int32_t *offsets, *ids, *places;
  const T *table, *fixed, *weights;
  const T* word(int64_t w) const {
    return ids[w] < rows ? table + ids[w] * d : fixed + (ids[w] - rows) * d;
  }
};

template <class T>
void sum_bags(T* y, const Bags<T>& b) {
  for (int64_t s = 0; s < b.bags; ++s, y += b.d) {
    for (int64_t k = 0; k < b.d; ++k) y[k] = 0;
    for (int64_t w = b.offsets[s]; w < b.offsets[s + 1]; ++w) {
      for (int64_t k = 0; k < b.d; ++k) y[k] += b.weights[b.places[w] * b.d + k] * b.word(w)[k];
    }
  }
}

// Added to dtable and dweights; null: not wanted.
template <class T>
void sum_bags_grad(T* dtable, T* dweights, const T* dy, const Bags<T>& b) {
  for (int64_t s = 0; s < b.bags; ++s, dy += b.d) {
    for (int64_t w = b.offsets[s]; w < b.offsets[s + 1]; ++w) {
      const T* at = b.weights + b.places[w] * b.d;
      for (int64_t k = 0; k < b.d; ++k) {
        if (dtable && b.ids[w] < b.rows) dtable[b.ids[w] * b.d + k] += at[k] * dy[k];
        if (dweights) dweights[b.places[w] * b.d + k] += b.word(w)[k] * dy[k];
      }
    }
  }
}

}  // namespace fovea::naive
