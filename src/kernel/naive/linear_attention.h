// Plain twin of kernel/linear_attention: every pair by itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/kernel/linear_attention.h"

namespace fovea::naive {

using kernel::HeadView;
using kernel::LinearInputs;
using kernel::LinearStretch;

template <class T>
T linear_feature(const LinearInputs<T>& in, T x) {
  if (!in.elu) return x;
  return x > 0 ? x + 1 : std::exp(x);
}
template <class T>
T linear_feature_slope(const LinearInputs<T>& in, T x) {
  return in.elu && x <= 0 ? std::exp(x) : T(1);
}
inline int64_t last_key(const LinearStretch& s, int64_t i) {
  return s.causal ? std::max(s.k0, s.k1 - (s.q1 - 1 - i)) : s.k1;
}

// f(head, query, key, weight before it is divided) for every pair of a stretch.
template <class T, class F>
void each_linear_pair(const LinearInputs<T>& in, const F& f) {
  for (int64_t n = 0; n < in.count; ++n) {
    const LinearStretch& s = in.stretches[n];
    for (int64_t h = 0; h < in.H; ++h) {
      for (int64_t i = s.q0; i < s.q1; ++i) {
        for (int64_t j = s.k0; j < last_key(s, i); ++j) {
          const T *q = in.q.at(s.b, h) + i * in.q.row, *k = in.k.at(s.b, h) + j * in.k.row;
          T a = 0;
          for (int64_t m = 0; m < in.M; ++m) {
            a += linear_feature(in, q[m]) * linear_feature(in, k[m]);
          }
          f(s.b, h, i, j, a);
        }
      }
    }
  }
}

template <class T>
void linear_attention_forward(const LinearInputs<T>& in, HeadView<T> out, T* den, T*) {
  for (int64_t n = 0; n < in.count; ++n) {
    const LinearStretch& s = in.stretches[n];
    for (int64_t h = 0; h < in.H; ++h) {
      for (int64_t i = s.q0; i < s.q1; ++i) {
        den[(s.b * in.H + h) * in.Tq + i] = 0;
        std::fill_n(out.at(s.b, h) + i * out.row, in.Dv, T(0));
      }
    }
  }
  each_linear_pair(in, [&](int64_t b, int64_t h, int64_t i, int64_t j, T a) {
    den[(b * in.H + h) * in.Tq + i] += a;
    for (int64_t d = 0; d < in.Dv; ++d) {
      (out.at(b, h) + i * out.row)[d] += a * (in.v.at(b, h) + j * in.v.row)[d];
    }
  });
  for (int64_t n = 0; n < in.count; ++n) {
    const LinearStretch& s = in.stretches[n];
    for (int64_t h = 0; h < in.H; ++h) {
      for (int64_t i = s.q0; i < s.q1; ++i) {
        T& sum = den[(s.b * in.H + h) * in.Tq + i];
        sum = std::max(sum, T(kernel::linear_least));
        for (int64_t d = 0; d < in.Dv; ++d) (out.at(s.b, h) + i * out.row)[d] /= sum;
      }
    }
  }
}

template <class T>
void linear_attention_backward(const LinearInputs<T>& in, HeadView<const T> out,
                               HeadView<const T> dout, const T* den, const T*, T*, HeadView<T> dq,
                               HeadView<T> dk, HeadView<T> dv) {
  const auto clear = [&](HeadView<T> x, int64_t rows, int64_t width) {
    for (int64_t b = 0; b < in.B; ++b) {
      for (int64_t h = 0; h < in.H; ++h) {
        for (int64_t i = 0; i < rows; ++i) std::fill_n(x.at(b, h) + i * x.row, width, T(0));
      }
    }
  };
  clear(dq, in.Tq, in.M), clear(dk, in.Tk, in.M), clear(dv, in.Tk, in.Dv);
  each_linear_pair(in, [&](int64_t b, int64_t h, int64_t i, int64_t j, T a) {
    const T sum = den[(b * in.H + h) * in.Tq + i];
    const T *g = dout.at(b, h) + i * dout.row, *o = out.at(b, h) + i * out.row;
    const T* v = in.v.at(b, h) + j * in.v.row;
    T da = 0;  // of the weight before it is divided
    for (int64_t d = 0; d < in.Dv; ++d) {
      da += g[d] * (v[d] - o[d]) / sum;
      (dv.at(b, h) + j * dv.row)[d] += a / sum * g[d];
    }
    const T *q = in.q.at(b, h) + i * in.q.row, *k = in.k.at(b, h) + j * in.k.row;
    for (int64_t m = 0; m < in.M; ++m) {
      (dq.at(b, h) + i * dq.row)[m] +=
          da * linear_feature(in, k[m]) * linear_feature_slope(in, q[m]);
      (dk.at(b, h) + j * dk.row)[m] +=
          da * linear_feature(in, q[m]) * linear_feature_slope(in, k[m]);
    }
  });
}

}  // namespace fovea::naive
