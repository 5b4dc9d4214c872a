// The engine's way into the kernels for lists of edges.
#include <cmath>

#include "fovea/attention/saved.h"
#include "fovea/kernel/attention_edges.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

// A bias for every pair, cut down to the edges: [1 or B, 1 or H, E]. Its gradient goes back to the
// pairs.
Tensor bias_of_edges(const Tensor& bias, const PreparedAttention& c) {
  const EdgePattern& edges = *c.who->edges;
  const int64_t Tq = c.e.Tq, E = edges.edges;
  Shape four;
  for (int axis = -4; axis < 0; ++axis) {
    four.push_back(-axis <= bias.rank() ? bias.dim(axis) : 1);
  }
  const Shape full{c.e.B, c.e.H, c.e.Tq, c.e.Tk};
  for (int axis = 0; axis < 4; ++axis) {
    check(four[axis] == full[axis] || four[axis] == 1, "attend: a bias ", bias.shape(),
          " does not broadcast to [batch, heads, queries, keys] = ", full);
  }
  const int64_t batches = std::max(four[0], edges.batches), heads = std::max(four[1], edges.heads);
  // f(place among the edges' numbers, place in the bias) for every edge.
  const auto walk = [who = c.who, four, batches, heads, Tq, E](const auto& f) {
    for (int64_t b = 0; b < batches; ++b) {
      for (int64_t h = 0; h < heads; ++h) {
        int64_t n = (b * heads + h) * E;
        for (int64_t i = 0; i < Tq; ++i) {
          for (int32_t j : who->edges->keys_of(who->edges->set(b, h), i, Tq)) {
            const int64_t plane = (b % four[0]) * four[1] + h % four[1];
            f(n++, (plane * four[2] + i % four[2]) * four[3] + j % four[3]);
          }
        }
      }
    }
  };
  Tensor y = Tensor::zeros({batches, heads, E});
  {
    auto to = y.write();
    const auto from = bias.read();
    walk([&](int64_t n, int64_t at) { to[n] = from[at]; });
  }
  return record("bias_of_edges", {bias}, y,
                [walk, shape = bias.shape()](const Tensor& dy, InputGradients& dx) {
                  Tensor g = Tensor::zeros(shape);
                  auto to = g.write();
                  const auto from = dy.read();
                  walk([&](int64_t n, int64_t at) { to[at] += from[n]; });
                  dx.add(0, g);
                });
}

// What a backward pass needs.
struct SavedEdges {
  Extent e;
  int64_t Hk;
  Heads q, k, v;
  Tensor bias, w;
  float scale;
  ScoreMap map;
  std::shared_ptr<const ResolvedPattern> who;
  kernel::WeightDropout dropout;
  RowAlignment align;

  explicit SavedEdges(const PreparedAttention& c)
      : e(c.e),
        Hk(c.Hk),
        q(c.form.q.to_record()),
        k(c.form.k.to_record()),
        v(c.in.v.to_record()),
        bias(c.bias.empty() ? Tensor() : bias_of_edges(c.bias, c)),
        w(c.form.w),
        scale(static_cast<float>(c.form.scale)),
        map(c.form.map),
        who(c.who),
        dropout{static_cast<float>(c.dropout), c.seed},
        align(*c.align.rows) {}

  kernel::EdgesInputs view() const {
    kernel::EdgesInputs in;
    in.base.B = e.B, in.base.H = e.H, in.base.Hk = Hk, in.base.Tq = e.Tq, in.base.Tk = e.Tk;
    in.base.D = q.dim(3), in.base.Dv = v.dim(3);
    in.base.scale = scale;
    in.base.q = q.view(), in.base.k = k.view(), in.base.v = v.view();
    in.base.dropout = dropout;
    const EdgePattern& l = *who->edges;
    in.lists = {.edges = l.edges,
                .offsets = l.offsets.data(),
                .keys = l.keys.data(),
                .key_offsets = l.key_offsets.data(),
                .key_edges = l.key_edges.data(),
                .key_queries = l.key_queries.data(),
                .batch = l.batches == 1 ? 0 : l.heads,
                .head = l.heads == 1 ? 0 : 1};
    in.map = map;
    if (!w.empty()) in.w = w.read().data(), in.w_head = w.rank() == 2 ? w.dim(1) : 0;
    if (!bias.empty()) in.bias = of_edges<const float>(bias.read().data(), bias.shape());
    in.align = align.align;
    in.alpha = align.alpha;
    in.given = align.given;
    return in;
  }
  template <class T>
  static kernel::EdgeView<T> of_edges(T* data, const Shape& s) {
    return {data, s[0] == 1 ? 0 : s[1] * s[2], s[1] == 1 ? 0 : s[2]};
  }

  void backward(kernel::HeadView<const float> dout, kernel::EdgeView<const float> dweights,
                InputGradients& dx) const {
    Tensor dq(q.memory().shape()), dk(k.memory().shape()), dv(v.memory().shape()), dbias, dw;
    kernel::EdgesGradients to{q.over(dq.write().data()), k.over(dk.write().data()),
                              v.over(dv.write().data())};
    if (!bias.empty() && dx.wants(3)) {
      dbias = Tensor(bias.shape());
      to.dbias = of_edges<float>(dbias.write().data(), dbias.shape());
    }
    if (!w.empty()) {
      dw = Tensor(w.shape());
      to.dw = dw.write().data();
    }
    kernel::attention_edges_backward(view(), dout, to, dweights);
    dx.add(0, dq);
    dx.add(1, dk);
    dx.add(2, dv);
    if (!dbias.empty()) dx.add(3, dbias);
    if (!dw.empty()) dx.add(4, dw);
  }
};

// (query, key) of the edges, where all batch entries and heads have the same.
Tensor edge_list(const PreparedAttention& c) {
  const EdgePattern& l = *c.who->edges;
  if (l.sets() > 1) return {};
  Tensor list({l.edges, 2}, Dtype::i32);
  auto to = list.write<int32_t>().begin();
  for (int64_t i = 0; i < c.e.Tq; ++i) {
    for (int32_t j : l.keys_of(0, i, c.e.Tq)) *to++ = static_cast<int32_t>(i), *to++ = j;
  }
  return list;
}

// f(b, h, row of the weights, i, its keys, their weights) for every query.
template <class F>
void each_row(const PreparedAttention& c, const Tensor& weights, const F& f) {
  const EdgePattern& l = *c.who->edges;
  for (int64_t b = 0; b < c.e.B; ++b) {
    for (int64_t h = 0; h < c.e.H; ++h) {
      const float* at = weights.read().data() + (b * c.e.H + h) * l.edges;
      for (int64_t i = 0; i < c.e.Tq; ++i) {
        const auto keys = l.keys_of(l.set(b, h), i, c.e.Tq);
        f(b, h, i, keys, std::span(at, keys.size()));
        at += keys.size();
      }
    }
  }
}

// Rows of weights where there are few enough to keep, or where they were asked for by name.
Tensor rows_of_edges(const PreparedAttention& c, const Tensor& weights) {
  constexpr int64_t few = 1 << 22;
  if (c.in.capture.queries.empty() && c.e.Tq * c.e.Tk > few) return {};
  const auto queries = asked_queries(c);
  const auto count = static_cast<int64_t>(queries.size());
  std::vector<int64_t> place(static_cast<size_t>(c.e.Tq), -1);
  for (int64_t r = 0; r < count; ++r)
    place[static_cast<size_t>(queries[static_cast<size_t>(r)])] = r;
  Tensor rows = Tensor::zeros({c.e.B, c.e.H, count, c.e.Tk});
  auto to = rows.write();
  each_row(c, weights, [&](int64_t b, int64_t h, int64_t i, auto keys, auto a) {
    const int64_t r = place[static_cast<size_t>(i)];
    if (r < 0) return;
    for (size_t n = 0; n < keys.size(); ++n) {
      to[static_cast<size_t>(((b * c.e.H + h) * count + r) * c.e.Tk + keys[n])] = a[n];
    }
  });
  return rows;
}

void summarise_edges(const PreparedAttention& c, const Tensor& weights, Weights& w) {
  const Capture& ask = c.in.capture;
  const int64_t B = c.e.B, H = c.e.H, Tq = c.e.Tq, top = ask.top;
  w.top_keys = Tensor::full({B, H, Tq, top}, -1, Dtype::i32);
  w.top_weights = Tensor::zeros({B, H, Tq, top});
  w.entropy = Tensor::zeros({B, H, Tq});
  w.map = Tensor::zeros({B, H, ask.map_rows, ask.map_cols});
  auto top_keys = w.top_keys.write<int32_t>();
  auto top_weights = w.top_weights.write(), entropy = w.entropy.write(), map = w.map.write();
  std::vector<int64_t> in_block(static_cast<size_t>(ask.map_rows));
  for (int64_t i = 0; i < Tq; ++i) ++in_block[static_cast<size_t>(i * ask.map_rows / Tq)];
  std::vector<size_t> order;
  each_row(c, weights, [&](int64_t b, int64_t h, int64_t i, auto keys, auto a) {
    const int64_t row = (b * H + h) * Tq + i, block = i * ask.map_rows / Tq;
    order.resize(keys.size());
    for (size_t n = 0; n < order.size(); ++n) order[n] = n;
    const auto kept = std::min(static_cast<size_t>(top), order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept), order.end(),
                      [&](size_t x, size_t y) { return a[x] != a[y] ? a[x] > a[y] : x < y; });
    for (size_t n = 0; n < kept && a[order[n]] > 0; ++n) {
      top_keys[static_cast<size_t>(row * top) + n] = keys[order[n]];
      top_weights[static_cast<size_t>(row * top) + n] = a[order[n]];
    }
    for (size_t n = 0; n < keys.size(); ++n) {
      if (a[n] > 0) entropy[static_cast<size_t>(row)] -= a[n] * std::log(a[n]);
      const int64_t col = keys[n] * ask.map_cols / c.e.Tk;
      map[static_cast<size_t>(((b * H + h) * ask.map_rows + block) * ask.map_cols + col)] +=
          a[n] / static_cast<float>(in_block[static_cast<size_t>(block)]);
    }
  });
}

}  // namespace

std::string edges_declines(const PreparedAttention& c) {
  if (!c.who->edges) return "the pattern is no list of edges";
  if (c.form.q.dtype() != Dtype::f32) return "the kernels are for float32";
  if (!c.align.rows || c.align.rows->align == kernel::RowAlign::local) {
    return "this alignment goes by places or is made of ops";
  }
  if (!c.form.w.empty() && c.form.map == ScoreMap::distance) {
    return "no kernel for an additive score over distances";
  }
  return "";
}

AttentionOutput attend_edges(const PreparedAttention& c) {
  const SavedEdges saved(c);
  const int64_t E = c.who->edges->edges;
  AttentionOutput out;
  out.log_probability = c.start.log_probability;
  Tensor context({c.e.B, c.e.Tq, c.e.H, c.in.v.dim(3)}), weights;
  kernel::EdgeView<float> to_weights;
  if (!c.wants(Capture::What::nothing)) {
    weights = Tensor({c.e.B, c.e.H, E});
    to_weights = SavedEdges::of_edges<float>(weights.write().data(), weights.shape());
  }
  kernel::attention_edges_forward(saved.view(), heads_of(context), to_weights);
  out.context = record(
      "attention_edges",
      {saved.q.memory(), saved.k.memory(), saved.v.memory(), saved.bias, saved.w}, context,
      [saved](const Tensor& dy, InputGradients& dx) { saved.backward(heads_of(dy), {}, dx); });
  if (weights.empty()) return out;
  if (c.wants(Capture::What::rows)) out.weights.rows = rows_of_edges(c, weights);
  if (c.wants(Capture::What::summary)) summarise_edges(c, weights, out.weights);
  out.weights.edges = edge_list(c);
  out.weights.edge_weights = weights;
  if (!c.wants(Capture::What::with_gradient)) return out;
  out.weights.edge_weights = record(
      "edge_weights", {saved.q.memory(), saved.k.memory(), saved.v.memory(), saved.bias, saved.w},
      weights, [saved](const Tensor& da, InputGradients& dx) {
        saved.backward({}, SavedEdges::of_edges<const float>(da.read().data(), da.shape()), dx);
      });
  return out;
}

}  // namespace fovea
