// kernel/attention_rows.h again as plain loops in any scalar, from the same float32 inputs: the
// oracle. It takes the equations in the order they are written.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "fovea/kernel/attention_rows.h"
#include "fovea/kernel/naive/align.h"
#include "fovea/kernel/naive/attention.h"

namespace fovea::naive {

using kernel::RowAlign;
using kernel::ScoreMap;

// A function of one number with its slope.
template <class T>
struct Mapped {
  T value, slope;
};

template <class T>
Mapped<T> mapped(ScoreMap map, T x) {
  switch (map) {
    case ScoreMap::none:
      return {x, 1};
    case ScoreMap::tanh:
      return {std::tanh(x), 1 - std::tanh(x) * std::tanh(x)};
    case ScoreMap::sigmoid: {
      const T y = 1 / (1 + std::exp(-x));
      return {y, y * (1 - y)};
    }
    case ScoreMap::relu:
      return {x > 0 ? x : 0, T(x > 0)};
    case ScoreMap::leaky_relu: {
      const T slope = x > 0 ? T(1) : T(kernel::leaky_slope);
      return {slope * x, slope};
    }
    case ScoreMap::distance:
      return {-std::sqrt(x + T(1e-12)), T(-0.5) / std::sqrt(x + T(1e-12))};
  }
  return {x, 1};
}

// The score of one query and one key.
template <class T>
struct PairScore {
  ScoreMap map;
  const float* w;  // null: no additive score
  T scale;
  int64_t D;

  // What the map is taken of, but for additive scores.
  T inner(const float* q, const float* k) const {
    T sum = 0;
    for (int64_t d = 0; d < D; ++d) {
      const T x = q[d], y = k[d];
      sum += map == ScoreMap::distance ? (x - y) * (x - y) : scale * x * y;
    }
    return sum;
  }
  T operator()(const float* q, const float* k) const {
    if (!w) return mapped(map, inner(q, k)).value;
    T sum = 0;
    for (int64_t d = 0; d < D; ++d) sum += w[d] * mapped(map, T(q[d]) + T(k[d])).value;
    return sum;
  }
  // Adds what a gradient de of the score is to query, key and w.
  void back(T de, const float* q, const float* k, T* dq, T* dk, T* dw) const {
    const T slope = w ? T(0) : mapped(map, inner(q, k)).slope * de;
    for (int64_t d = 0; d < D; ++d) {
      const T x = q[d], y = k[d];
      if (w) {
        const Mapped<T> act = mapped(map, x + y);
        dq[d] += de * w[d] * act.slope;
        dk[d] += de * w[d] * act.slope;
        dw[d] += de * act.value;
      } else {
        dq[d] += slope * (map == ScoreMap::distance ? 2 * (x - y) : scale * y);
        dk[d] += slope * (map == ScoreMap::distance ? 2 * (y - x) : scale * x);
      }
    }
  }
};

// One row from scores to weights, and its gradient from that of the weights to that of the scores.
template <class T>
struct RowAlignment {
  std::function<void(T* e, int64_t n)> forward;
  std::function<void(const T* a, T* g, int64_t n)> backward;
};

// The softmax for local alignment, whose bell is not part of it; nothing for given alignments.
template <class T>
RowAlignment<T> row_alignment(RowAlign align, double alpha) {
  switch (align) {
    case RowAlign::softmax:
    case RowAlign::local:
      return {[](T* e, int64_t n) { attention_align(Align::softmax, e, n); },
              [](const T* a, T* g, int64_t n) {
                T mean = 0;
                for (int64_t j = 0; j < n; ++j) mean += a[j] * g[j];
                for (int64_t j = 0; j < n; ++j) g[j] = a[j] * (g[j] - mean);
              }};
    case RowAlign::sigmoid:
      return {[](T* e, int64_t n) { attention_align(Align::sigmoid, e, n); },
              [](const T* a, T* g, int64_t n) {
                for (int64_t j = 0; j < n; ++j) g[j] *= a[j] * (1 - a[j]);
              }};
    case RowAlign::entmax:
      return {[alpha](T* e, int64_t n) {
                const std::vector<T> z(e, e + n);
                std::vector<T> room(n);
                entmax_row(e, z.data(), n, alpha, room.data());
              },
              [alpha](const T* a, T* g, int64_t n) {
                const std::vector<T> dp(g, g + n);
                entmax_row_grad(g, dp.data(), a, n, alpha);
              }};
    case RowAlign::given:
      break;
  }
  return {};
}

template <class T>
struct RowsTwin {
  std::vector<T> out, weights;   // [B, Tq, H, Dv], [B, H, Tq, Tk] before dropout
  std::vector<T> dq, dk, dv;     // [B, Tq, H, D], [B, Tk, Hk, D], [B, Tk, Hk, Dv]
  std::vector<T> dbias, dw, dp;  // [B, H, Tq, Tk], [D], [B, H, Tq]
};

// Forward and backward. dout: [B, Tq, H, Dv], may be null; dweights: [B, H, Tq, Tk], may be null.
// `align` stands in for an alignment given from outside.
template <class T>
RowsTwin<T> attention_rows(const kernel::RowsInputs& rows, const float* dout, const float* dweights,
                           RowAlignment<T> align = {}) {
  const HeadInputs<float>& in = rows.base;
  if (!align.forward) align = row_alignment<T>(rows.align, rows.alpha);
  const PairScore<T> score{rows.map, rows.w, in.scale, in.D};
  const bool local = rows.align == RowAlign::local;
  RowsTwin<T> to;
  const int64_t pairs = in.B * in.H * in.Tq * in.Tk;
  to.out.assign(in.B * in.Tq * in.H * in.Dv, 0), to.weights.assign(pairs, 0);
  to.dq.assign(in.B * in.Tq * in.H * in.D, 0), to.dk.assign(in.B * in.Tk * in.Hk * in.D, 0);
  to.dv.assign(in.B * in.Tk * in.Hk * in.Dv, 0), to.dbias.assign(pairs, 0);
  to.dw.assign(in.D, 0), to.dp.assign(in.B * in.H * in.Tq, 0);
  std::vector<T> p(in.Tk), g(in.Tk), bell(in.Tk, 1), away(in.Tk, 0);
  for (int64_t row = 0; row < in.B * in.H * in.Tq; ++row) {
    const int64_t b = row / in.Tq / in.H, h = row / in.Tq % in.H, i = row % in.Tq;
    const int64_t kh = in.key_head(h), query = (b * in.Tq + i) * in.H + h;
    const float* q = in.q.at(b, h) + i * in.q.row;
    T* a = to.weights.data() + row * in.Tk;
    for (int64_t j = 0; j < in.Tk; ++j) {
      const bool may = j >= in.lo(b, h, i) && j < in.hi(b, h, i) &&
                       (!in.mask || in.mask.at(b, h)[i * in.mask.row + j]);
      p[j] = may ? score(q, in.k.at(b, kh) + j * in.k.row) +
                       (in.bias ? in.bias.at(b, h)[i * in.bias.row + j] : T(0))
                 : -std::numeric_limits<T>::infinity();
      if (!local) continue;
      away[j] = static_cast<T>(j) - T(rows.centers.at(b, h)[i * rows.centers.row]);
      bell[j] = std::exp(-away[j] * away[j] / (2 * T(rows.sigma) * T(rows.sigma)));
    }
    bool dead = true;
    for (int64_t j = 0; j < in.Tk; ++j) dead = dead && std::isinf(p[j]);
    align.forward(p.data(), in.Tk);
    if (dead) std::fill(p.begin(), p.end(), T(0));
    for (int64_t j = 0; j < in.Tk; ++j) {
      a[j] = p[j] * bell[j];
      const T keep = attention_keep(in, b, h, i, j);
      const int64_t key = (b * in.Tk + j) * in.Hk + kh;
      g[j] = 0;
      for (int64_t d = 0; d < in.Dv; ++d) {
        const T v = in.v.at(b, kh)[j * in.v.row + d], go = dout ? dout[query * in.Dv + d] : T(0);
        to.out[query * in.Dv + d] += a[j] * keep * v;
        to.dv[key * in.Dv + d] += a[j] * keep * go;
        g[j] += keep * go * v;
      }
      if (dweights) g[j] += dweights[row * in.Tk + j];
      to.dp[row] += a[j] * g[j] * away[j] / (T(rows.sigma) * T(rows.sigma));
      g[j] *= bell[j];
    }
    align.backward(p.data(), g.data(), in.Tk);
    if (dead) std::fill(g.begin(), g.end(), T(0));
    for (int64_t j = 0; j < in.Tk; ++j) {
      to.dbias[row * in.Tk + j] = g[j];
      if (g[j] == 0) continue;
      const int64_t key = (b * in.Tk + j) * in.Hk + kh;
      score.back(g[j], q, in.k.at(b, kh) + j * in.k.row, &to.dq[query * in.D], &to.dk[key * in.D],
                 to.dw.data());
    }
  }
  return to;
}

}  // namespace fovea::naive
