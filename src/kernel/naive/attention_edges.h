// kernel/attention_edges.h again as plain loops in any scalar, from the same float32 inputs: the
// oracle.
#pragma once

#include <vector>

#include "fovea/kernel/attention_edges.h"
#include "fovea/kernel/naive/attention_rows.h"

namespace fovea::naive {

template <class T>
struct EdgesTwin {
  std::vector<T> out, weights;  // [B, Tq, H, Dv], [B, H, E] before dropout
  std::vector<T> dq, dk, dv;    // [B, Tq, H, D], [B, Tk, Hk, D], [B, Tk, Hk, Dv]
  std::vector<T> dbias, dw;     // [B, H, E], [H, D]
};

// Forward and backward. dout: [B, Tq, H, Dv], may be null; dweights: [B, H, E], may be null.
// `align` stands in for an alignment given from outside.
template <class T>
EdgesTwin<T> attention_edges(const kernel::EdgesInputs& all, const float* dout,
                             const float* dweights, RowAlignment<T> align = {}) {
  const HeadInputs<float>& in = all.base;
  const int64_t E = all.lists.edges;
  if (!align.forward) align = row_alignment<T>(all.align, all.alpha);
  EdgesTwin<T> to;
  to.out.assign(in.B * in.Tq * in.H * in.Dv, 0), to.weights.assign(in.B * in.H * E, 0);
  to.dq.assign(in.B * in.Tq * in.H * in.D, 0), to.dk.assign(in.B * in.Tk * in.Hk * in.D, 0);
  to.dv.assign(in.B * in.Tk * in.Hk * in.Dv, 0), to.dbias.assign(in.B * in.H * E, 0);
  to.dw.assign(in.H * in.D, 0);
  for (int64_t row = 0; row < in.B * in.H * in.Tq; ++row) {
    const int64_t b = row / in.Tq / in.H, h = row / in.Tq % in.H, i = row % in.Tq;
    const int64_t kh = in.key_head(h), query = (b * in.Tq + i) * in.H + h;
    const int64_t set = all.lists.set(b, h), first = all.lists.offsets[set * (in.Tq + 1) + i];
    const int64_t n = all.lists.offsets[set * (in.Tq + 1) + i + 1] - first;
    if (n == 0) continue;
    const int32_t* keys = all.lists.keys + set * E + first;
    const PairScore<T> score{all.map, all.w ? all.w + h * all.w_head : nullptr, in.scale, in.D};
    const float* q = in.q.at(b, h) + i * in.q.row;
    T* a = to.weights.data() + (b * in.H + h) * E + first;
    T* g = to.dbias.data() + (b * in.H + h) * E + first;
    bool dead = true;
    for (int64_t e = 0; e < n; ++e) {
      a[e] = score(q, in.k.at(b, kh) + keys[e] * in.k.row);
      if (all.bias) a[e] += all.bias.at(b, h)[first + e];
      dead = dead && std::isinf(a[e]);
    }
    align.forward(a, n);
    if (dead) std::fill_n(a, n, T(0));
    for (int64_t e = 0; e < n; ++e) {
      const T keep = attention_keep(in, b, h, i, keys[e]);
      const int64_t key = (b * in.Tk + keys[e]) * in.Hk + kh;
      for (int64_t d = 0; d < in.Dv; ++d) {
        const T v = in.v.at(b, kh)[keys[e] * in.v.row + d];
        const T go = dout ? dout[query * in.Dv + d] : T(0);
        to.out[query * in.Dv + d] += a[e] * keep * v;
        to.dv[key * in.Dv + d] += a[e] * keep * go;
        g[e] += keep * go * v;
      }
      if (dweights) g[e] += dweights[(b * in.H + h) * E + first + e];
    }
    align.backward(a, g, n);
    if (dead) std::fill_n(g, n, T(0));
    for (int64_t e = 0; e < n; ++e) {
      const int64_t key = (b * in.Tk + keys[e]) * in.Hk + kh;
      score.back(g[e], q, in.k.at(b, kh) + keys[e] * in.k.row, &to.dq[query * in.D],
                 &to.dk[key * in.D], &to.dw[h * in.D]);
    }
  }
  return to;
}

}  // namespace fovea::naive
