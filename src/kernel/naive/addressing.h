// Plain twin of kernel/addressing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace fovea::naive {

// A memory of N slots with D features each, a feature's N numbers side by side: M[D, N].
struct Slots {
  int64_t D, N;
  int64_t reach;  // a head may move so many slots either way: 2 reach + 1 shifts
  static constexpr int64_t furthest = 8;  // greatest reach
  int64_t shifts() const { return 2 * reach + 1; }
  // What a head is told: key [D], strength, gate, shifts, sharpness, before they are squashed.
  int64_t controls() const { return D + 3 + shifts(); }
};
// Behind a weight, for the logarithm of one that is 0.
constexpr double address_floor = 1e-16;
// Of squared lengths, as attention/score/similarity.cpp has it.
constexpr double length_floor = 1e-12;

// What the gradient needs of an addressing, N numbers each.
template <class T>
struct AddressKept {
  T* cosine;
  T* length;   // of each slot
  T* content;  // weights by content
  T* gated;    // after the gate
  T* shifted;  // after the shift
};

template <class T>
T softplus_of(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}
template <class T>
T sigmoid_of(T x) {
  return 1 / (1 + std::exp(-x));
}

// The controls of a head, squashed.
template <class T>
struct HeadSettings {
  T strength, gate, sharpness;
  T shift[2 * Slots::furthest + 1];
  HeadSettings(const Slots& m, const T* h)
      : strength(softplus_of(h[m.D])),
        gate(sigmoid_of(h[m.D + 1])),
        sharpness(1 + softplus_of(h[m.D + 2 + m.shifts()])) {
    const T* raw = h + m.D + 2;
    const T most = *std::max_element(raw, raw + m.shifts());
    T sum = 0;
    for (int64_t j = 0; j < m.shifts(); ++j) sum += shift[j] = std::exp(raw[j] - most);
    for (int64_t j = 0; j < m.shifts(); ++j) shift[j] /= sum;
  }
};

inline int64_t wrapped(int64_t i, int64_t N) { return (i % N + N) % N; }

// Graves, Wayne, Danihelka 2014, equations 5 to 9: weights w[N] from memory, controls and w before.
template <class T>
void address(const Slots& m, T* w, const AddressKept<T>& kept, const T* memory, const T* controls,
             const T* before) {
  const HeadSettings<T> head(m, controls);
  T key = T(length_floor);
  for (int64_t d = 0; d < m.D; ++d) key += controls[d] * controls[d];
  key = std::sqrt(key);
  T most = -std::numeric_limits<T>::infinity(), sum = 0;
  for (int64_t i = 0; i < m.N; ++i) {
    T dot = 0, square = T(length_floor);
    for (int64_t d = 0; d < m.D; ++d) {
      const T x = memory[d * m.N + i];
      dot += controls[d] * x;
      square += x * x;
    }
    kept.length[i] = std::sqrt(square);
    kept.cosine[i] = dot / (key * kept.length[i]);
    most = std::max(most, head.strength * kept.cosine[i]);
  }
  for (int64_t i = 0; i < m.N; ++i)
    sum += kept.content[i] = std::exp(head.strength * kept.cosine[i] - most);
  for (int64_t i = 0; i < m.N; ++i) {
    kept.content[i] /= sum;
    kept.gated[i] = head.gate * kept.content[i] + (1 - head.gate) * before[i];
  }
  T highest = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < m.N; ++i) {
    T moved = 0;
    for (int64_t j = -m.reach; j <= m.reach; ++j)
      moved += head.shift[j + m.reach] * kept.gated[wrapped(i - j, m.N)];
    kept.shifted[i] = moved;
    w[i] = head.sharpness * std::log(moved + T(address_floor));
    highest = std::max(highest, w[i]);
  }
  sum = 0;
  for (int64_t i = 0; i < m.N; ++i) sum += w[i] = std::exp(w[i] - highest);
  for (int64_t i = 0; i < m.N; ++i) w[i] /= sum;
}

// dw[N] in; what is not null is added to: dmemory [D, N], dcontrols, dbefore [N].
template <class T>
struct AddressGradient {
  T *memory, *controls, *before;
};
template <class T>
void address_grad(const Slots& m, const AddressGradient<T>& to, const T* dw, const T* w,
                  const AddressKept<T>& kept, const T* memory, const T* controls, const T* before) {
  const HeadSettings<T> head(m, controls);
  const int64_t N = m.N, S = m.shifts();
  std::vector<T> moved(N), gated(N, T(0)), dshift(S, T(0));
  T mean = 0, dsharpness = 0, dgate = 0, dstrength = 0, key = T(length_floor);
  for (int64_t i = 0; i < N; ++i) mean += w[i] * dw[i];
  for (int64_t i = 0; i < N; ++i) {
    const T dz = w[i] * (dw[i] - mean), at = kept.shifted[i] + T(address_floor);
    dsharpness += dz * std::log(at);
    moved[i] = head.sharpness * dz / at;
  }
  for (int64_t i = 0; i < N; ++i) {
    for (int64_t j = -m.reach; j <= m.reach; ++j) {
      const int64_t from = wrapped(i - j, N);
      gated[from] += head.shift[j + m.reach] * moved[i];
      dshift[j + m.reach] += moved[i] * kept.gated[from];
    }
  }
  mean = 0;
  for (int64_t i = 0; i < N; ++i) {
    dgate += gated[i] * (kept.content[i] - before[i]);
    if (to.before) to.before[i] += (1 - head.gate) * gated[i];
    mean += kept.content[i] * head.gate * gated[i];
  }
  for (int64_t d = 0; d < m.D; ++d) key += controls[d] * controls[d];
  const T key_length = std::sqrt(key);
  for (int64_t i = 0; i < N; ++i) {
    const T dscore = kept.content[i] * (head.gate * gated[i] - mean);
    dstrength += dscore * kept.cosine[i];
    const T dcosine = head.strength * dscore, scale = 1 / (key_length * kept.length[i]);
    for (int64_t d = 0; d < m.D; ++d) {
      const T x = memory[d * N + i];
      if (to.controls) to.controls[d] += dcosine * (x * scale - kept.cosine[i] * controls[d] / key);
      if (to.memory)
        to.memory[d * N + i] += dcosine * (controls[d] * scale -
                                           kept.cosine[i] * x / (kept.length[i] * kept.length[i]));
    }
  }
  if (!to.controls) return;
  T* dh = to.controls + m.D;
  dh[0] += dstrength * sigmoid_of(controls[m.D]);
  dh[1] += dgate * head.gate * (1 - head.gate);
  mean = 0;
  for (int64_t j = 0; j < S; ++j) mean += head.shift[j] * dshift[j];
  for (int64_t j = 0; j < S; ++j) dh[2 + j] += head.shift[j] * (dshift[j] - mean);
  dh[2 + S] += dsharpness * sigmoid_of(controls[m.D + 2 + S]);
}

// Equations 3 and 4: each slot loses the part w e and gets w a. controls: erase [D] before its
// sigmoid, add [D].
template <class T>
void write_slots(const Slots& m, T* after, const T* memory, const T* w, const T* controls) {
  for (int64_t d = 0; d < m.D; ++d) {
    const T erase = sigmoid_of(controls[d]), add = controls[m.D + d];
    for (int64_t i = 0; i < m.N; ++i) {
      const T x = memory[d * m.N + i];
      after[d * m.N + i] = x + w[i] * (add - erase * x);
    }
  }
}
template <class T>
struct WriteGradient {
  T *memory, *w, *controls;  // added to; null: not wanted
};
template <class T>
void write_slots_grad(const Slots& m, const WriteGradient<T>& to, const T* dafter, const T* memory,
                      const T* w, const T* controls) {
  for (int64_t d = 0; d < m.D; ++d) {
    const T erase = sigmoid_of(controls[d]), add = controls[m.D + d];
    T derase = 0, dadd = 0;
    for (int64_t i = 0; i < m.N; ++i) {
      const T g = dafter[d * m.N + i], x = memory[d * m.N + i];
      derase -= g * w[i] * x;
      dadd += g * w[i];
      if (to.w) to.w[i] += g * (add - erase * x);
      if (to.memory) to.memory[d * m.N + i] += g * (1 - w[i] * erase);
    }
    if (to.controls) to.controls[d] += derase * erase * (1 - erase), to.controls[m.D + d] += dadd;
  }
}

// r[D] = sum_i w_i M_i
template <class T>
void read_slots(const Slots& m, T* r, const T* memory, const T* w) {
  for (int64_t d = 0; d < m.D; ++d) {
    r[d] = 0;
    for (int64_t i = 0; i < m.N; ++i) r[d] += w[i] * memory[d * m.N + i];
  }
}
// Added to; null: not wanted.
template <class T>
void read_slots_grad(const Slots& m, T* dmemory, T* dw, const T* dr, const T* memory, const T* w) {
  for (int64_t d = 0; d < m.D; ++d) {
    for (int64_t i = 0; i < m.N; ++i) {
      if (dmemory) dmemory[d * m.N + i] += dr[d] * w[i];
      if (dw) dw[i] += dr[d] * memory[d * m.N + i];
    }
  }
}

}  // namespace fovea::naive
