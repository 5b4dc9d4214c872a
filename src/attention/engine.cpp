#include "fovea/attention/engine.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "fovea/attention/call.h"
#include "fovea/attention/position/distance.h"
#include "fovea/attention/recorder.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

void check_inputs(const AttentionInputs& in, const Alignment& align) {
  for (const Tensor* x : {&in.q, &in.k, &in.v}) {
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
  const bool draws = in.dropout > 0 || align.kind == Alignment::Kind::hard ||
                     align.kind == Alignment::Kind::reinforced;
  check(!draws || !Tape::current() || in.random, "attend: dropout and alignments that draw need a ",
        "random stream (AttentionInputs::random)");
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
void summarise(const Call& c, std::span<const T> all, Weights& to) {
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
void settle_bias(Call& c, bool diagonals) {
  const Tensor& d = c.in.distances;
  c.bias = c.in.bias;
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

Call prepare(const AttentionInputs& in, const Score& score, const Alignment& align,
             bool diagonals) {
  check_inputs(in, align);
  Call c{.in = in,
         .align = align,
         .e = {in.q.dim(0), in.q.dim(2), in.q.dim(1), in.k.dim(1)},
         .Hk = in.k.dim(2),
         .form = score(in.q, in.k)};
  check(c.form.q.dim(-1) == c.form.k.dim(-1), "attend: q and k need equal feature sizes, got ",
        c.form.q.shape(), " and ", c.form.k.shape());
  settle_bias(c, diagonals);
  Pattern who = in.who;
  if (align.kind == Alignment::Kind::local) {
    c.center = convert(align.center(in.q, c.e.Tk), Dtype::f64);
    who = who & around(c.center, align.reach);
  }
  c.who = who.resolve(c.e);
  if (in.dropout > 0 && Tape::current()) {
    c.dropout = in.dropout;
    c.seed = in.random->bits64();
  }
  return c;
}

Weights captured(const Call& c, const Tensor& all) {
  Weights w;
  if (c.in.capture.what == Capture::What::nothing) return w;
  with_real(all.dtype(), [&]<class T>(T) {
    const auto from = all.read<T>();
    if (c.in.capture.what == Capture::What::summary) return summarise<T>(c, from, w);
    std::vector<int32_t> queries = c.in.capture.queries;
    if (queries.empty()) {
      for (int64_t i = 0; i < c.e.Tq; ++i) queries.push_back(static_cast<int32_t>(i));
    }
    const auto count = static_cast<int64_t>(queries.size());
    w.rows = Tensor({c.e.B, c.e.H, count, c.e.Tk}, all.dtype());
    auto to = w.rows.write<T>();
    for (int64_t bh = 0; bh < c.e.B * c.e.H; ++bh) {
      for (int64_t r = 0; r < count; ++r) {
        check(queries[r] >= 0 && queries[r] < c.e.Tq, "capture: there is no query ", queries[r]);
        std::copy_n(&from[(bh * c.e.Tq + queries[r]) * c.e.Tk], c.e.Tk,
                    &to[(bh * count + r) * c.e.Tk]);
      }
    }
  });
  return w;
}

AttentionOutput attend(const AttentionInputs& in, const Score& score, const Alignment& align) {
  if (Recorder* recorder = Recorder::current();
      recorder && in.capture.what == Capture::What::nothing) {
    AttentionInputs watched = in;
    watched.capture = recorder->capture();
    AttentionOutput out = attend(watched, score, align);
    recorder->keep(in.name, std::move(out.weights));
    out.weights = {};
    return out;
  }
  const Call call = prepare(in, score, align, true);
  const std::string no_fused = fused_declines(call);
  const std::string no_rows = no_fused.empty() ? "" : rows_declines(call);
  if (explains()) {
    const std::string path = no_fused.empty()  ? "fused"
                             : no_rows.empty() ? "rows, " + no_fused
                                               : "plain, " + no_rows;
    std::fprintf(stderr, "attend: %s\n", path.c_str());
  }
  return no_fused.empty()  ? attend_fused(call)
         : no_rows.empty() ? attend_rows(call)
                           : attend_plain(call);
}

}  // namespace fovea
