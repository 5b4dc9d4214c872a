// Plain twin of kernel/entity_slots.
#pragma once

#include <cmath>
#include <cstdint>

namespace fovea::naive {

// One sentence and the N slots of d features that it may change.
template <class T>
struct EntitySentence {
  int64_t N, d;
  const T* h;           // [N, d], the slots before
  const T* turned;      // [N, d], U h_j
  const T* s;           // [d], the sentence
  const T* to_keys;     // [N], s . w_j
  const T* moved;       // [d], V s
  const T* moved_keys;  // [N, d], W w_j and a bias
  const T* slope;       // [d], of the rectifier below 0
};
// Below a squared length.
constexpr double entity_floor = 1e-12;

// next [N, d]; kept for the gradient: gate [N] and one over the length before it is made 1 [N].
template <class T>
void change_slots(const EntitySentence<T>& x, T* next, T* gate, T* scale) {
  for (int64_t j = 0; j < x.N; ++j) {
    const T *h = x.h + j * x.d, *turned = x.turned + j * x.d, *key = x.moved_keys + j * x.d;
    T dot = x.to_keys[j], square = T(entity_floor);
    for (int64_t i = 0; i < x.d; ++i) dot += x.s[i] * h[i];
    gate[j] = 1 / (1 + std::exp(-dot));
    for (int64_t i = 0; i < x.d; ++i) {
      const T p = turned[i] + x.moved[i] + key[i];
      const T sum = h[i] + gate[j] * (p > 0 ? p : x.slope[i] * p);
      next[j * x.d + i] = sum;
      square += sum * sum;
    }
    scale[j] = 1 / std::sqrt(square);
    for (int64_t i = 0; i < x.d; ++i) next[j * x.d + i] *= scale[j];
  }
}

// Those of h (without what goes through U), turned and to_keys are written, the others added to.
template <class T>
struct EntityGradient {
  T *h, *turned, *to_keys, *s, *moved, *moved_keys, *slope;
};
// dnext may be to.h.
template <class T>
void change_slots_grad(const EntitySentence<T>& x, const EntityGradient<T>& to, const T* dnext,
                       const T* next, const T* gate, const T* scale) {
  for (int64_t j = 0; j < x.N; ++j) {
    const int64_t at = j * x.d;
    T along = 0, dgate = 0;
    for (int64_t i = 0; i < x.d; ++i) along += dnext[at + i] * next[at + i];
    for (int64_t i = 0; i < x.d; ++i) {
      const T p = x.turned[at + i] + x.moved[i] + x.moved_keys[at + i];
      const T dsum = scale[j] * (dnext[at + i] - along * next[at + i]);
      dgate += dsum * (p > 0 ? p : x.slope[i] * p);
      const T dcandidate = gate[j] * dsum, dp = p > 0 ? dcandidate : x.slope[i] * dcandidate;
      to.h[at + i] = dsum;
      to.turned[at + i] = dp;
      to.moved[i] += dp;
      to.moved_keys[at + i] += dp;
      to.slope[i] += p > 0 ? T(0) : dcandidate * p;
    }
    const T ddot = dgate * gate[j] * (1 - gate[j]);
    to.to_keys[j] = ddot;
    for (int64_t i = 0; i < x.d; ++i) {
      to.s[i] += ddot * x.h[at + i];
      to.h[at + i] += ddot * x.s[i];
    }
  }
}

}  // namespace fovea::naive
