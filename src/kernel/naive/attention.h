// kernel/attention.h again as plain loops over any scalar: the oracle, and the float64 kernel. It
// holds whole rows of weights and takes the equations in the order they are written.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "fovea/kernel/attention.h"

namespace fovea::naive {

using kernel::Align;
using kernel::AttentionGradients;
using kernel::AttentionSummary;
using kernel::HeadInputs;
using kernel::HeadView;

// e_i: scores of one query, -inf where it may not look.
template <class T>
void attention_scores(const HeadInputs<T>& in, int64_t b, int64_t h, int64_t i, T* e) {
  const T minus_infinity = -std::numeric_limits<T>::infinity();
  const int64_t lo = in.lo(b, h, i), hi = in.hi(b, h, i);
  const T* q = in.q.at(b, h) + i * in.q.row;
  for (int64_t j = 0; j < in.Tk; ++j) {
    e[j] = minus_infinity;
    if (j < lo || j >= hi) continue;
    if (in.mask && !in.mask.at(b, h)[i * in.mask.row + j]) continue;
    const T* k = in.k.at(b, in.key_head(h)) + j * in.k.row;
    T dot = 0;
    for (int64_t d = 0; d < in.D; ++d) dot += q[d] * k[d];
    e[j] = in.scale * dot + (in.bias ? in.bias.at(b, h)[i * in.bias.row + j] : T(0));
  }
}

// a_i from e_i in place; returns lse (0 for sigmoid, which has none).
template <class T>
T attention_align(Align align, T* e, int64_t n) {
  if (align == Align::sigmoid) {
    for (int64_t j = 0; j < n; ++j) e[j] = 1 / (1 + std::exp(-e[j]));
    return 0;
  }
  T top = -std::numeric_limits<T>::infinity();
  for (int64_t j = 0; j < n; ++j) top = std::max(top, e[j]);
  if (top == -std::numeric_limits<T>::infinity()) {
    std::fill_n(e, n, T(0));
    return top;
  }
  T total = 0;
  for (int64_t j = 0; j < n; ++j) total += e[j] = std::exp(e[j] - top);
  for (int64_t j = 0; j < n; ++j) e[j] /= total;
  return top + std::log(total);
}

// 0 where dropout takes a weight away, else what scales the others up.
template <class T>
T attention_keep(const HeadInputs<T>& in, int64_t b, int64_t h, int64_t i, int64_t j) {
  const uint32_t key = in.dropout.row_key(b * in.H + h, i);
  const bool dropped =
      kernel::dropout_bits(key, in.dropout.place(j)) < kernel::dropout_threshold(in.dropout.rate);
  return dropped ? T(0) : 1 / (1 - T(in.dropout.rate));
}

// What the summary says of one query's weights.
template <class T>
void attention_summarise(const HeadInputs<T>& in, const AttentionSummary<T>& to, int64_t b,
                         int64_t h, int64_t i, const T* a) {
  const int64_t row = (b * in.H + h) * in.Tq + i;
  if (to.top_keys || to.top_weights) {
    std::vector<int32_t> order(in.Tk);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + std::min(to.top, in.Tk), order.end(),
                      [a](int32_t x, int32_t y) { return a[x] != a[y] ? a[x] > a[y] : x < y; });
    for (int64_t t = 0; t < to.top; ++t) {
      const bool there = t < in.Tk && a[order[t]] > 0;
      if (to.top_keys) to.top_keys[row * to.top + t] = there ? order[t] : -1;
      if (to.top_weights) to.top_weights[row * to.top + t] = there ? a[order[t]] : T(0);
    }
  }
  if (to.entropy && in.align == Align::softmax) {
    T sum = 0;
    for (int64_t j = 0; j < in.Tk; ++j) sum -= a[j] > 0 ? a[j] * std::log(a[j]) : T(0);
    to.entropy[row] = sum;
  }
  if (to.map) {
    // Queries that share a row of the map: those i with i * rows / Tq equal.
    const int64_t at = i * to.map_rows / in.Tq;
    const int64_t begin = (at * in.Tq + to.map_rows - 1) / to.map_rows;
    const int64_t end = ((at + 1) * in.Tq + to.map_rows - 1) / to.map_rows;
    T* cells = to.map + ((b * in.H + h) * to.map_rows + at) * to.map_cols;
    for (int64_t j = 0; j < in.Tk; ++j) cells[j * to.map_cols / in.Tk] += a[j] / T(end - begin);
  }
}

template <class T>
void attention_forward(const HeadInputs<T>& in, HeadView<T> out, T* lse,
                       const AttentionSummary<T>* summary = nullptr) {
  std::vector<T> a(in.Tk);
  if (summary && summary->map) {
    std::fill_n(summary->map, in.B * in.H * summary->map_rows * summary->map_cols, T(0));
  }
  for (int64_t b = 0; b < in.B; ++b) {
    for (int64_t h = 0; h < in.H; ++h) {
      for (int64_t i = 0; i < in.Tq; ++i) {
        attention_scores(in, b, h, i, a.data());
        const T l = attention_align(in.align, a.data(), in.Tk);
        if (in.align == Align::softmax) lse[(b * in.H + h) * in.Tq + i] = l;
        if (summary) attention_summarise(in, *summary, b, h, i, a.data());
        T* o = out.at(b, h) + i * out.row;
        std::fill_n(o, in.Dv, T(0));
        for (int64_t j = 0; j < in.Tk; ++j) {
          if (a[j] == 0) continue;
          const T weight = a[j] * attention_keep(in, b, h, i, j);
          const T* v = in.v.at(b, in.key_head(h)) + j * in.v.row;
          for (int64_t d = 0; d < in.Dv; ++d) o[d] += weight * v[d];
        }
      }
    }
  }
}

template <class T>
void attention_clear(const HeadInputs<T>& in, const HeadView<T>& to, int64_t heads, int64_t rows,
                     int64_t cols) {
  for (int64_t b = 0; b < in.B; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t t = 0; t < rows; ++t) std::fill_n(to.at(b, h) + t * to.row, cols, T(0));
    }
  }
}

template <class T>
void attention_backward(const HeadInputs<T>& in, HeadView<const T>, HeadView<const T> dout,
                        const T*, const AttentionGradients<T>& to) {
  attention_clear(in, to.dq, in.H, in.Tq, in.D);
  attention_clear(in, to.dk, in.Hk, in.Tk, in.D);
  attention_clear(in, to.dv, in.Hk, in.Tk, in.Dv);
  if (to.dbias) attention_clear(in, to.dbias, in.H, in.Tq, in.Tk);
  std::vector<T> a(in.Tk), da(in.Tk);
  for (int64_t b = 0; b < in.B; ++b) {
    for (int64_t h = 0; h < in.H; ++h) {
      const int64_t g = in.key_head(h);
      for (int64_t i = 0; i < in.Tq; ++i) {
        attention_scores(in, b, h, i, a.data());
        attention_align(in.align, a.data(), in.Tk);
        const T* q = in.q.at(b, h) + i * in.q.row;
        const T* go = dout.at(b, h) + i * dout.row;
        T* dq = to.dq.at(b, h) + i * to.dq.row;
        T mean = 0;  // sum_j a_ij da_ij
        for (int64_t j = 0; j < in.Tk; ++j) {
          da[j] = 0;
          if (a[j] == 0) continue;
          const T keep = attention_keep(in, b, h, i, j);
          const T* v = in.v.at(b, g) + j * in.v.row;
          T* dv = to.dv.at(b, g) + j * to.dv.row;
          for (int64_t d = 0; d < in.Dv; ++d) {
            dv[d] += a[j] * keep * go[d];
            da[j] += go[d] * v[d] * keep;
          }
          mean += a[j] * da[j];
        }
        for (int64_t j = 0; j < in.Tk; ++j) {
          if (a[j] == 0) continue;
          const T de =
              in.align == Align::softmax ? a[j] * (da[j] - mean) : a[j] * (1 - a[j]) * da[j];
          const T* k = in.k.at(b, g) + j * in.k.row;
          T* dk = to.dk.at(b, g) + j * to.dk.row;
          for (int64_t d = 0; d < in.D; ++d) {
            dq[d] += in.scale * de * k[d];
            dk[d] += in.scale * de * q[d];
          }
          if (to.dbias) to.dbias.at(b, h)[i * to.dbias.row + j] += de;
        }
      }
    }
  }
}

template <class T>
void attention_weights(const HeadInputs<T>& in, const T*, int64_t b, int64_t h, const int32_t* rows,
                       int64_t count, T* weights) {
  for (int64_t r = 0; r < count; ++r) {
    attention_scores(in, b, h, rows[r], weights + r * in.Tk);
    attention_align(in.align, weights + r * in.Tk, in.Tk);
  }
}

}  // namespace fovea::naive
