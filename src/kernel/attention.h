// Fused attention: score, pattern, bias, alignment, dropout and read in one pass over tiles, so
// that no Tq x Tk matrix is ever in memory, forward or backward.
//   Dao et al., "FlashAttention-2", 2023; Milakov & Gimelshein, "Online normalizer calculation for
//   softmax", 2018.
//   e_ij = scale q_i . k_j + bias_ij     a_ij = align(e_i)_j     out_i = sum_j drop(a_ij) v_j
// Every float function here has a twin over any scalar in naive/attention.h, which also serves
// double.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace fovea::kernel {

// Rows of one head inside a larger array: row t of (batch b, head h) begins at at(b, h) + t * row
// and is contiguous. A stride of 0 broadcasts. [B, T, H, D] is {data, T * H * D, H * D, D}.
template <class T>
struct HeadView {
  T* data = nullptr;
  int64_t batch = 0, row = 0, head = 0;

  T* at(int64_t b, int64_t h) const { return data + b * batch + h * head; }
  explicit operator bool() const { return data != nullptr; }
};

// Query i may attend the keys [lo[i], hi[i]); a null array stands for 0 or Tk. Causal masks,
// windows, key lengths and packed sequences are all of this form, and cost only the tiles they
// touch.
struct KeyRanges {
  const int32_t* lo = nullptr;
  const int32_t* hi = nullptr;
  int64_t batch = 0, head = 0;  // strides of both arrays
};

enum class Align { softmax, sigmoid };

// --- Dropout bits: a pure function of (seed, batch * H + head, query, key). ---

inline uint32_t dropout_row_key(uint64_t seed, int64_t batch_head, int64_t query) {
  // splitmix64's finisher over the three numbers: rows get unrelated keys.
  uint64_t z = seed + 0x9E3779B97F4A7C15u * (static_cast<uint64_t>(batch_head) + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z += 0x9E3779B97F4A7C15u * (static_cast<uint64_t>(query) + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<uint32_t>(z >> 32);
}

constexpr uint32_t dropout_key_step = 0x9E3779B9u;

// "lowbias32" (Wellons): the cheapest 32-bit hash with full avalanche; vector twin in
// attention-inl.h.
inline uint32_t dropout_bits(uint32_t row_key, int64_t key) {
  uint32_t x = row_key ^ (static_cast<uint32_t>(key) * dropout_key_step);
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// A weight is dropped where its bits are below this.
inline uint32_t dropout_threshold(float rate) {
  return static_cast<uint32_t>(std::floor(static_cast<double>(rate) * 4294967296.0));
}

struct WeightDropout {
  float rate = 0;  // in [0, 1)
  uint64_t seed = 0;
  // Where the first query and the first key stand in the whole that they are a part of: what is
  // dropped then does not depend on how that is cut.
  int64_t query = 0, key = 0;

  uint32_t row_key(int64_t batch_head, int64_t i) const {
    return dropout_row_key(seed, batch_head, query + i);
  }
  uint32_t place(int64_t j) const { return static_cast<uint32_t>(key + j); }
};

template <class T>
struct HeadInputs {
  int64_t B = 1, H = 1, Hk = 1;  // H is a multiple of Hk: query head h reads key head h / (H / Hk)
  int64_t Tq = 0, Tk = 0, D = 0, Dv = 0;
  T scale = 1;
  HeadView<const T> q, k, v;
  KeyRanges ranges;
  HeadView<const uint8_t> mask;  // one byte a key, not 0 = may attend; none: all may
  // Added to the score; -inf works as a mask. A row of -1 walks down diagonals: data is then the
  // element of query 0 and key 0, with Tq - 1 before it and Tk - 1 behind it.
  HeadView<const T> bias;
  Align align = Align::softmax;
  WeightDropout dropout;

  int64_t key_head(int64_t h) const { return h / (H / Hk); }
  int64_t lo(int64_t b, int64_t h, int64_t i) const {
    if (!ranges.lo) return 0;
    const int64_t at = ranges.lo[b * ranges.batch + h * ranges.head + i];
    return at < 0 ? 0 : at;
  }
  int64_t hi(int64_t b, int64_t h, int64_t i) const {
    if (!ranges.hi) return Tk;
    const int64_t at = ranges.hi[b * ranges.batch + h * ranges.head + i];
    return at > Tk ? Tk : at;
  }
};

// What one can see of the weights without ever holding them all. Any pointer may be null. Weights
// are those before dropout.
template <class T>
struct AttentionSummary {
  int64_t top = 8;
  int32_t* top_keys = nullptr;  // [B, H, Tq, top], heaviest first, -1 where there are fewer keys
  T* top_weights = nullptr;     // [B, H, Tq, top]
  T* entropy = nullptr;         // [B, H, Tq], - sum a ln a (softmax only)
  int64_t map_rows = 64, map_cols = 64;
  T* map = nullptr;  // [B, H, map_rows, map_cols]: the weight that the keys of a column get from a
                     // query of the row, on average; query i is in row i * map_rows / Tq

  // A map without rows or columns is none.
  AttentionSummary with_size() const {
    AttentionSummary s = *this;
    if (map_rows < 1 || map_cols < 1) s.map = nullptr, s.map_rows = s.map_cols = 1;
    return s;
  }
};

template <class T>
struct AttentionGradients {
  HeadView<T> dq, dk, dv;
  HeadView<T> dbias;  // none: not wanted; where a stride is 0 or -1 the gradient is summed
};

// out[i] = 0 and lse[i] = -inf for a query that may attend nothing. lse: [B, H, Tq], the logarithm
// of sum_j e^e_ij, which the backward pass needs; not written (may be null) for sigmoid. The output
// has the same bits with and without a summary.
void attention_forward(const HeadInputs<float>& in, HeadView<float> out, float* lse,
                       const AttentionSummary<float>* summary = nullptr);

// The path that attention_forward takes for so few queries: it reads every key once, in the order
// in which they lie, and shares long caches between threads.
constexpr int64_t decode_queries = 2;
void attention_decode(const HeadInputs<float>& in, HeadView<float> out, float* lse);

// Overwrites every gradient. Sums over shared key heads and broadcast biases have a fixed order.
void attention_backward(const HeadInputs<float>& in, HeadView<const float> out,
                        HeadView<const float> dout, const float* lse,
                        const AttentionGradients<float>& to);

// The exact weights (before dropout) of chosen queries of one head, recomputed from lse:
// weights[r * Tk + j] for query rows[r].
void attention_weights(const HeadInputs<float>& in, const float* lse, int64_t b, int64_t h,
                       const int32_t* rows, int64_t count, float* weights);

}  // namespace fovea::kernel
