#include "fovea/attention/engine.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "fovea/attention/position/distance.h"
#include "fovea/attention/prepared.h"
#include "fovea/attention/recorder.h"
#include "fovea/attention/ring.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

void check_memory(const AttentionInputs& in) {
  const std::span<float> to = in.into.memory;
  if (to.empty()) return;
  const int64_t wanted = in.q.dim(0) * in.q.dim(1) * in.q.dim(2) * in.v.dim(3);
  check(static_cast<int64_t>(to.size()) == wanted, "attend: the context has ", wanted,
        " numbers, the memory given for it ", to.size());
  for (const Heads* x : {&in.q, &in.k, &in.v}) {
    check(x->dtype() == Dtype::f32,
          "attend: a context goes into memory given for it in float32 alone");
    const auto from = x->memory().read();
    check(std::less_equal<>()(to.data() + to.size(), from.data()) ||
              std::less_equal<>()(from.data() + from.size(), to.data()),
          "attend: the memory given for the context overlaps that of q, k or v");
  }
}

void check_inputs(const AttentionInputs& in) {
  for (const Heads* x : {&in.q, &in.k, &in.v}) {
    check(x->rank() == 4, "attend: q, k and v need 4 axes [B, T, H, D], got ", in.q.shape(), ", ",
          in.k.shape(), " and ", in.v.shape());
  }
  check(in.q.dim(0) == in.k.dim(0) && in.k.dim(0) == in.v.dim(0),
        "attend: q, k and v need one batch size, got ", in.q.shape(), ", ", in.k.shape(), " and ",
        in.v.shape());
  check(in.k.dim(1) == in.v.dim(1) && in.k.dim(2) == in.v.dim(2),
        "attend: k and v need equal lengths and heads, got ", in.k.shape(), " and ", in.v.shape());
  check(in.k.dim(2) > 0 && in.q.dim(2) % in.k.dim(2) == 0, "attend: ", in.q.dim(2),
        " query heads cannot share ", in.k.dim(2), " key heads in equal groups");
  check(in.dropout >= 0 && in.dropout < 1, "attend: dropout must be in [0, 1), got ", in.dropout);
  check_memory(in);
  const Capture& ask = in.capture;
  if (ask.what != Capture::What::summary) return;
  check(ask.top >= 0 && ask.top <= 32, "capture: a summary keeps 0 to 32 keys a query, got ",
        ask.top);
  check(ask.map_rows >= 1 && ask.map_cols >= 1,
        "capture: a map needs at least one row and column, ", "got ", ask.map_rows, " x ",
        ask.map_cols);
}

bool explains() {
  static const bool on = [] {
    const char* text = std::getenv("FOVEA_EXPLAIN");
    return text && *text && std::string(text) != "0";
  }();
  return on;
}

// Which of n map blocks position i of `all` is in.
int64_t block_of(int64_t i, int64_t all, int64_t n) { return i * n / all; }

template <class T>
void summarise(const PreparedAttention& c, std::span<const T> all, Weights& to) {
  const Capture& ask = c.in.capture;
  const int64_t rows = c.e.B * c.e.H * c.e.Tq, n = c.e.Tk;
  to.top_keys = Tensor::full({c.e.B, c.e.H, c.e.Tq, ask.top}, -1, Dtype::i32);
  to.top_weights = Tensor::zeros({c.e.B, c.e.H, c.e.Tq, ask.top}, dtype_of<T>);
  to.entropy = Tensor::zeros({c.e.B, c.e.H, c.e.Tq}, dtype_of<T>);
  to.map = Tensor::zeros({c.e.B, c.e.H, ask.map_rows, ask.map_cols}, dtype_of<T>);
  auto keys = to.top_keys.write<int32_t>();
  auto weights = to.top_weights.write<T>(), entropy = to.entropy.write<T>(),
       map = to.map.write<T>();
  std::vector<int32_t> order(n);
  std::vector<int64_t> in_block(ask.map_rows);
  for (int64_t i = 0; i < c.e.Tq; ++i) ++in_block[block_of(i, c.e.Tq, ask.map_rows)];
  for (int64_t r = 0; r < rows; ++r) {
    const auto row = all.subspan(r * n, n);
    for (int64_t j = 0; j < n; ++j) order[j] = static_cast<int32_t>(j);
    const int64_t kept = std::min(ask.top, n);
    std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](int32_t x, int32_t y) {
      return row[x] != row[y] ? row[x] > row[y] : x < y;
    });
    for (int64_t t = 0; t < kept && row[order[t]] > 0; ++t) {
      keys[r * ask.top + t] = order[t];
      weights[r * ask.top + t] = row[order[t]];
    }
    const int64_t i = r % c.e.Tq, map_row = block_of(i, c.e.Tq, ask.map_rows);
    for (int64_t j = 0; j < n; ++j) {
      if (row[j] > 0) entropy[r] -= row[j] * std::log(row[j]);
      map[(r / c.e.Tq * ask.map_rows + map_row) * ask.map_cols + block_of(j, n, ask.map_cols)] +=
          row[j] / static_cast<T>(in_block[map_row]);
    }
  }
}

// The kernels walk down diagonals as they do along rows, as long as all queries share them and
// there is no other bias; else the distances become a bias for every pair.
void settle_bias(PreparedAttention& c, bool diagonals) {
  const Tensor& d = c.in.distances;
  c.bias = c.in.bias;
  if (!c.form.more.empty()) c.bias = c.bias.empty() ? c.form.more : c.form.more + c.bias;
  if (d.empty()) return;
  c.by_diagonal = diagonals && c.bias.empty() && d.rank() == 4 && d.dim(2) == 1 && c.e.Tq > 0 &&
                  fused_declines(c).empty();
  if (c.by_diagonal) {
    for (int axis : {0, 1}) {
      const int64_t n = d.dim(axis);
      check(n == 1 || n == (axis == 0 ? c.e.B : c.e.H), "attend: distances ", d.shape(),
            " do not broadcast to ", c.e.B, " batch entries and ", c.e.H, " heads");
    }
    c.bias = by_distance(d, 1, c.e.Tq + c.e.Tk - 1, c.in.offset + c.e.Tq - 1);
    return;
  }
  const Tensor pairs = by_distance(d, c.e.Tq, c.e.Tk, c.in.offset);
  c.bias = c.bias.empty() ? pairs : pairs + c.bias;
}

}  // namespace

PreparedAttention prepare(const AttentionInputs& in, const Score& score, const Alignment& align,
                          bool diagonals) {
  check_inputs(in);
  PreparedAttention c{.in = in,
                      .align = align,
                      .e = {in.q.dim(0), in.q.dim(2), in.q.dim(1), in.k.dim(1)},
                      .Hk = in.k.dim(2),
                      .form = score(in.q, in.k)};
  check(c.form.q.dim(-1) == c.form.k.dim(-1), "attend: q and k need equal feature sizes, got ",
        c.form.q.shape(), " and ", c.form.k.shape());
  Pattern who = in.who;
  if (align.start) {
    c.start = align.start(in, c.e);
    who = who & c.start.who;
  }
  c.who = who.resolve(c.e);
  settle_bias(c, diagonals && !c.who->edges);
  if (Random* random = Tape::random(); random && in.dropout > 0) {
    c.dropout = in.dropout;
    c.seed = random->bits64();
  }
  return c;
}

std::vector<int32_t> asked_queries(const PreparedAttention& c) {
  std::vector<int32_t> queries = c.in.capture.queries;
  if (queries.empty()) {
    for (int64_t i = 0; i < c.e.Tq; ++i) queries.push_back(static_cast<int32_t>(i));
  }
  for (int32_t i : queries) check(i >= 0 && i < c.e.Tq, "capture: there is no query ", i);
  return queries;
}

Weights captured(const PreparedAttention& c, const Tensor& all) {
  Weights w;
  if (c.wants(Capture::What::nothing)) return w;
  with_real(all.dtype(), [&]<class T>(T) {
    const auto from = all.read<T>();
    if (c.wants(Capture::What::summary)) return summarise<T>(c, from, w);
    const std::vector<int32_t> queries = asked_queries(c);
    const auto count = static_cast<int64_t>(queries.size());
    w.rows = Tensor({c.e.B, c.e.H, count, c.e.Tk}, all.dtype());
    auto to = w.rows.write<T>();
    for (int64_t bh = 0; bh < c.e.B * c.e.H; ++bh) {
      for (int64_t r = 0; r < count; ++r) {
        std::copy_n(&from[(bh * c.e.Tq + queries[r]) * c.e.Tk], c.e.Tk,
                    &to[(bh * count + r) * c.e.Tk]);
      }
    }
  });
  return w;
}

AttentionOutput attend_unrecorded(const AttentionInputs& in, const Score& score,
                                  const Alignment& align) {
  const PreparedAttention call = prepare(in, score, align, true);
  struct Path {
    const char* name;
    std::string (*declines)(const PreparedAttention&);
    AttentionOutput (*attend)(const PreparedAttention&);
    bool writes_into;  // the memory that the caller gave for the context
  };
  const auto put = [&in](AttentionOutput out) {
    const ContextMemory& into = in.into;
    if (into.head_major) out.context = permute(out.context, {0, 2, 1, 3});
    if (!into.memory.empty()) std::ranges::copy(out.context.read(), into.memory.begin());
    return out;
  };
  static constexpr Path paths[] = {{"edges", edges_declines, attend_edges, false},
                                   {"fused", fused_declines, attend_fused, true},
                                   {"rows", rows_declines, attend_rows, true}};
  std::string why;
  for (const Path& path : paths) {
    const std::string no = path.declines(call);
    if (!no.empty()) {
      why = no;
      continue;
    }
    if (explains()) std::fprintf(stderr, "attend: %s %s\n", path.name, why.c_str());
    return path.writes_into ? path.attend(call) : put(path.attend(call));
  }
  if (explains()) std::fprintf(stderr, "attend: plain %s\n", why.c_str());
  return put(attend_plain(call));
}

AttentionOutput attend(const AttentionInputs& in, const Score& score, const Alignment& align) {
  if (SequenceRing* ring = SequenceRing::current()) return attend_on_ring(*ring, in, score, align);
  Recorder* recorder = Recorder::current();
  // What asks for weights with a gradient has them all.
  if (recorder && in.capture.what == Capture::What::with_gradient) {
    AttentionOutput out = attend_unrecorded(in, score, align);
    Weights kept;
    kept.rows = out.weights.rows;
    recorder->keep(in.name, std::move(kept));
    return out;
  }
  if (!recorder || in.capture.what != Capture::What::nothing) {
    return attend_unrecorded(in, score, align);
  }
  AttentionInputs watched = in;
  watched.capture = recorder->capture();
  AttentionOutput out = attend_unrecorded(watched, score, align);
  recorder->keep(in.name, std::move(out.weights));
  out.weights = {};
  return out;
}

}  // namespace fovea
