#include "fovea/kernel/linear_attention.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/kernel/gemm.h"
#include "fovea/kernel/linear_rows.h"
#include "fovea/kernel/scratch.h"

namespace fovea::kernel {
namespace {

constexpr int64_t most = linear_chunk;

// A stretch with its chunks. A causal one sees `before` keys all at once, and then one more with
// each query; a whole one sees all of them at once. Chunks are cut into runs: one task goes through
// the chunks of a run, with its sums at hand; what is in front of a run, or behind it, is added up
// before.
struct Part {
  const LinearStretch* s;
  int64_t before, queries, chunks, runs;
  int64_t first_sum, first_run;  // where its sums begin, of chunks and of runs

  int64_t rows(int64_t chunk) const { return std::min(most, queries - chunk * most); }
  int64_t begin(int64_t run) const { return run * chunks / runs; }  // its first chunk
};

std::vector<Part> parts_of(const LinearInputs<float>& in) {
  constexpr int64_t tasks = 8;  // enough for some threads; with more, more would be read twice
  std::vector<Part> parts;
  int64_t sums = 0, runs = 0;
  for (int64_t n = 0; n < in.count; ++n) {
    const LinearStretch& s = in.stretches[n];
    Part p{&s, 0, s.q1 - s.q0, 0, 1, sums, runs};
    const int64_t keys = s.k1 - s.k0, heads = in.count * ((in.H + 3) / 4);
    p.before = s.causal ? std::max<int64_t>(0, keys - p.queries) : keys;
    p.chunks = (p.queries + most - 1) / most;
    const int64_t wanted = s.causal ? (tasks + heads - 1) / heads : (p.chunks + 15) / 16;
    p.runs = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, p.chunks / 4));
    sums += s.causal ? p.chunks : 1;
    runs += p.runs + 1;
    parts.push_back(p);
  }
  return parts;
}

// Sums of some rows: f(k)^T v, and f(k) itself.
int64_t sum_size(const LinearInputs<float>& in) { return in.M * in.Dv + in.M; }

// All work of a pass, cut by sizes alone: f(part, head, number), with so many numbers a part.
template <class Count, class F>
void each_task(const LinearInputs<float>& in, const std::vector<Part>& parts, const Count& count,
               const F& f) {
  std::vector<int64_t> begin{0};
  for (const Part& p : parts) begin.push_back(begin.back() + count(p) * in.H);
  parallel_for(begin.back(), 1, [&](int64_t c, int64_t) {
    const auto at = std::ranges::upper_bound(begin, c) - begin.begin() - 1;
    const int64_t i = c - begin[static_cast<size_t>(at)];
    f(parts[static_cast<size_t>(at)], i % in.H, i / in.H);
  });
}

// The same for some heads at a time, whose rows lie side by side: f(part, first head, behind the
// last, number).
template <class Count, class F>
void each_group(const LinearInputs<float>& in, const std::vector<Part>& parts, const Count& count,
                const F& f) {
  constexpr int64_t together = 4;
  const int64_t groups = (in.H + together - 1) / together;
  std::vector<int64_t> begin{0};
  for (const Part& p : parts) begin.push_back(begin.back() + count(p) * groups);
  parallel_for(begin.back(), 1, [&](int64_t c, int64_t) {
    const auto at = std::ranges::upper_bound(begin, c) - begin.begin() - 1;
    const int64_t i = c - begin[static_cast<size_t>(at)], h = i % groups * together;
    f(parts[static_cast<size_t>(at)], h, std::min(h + together, in.H), i / groups);
  });
}

int64_t one(const Part&) { return 1; }
int64_t runs_of(const Part& p) { return p.runs; }

// c = op(a) op(b) + beta c with rows of any stride, on this thread.
void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
             const float* b, int64_t ldb, float* c, int64_t ldc, float beta) {
  if (k == 0) {
    for (int64_t i = 0; i < m && beta == 0; ++i) std::fill_n(c + i * ldc, n, 0.0f);
    return;
  }
  gemm_serial({.transpose_a = ta,
               .transpose_b = tb,
               .m = m,
               .n = n,
               .k = k,
               .lda = lda,
               .ldb = ldb,
               .ldc = ldc,
               .beta = beta},
              a, b, c);
}

// What is below the diagonal stays: query r sees the keys up to its own place.
void keep_lower(float* a, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r) std::fill(a + r * most + r + 1, a + r * most + rows, 0.0f);
}

// One head of a part at work: its arrays, and room for a chunk.
struct Head {
  const LinearInputs<float>& in;
  const Part& p;
  int64_t h, M, Dv;
  float *fq, *fk, *num, *den, *a, *da, *more_k, *more_v;

  static int64_t bytes(const LinearInputs<float>& in) {
    return 4 * Scratch::bytes<float>(most * std::max(in.M, in.Dv)) +
           2 * Scratch::bytes<float>(most * in.Dv) + 2 * Scratch::bytes<float>(most * most) +
           Scratch::bytes<float>(most);
  }
  Head(const LinearInputs<float>& inputs, const Part& part, int64_t head, Scratch& scratch)
      : in(inputs), p(part), h(head), M(in.M), Dv(in.Dv) {
    fq = scratch.take<float>(most * M), fk = scratch.take<float>(most * M);
    more_k = scratch.take<float>(most * M);
    num = scratch.take<float>(most * Dv), more_v = scratch.take<float>(most * Dv);
    den = scratch.take<float>(most);
    a = scratch.take<float>(most * most), da = scratch.take<float>(most * most);
  }

  const float* at(HeadView<const float> x, int64_t row) const {
    return x.at(p.s->b, h) + row * x.row;
  }
  float* at(HeadView<float> x, int64_t row) const { return x.at(p.s->b, h) + row * x.row; }
  int64_t query(int64_t chunk) const { return p.s->q0 + chunk * most; }
  int64_t key(int64_t chunk) const { return p.s->k0 + p.before + chunk * most; }

  void load_queries(int64_t first, int64_t rows) const {
    linear_features(fq, at(in.q, first), in.q.row, rows, M, in.elu);
  }
  void load_keys(int64_t first, int64_t rows) const {
    linear_features(fk, at(in.k, first), in.k.row, rows, M, in.elu);
  }
  // Asks for rows that will be read soon: those of one head lie apart from each other.
  void fetch(HeadView<const float> x, int64_t first, int64_t last, int64_t width) const {
    for (int64_t i = std::max<int64_t>(0, first); i < last; ++i) {
      const float* row = at(x, i);
      for (int64_t c = 0; c < width; c += 16) __builtin_prefetch(row + c, 0, 2);
    }
  }
  // to += f(k)^T v and the sum of f(k) over the keys that are loaded.
  void add_keys(int64_t first, int64_t rows, float* to) const {
    product(true, false, M, Dv, rows, fk, M, at(in.v, first), in.v.row, to, Dv, 1);
    add_weighted_rows(to + M * Dv, fk, M, nullptr, rows, M);
  }
  // to += f(q)^T num and the sum of den f(q) over the queries that are loaded.
  void add_queries(int64_t rows, float* to) const {
    product(true, false, M, Dv, rows, fq, M, num, Dv, to, Dv, 1);
    add_weighted_rows(to + M * Dv, fq, M, den, rows, M);
  }
  // What arrives at numerators and denominators.
  void load_arriving(HeadView<const float> out, HeadView<const float> dout, const float* dens,
                     int64_t first, int64_t rows) const {
    linear_arriving(num, den, at(dout, first), dout.row, at(out, first), out.row,
                    dens + (p.s->b * in.H + h) * in.Tq + first, rows, Dv);
  }
};

// Sums over the keys that all queries of a part see, into where(part, head): in shares that are
// added up in order.
template <class Where>
void sum_before(const LinearInputs<float>& in, const std::vector<Part>& parts, const Where& where) {
  constexpr int64_t share_keys = 16 * most;
  const auto shares = [](const Part& p) {
    return std::max<int64_t>(1, (p.before + share_keys - 1) / share_keys);
  };
  std::vector<int64_t> begin{0};
  for (const Part& p : parts) begin.push_back(begin.back() + shares(p) * in.H);
  const int64_t size = sum_size(in);
  const auto memory = std::make_unique<float[]>(static_cast<size_t>(begin.back() * size));
  const auto of = [&](const Part& p, int64_t h, int64_t share) {
    return memory.get() + (begin[static_cast<size_t>(&p - parts.data())] + share * in.H + h) * size;
  };
  each_task(in, parts, shares, [&](const Part& p, int64_t h, int64_t share) {
    Scratch scratch(Head::bytes(in));
    const Head head(in, p, h, scratch);
    const int64_t end = std::min(p.before, (share + 1) * share_keys);
    for (int64_t r = share * share_keys; r < end; r += most) {
      const int64_t rows = std::min(most, end - r);
      head.load_keys(p.s->k0 + r, rows);
      head.add_keys(p.s->k0 + r, rows, of(p, h, share));
    }
  });
  each_task(in, parts, one, [&](const Part& p, int64_t h, int64_t) {
    float* to = where(p, h);
    std::copy_n(of(p, h, 0), size, to);
    for (int64_t share = 1; share < shares(p); ++share) {
      add_rows_to(to, 0, of(p, h, share), 0, 1, size);
    }
  });
}

// Contexts of a chunk's queries, given the sums in front of it.
void forward_chunk(const Head& at, int64_t chunk, const float* sum, HeadView<float> out,
                   float* den) {
  const LinearInputs<float>& in = at.in;
  const int64_t M = at.M, Dv = at.Dv, rows = at.p.rows(chunk), i0 = at.query(chunk);
  at.load_queries(i0, rows);
  const int64_t next_q = std::min(i0 + 2 * most, at.p.s->q1), j1 = at.key(chunk) + most,
                next_k = at.p.s->causal ? std::min(j1 + most, at.p.s->k1) : 0;
  at.fetch(in.q, i0 + most, next_q, M);
  float *o = at.at(out, i0), *d = den + (at.p.s->b * in.H + at.h) * in.Tq + i0;
  product(false, false, rows, Dv, M, at.fq, M, sum, Dv, o, out.row, 0);
  std::fill_n(d, rows, 0.0f);
  add_row_dots(d, at.fq, M, sum + M * Dv, 0, rows, M);
  if (at.p.s->causal) {
    const int64_t j0 = at.key(chunk);
    at.load_keys(j0, rows);
    at.fetch(in.k, j1, next_k, M);
    product(false, true, rows, rows, M, at.fq, M, at.fk, M, at.a, most, 0);
    at.fetch(in.v, j1, next_k, Dv);
    keep_lower(at.a, rows);
    add_row_sums(d, at.a, most, rows, rows);
    product(false, false, rows, Dv, rows, at.a, most, at.at(in.v, j0), in.v.row, o, out.row, 1);
  }
  for (int64_t r = 0; r < rows; ++r) d[r] = std::max(d[r], static_cast<float>(linear_least));
  divide_rows(o, out.row, d, rows, Dv);
}

}  // namespace

int64_t linear_attention_room(const LinearInputs<float>& in) {
  const std::vector<Part> parts = parts_of(in);
  if (parts.empty()) return 0;
  const Part& last = parts.back();
  return (last.first_sum + (last.s->causal ? last.chunks : 1)) * in.H * sum_size(in);
}

void linear_attention_forward(const LinearInputs<float>& in, HeadView<float> out, float* den,
                              float* sums) {
  const std::vector<Part> parts = parts_of(in);
  const int64_t size = sum_size(in);
  const auto sum_at = [&](const Part& p, int64_t h, int64_t chunk) {
    return sums + ((p.first_sum + chunk) * in.H + h) * size;
  };
  sum_before(in, parts, [&](const Part& p, int64_t h) { return sum_at(p, h, 0); });
  // The sums of each causal run but the last, where what is in front of the next one will stand.
  const auto runs_before = [](const Part& p) { return p.s->causal ? p.runs - 1 : 0; };
  each_group(in, parts, runs_before, [&](const Part& p, int64_t h0, int64_t h1, int64_t run) {
    Scratch scratch(Head::bytes(in));
    Head head(in, p, h0, scratch);
    const int64_t next = p.begin(run + 1);
    for (int64_t h = h0; h < h1; ++h) std::fill_n(sum_at(p, h, next), size, 0.0f);
    for (int64_t chunk = p.begin(run); chunk < next; ++chunk) {
      for (head.h = h0; head.h < h1; ++head.h) {
        head.load_keys(head.key(chunk), p.rows(chunk));
        head.add_keys(head.key(chunk), p.rows(chunk), sum_at(p, head.h, next));
      }
    }
  });
  each_task(in, parts, one, [&](const Part& p, int64_t h, int64_t) {
    for (int64_t run = 1; p.s->causal && run < p.runs; ++run) {
      add_rows_to(sum_at(p, h, p.begin(run)), 0, sum_at(p, h, p.begin(run - 1)), 0, 1, size);
    }
  });
  each_group(in, parts, runs_of, [&](const Part& p, int64_t h0, int64_t h1, int64_t run) {
    Scratch scratch(Head::bytes(in));
    Head head(in, p, h0, scratch);
    const int64_t end = p.begin(run + 1);
    for (int64_t chunk = p.begin(run); chunk < end; ++chunk) {
      for (head.h = h0; head.h < h1; ++head.h) {
        const float* sum = sum_at(p, head.h, p.s->causal ? chunk : 0);
        forward_chunk(head, chunk, sum, out, den);
        if (!p.s->causal || chunk + 1 == end) continue;
        float* next = sum_at(p, head.h, chunk + 1);
        std::copy_n(sum, size, next);
        head.add_keys(head.key(chunk), p.rows(chunk), next);  // which are loaded
      }
    }
  });
}

namespace {

// Where rows of a gradient are made: in their place where no other stretch has a part in them, else
// apart, and then added to it.
struct Target {
  float *to, *at;
  int64_t to_ld, ld, rows, width;
  bool add;
  Target(const Head& head, HeadView<float> x, int64_t first, int64_t count, int64_t columns,
         bool shared, float* apart)
      : to(head.at(x, first)),
        at(shared ? apart : to),
        to_ld(x.row),
        ld(shared ? columns : x.row),
        rows(count),
        width(columns),
        add(shared) {}
  void finish() const {
    if (add) add_rows_to(to, to_ld, at, ld, rows, width);
  }
};

// Of each batch entry whether several stretches see the same keys, whose gradients then are sums.
std::vector<char> shared_keys(const LinearInputs<float>& in) {
  std::vector<char> shared(static_cast<size_t>(in.B), 0);
  std::vector<int64_t> seen(static_cast<size_t>(in.B), 0);
  for (int64_t n = 0; n < in.count; ++n) {
    const LinearStretch& s = in.stretches[n];
    const auto b = static_cast<size_t>(s.b);
    if (s.k0 < seen[b]) shared[b] = 1;
    seen[b] = std::max(seen[b], s.k1);
  }
  return shared;
}

// Zeros in the rows of x that no stretch will write: all rows where they add, else those between
// stretches. `first` and `last` tell which rows a stretch covers.
template <class First, class Last>
void clear_rest(const LinearInputs<float>& in, HeadView<float> x, int64_t rows, int64_t width,
                const std::vector<char>& all, const First& first, const Last& last) {
  std::vector<int64_t> done(static_cast<size_t>(in.B), 0);
  const auto clear = [&](int64_t b, int64_t from, int64_t to) {
    for (int64_t h = 0; h < in.H; ++h) {
      for (int64_t i = from; i < to; ++i) std::fill_n(x.at(b, h) + i * x.row, width, 0.0f);
    }
  };
  for (int64_t n = 0; n < in.count; ++n) {
    const LinearStretch& s = in.stretches[n];
    const auto b = static_cast<size_t>(s.b);
    if (all[b]) continue;
    clear(s.b, done[b], first(s));
    done[b] = std::max(done[b], last(s));
  }
  parallel_for(in.B, 1, [&](int64_t b, int64_t) {
    clear(b, all[static_cast<size_t>(b)] ? 0 : done[static_cast<size_t>(b)], rows);
  });
}

struct Backward {
  const LinearInputs<float>& in;
  HeadView<const float> out, dout;
  const float* den;
  HeadView<float> dq, dk, dv;
  std::vector<char> shared;

  // Gradients of keys and values, given the sums over the queries behind them.
  void keys(const Head& at, int64_t j0, int64_t rows, const float* sum, const Target& gk,
            const Target& gv) const {
    const int64_t M = at.M, Dv = at.Dv;
    product(false, false, rows, Dv, M, at.fk, M, sum, Dv, gv.at, gv.ld, 0);
    weighted_copies(gk.at, gk.ld, nullptr, sum + M * Dv, rows, M);
    product(false, true, rows, M, Dv, at.at(in.v, j0), in.v.row, sum, Dv, gk.at, gk.ld, 1);
  }
  void through_features(const float* f, const Target& g) const {
    if (in.elu) linear_slopes(g.at, g.ld, f, g.rows, g.width);
  }

  // A chunk, given the sums over keys in front of it and over queries behind it.
  void chunk(const Head& at, int64_t number, const float* sum, const float* behind) const {
    const int64_t M = at.M, Dv = at.Dv, rows = at.p.rows(number), i0 = at.query(number);
    at.load_queries(i0, rows);
    at.load_arriving(out, dout, den, i0, rows);
    const int64_t q0 = std::max(at.p.s->q0, i0 - most);
    at.fetch(in.q, q0, i0, M);
    const Target gq(at, dq, i0, rows, M, false, nullptr);
    weighted_copies(gq.at, gq.ld, at.den, sum + M * Dv, rows, M);
    product(false, true, rows, M, Dv, at.num, Dv, sum, Dv, gq.at, gq.ld, 1);
    at.fetch(dout, q0, i0, Dv);
    if (at.p.s->causal) {
      const bool add = shared[static_cast<size_t>(at.p.s->b)];
      const int64_t j0 = at.key(number);
      const int64_t j1 = std::max(at.p.s->k0 + at.p.before, j0 - most);
      at.load_keys(j0, rows);
      product(false, true, rows, rows, M, at.fq, M, at.fk, M, at.a, most, 0);
      at.fetch(in.k, j1, j0, M);
      product(false, true, rows, rows, Dv, at.num, Dv, at.at(in.v, j0), in.v.row, at.da, most, 0);
      add_to_lower(at.da, most, at.den, rows);
      keep_lower(at.a, rows), keep_lower(at.da, rows);
      product(false, false, rows, M, rows, at.da, most, at.fk, M, gq.at, gq.ld, 1);
      at.fetch(in.v, j1, j0, Dv);
      const Target gk(at, dk, j0, rows, M, add, at.more_k);
      const Target gv(at, dv, j0, rows, Dv, add, at.more_v);
      keys(at, j0, rows, behind, gk, gv);
      at.fetch(out, q0, i0, Dv);
      product(true, false, rows, Dv, rows, at.a, most, at.num, Dv, gv.at, gv.ld, 1);
      product(true, false, rows, M, rows, at.da, most, at.fq, M, gk.at, gk.ld, 1);
      through_features(at.fk, gk);
      gk.finish(), gv.finish();
    }
    through_features(at.fq, gq);
  }
};

}  // namespace

int64_t linear_attention_back_room(const LinearInputs<float>& in) {
  const std::vector<Part> parts = parts_of(in);
  if (parts.empty()) return 0;
  return (parts.back().first_run + parts.back().runs + 1) * in.H * sum_size(in);
}

void linear_attention_backward(const LinearInputs<float>& in, HeadView<const float> out,
                               HeadView<const float> dout, const float* den, const float* sums,
                               float* room, HeadView<float> dq, HeadView<float> dk,
                               HeadView<float> dv) {
  const std::vector<Part> parts = parts_of(in);
  const int64_t size = sum_size(in);
  const Backward back{in, out, dout, den, dq, dk, dv, shared_keys(in)};
  const std::vector<char> none(back.shared.size(), 0);
  const auto k0 = [](const LinearStretch& s) { return s.k0; };
  const auto k1 = [](const LinearStretch& s) { return s.k1; };
  clear_rest(
      in, dq, in.Tq, in.M, none, [](const LinearStretch& s) { return s.q0; },
      [](const LinearStretch& s) { return s.q1; });
  clear_rest(in, dk, in.Tk, in.M, back.shared, k0, k1);
  clear_rest(in, dv, in.Tk, in.Dv, back.shared, k0, k1);
  // What the queries of each run owe the keys before them: f(q)^T dnum, and f(q) dden. The first
  // run of a causal part owes nobody but those before all chunks, and they are told below.
  const auto owed_at = [&](const Part& p, int64_t h, int64_t run) {
    return room + ((p.first_run + run) * in.H + h) * size;
  };
  each_group(in, parts, runs_of, [&](const Part& p, int64_t h0, int64_t h1, int64_t run) {
    for (int64_t h = h0; h < h1; ++h) std::fill_n(owed_at(p, h, run), size, 0.0f);
    if (p.s->causal && run == 0) return;
    Scratch scratch(Head::bytes(in));
    Head head(in, p, h0, scratch);
    for (int64_t chunk = p.begin(run); chunk < p.begin(run + 1); ++chunk) {
      for (head.h = h0; head.h < h1; ++head.h) {
        head.load_queries(head.query(chunk), p.rows(chunk));
        head.load_arriving(out, dout, den, head.query(chunk), p.rows(chunk));
        head.add_queries(p.rows(chunk), owed_at(p, head.h, run));
      }
    }
  });
  // Each becomes the sum of itself and of all behind it.
  each_task(in, parts, one, [&](const Part& p, int64_t h, int64_t) {
    std::fill_n(owed_at(p, h, p.runs), size, 0.0f);
    for (int64_t run = p.runs - 1; run >= 0; --run) {
      add_rows_to(owed_at(p, h, run), 0, owed_at(p, h, run + 1), 0, 1, size);
    }
  });
  // Each run goes on, from its end to its beginning, from what is behind it.
  const auto behind = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(
      (parts.empty() ? 0 : parts.back().first_run + parts.back().runs + 1) * in.H * size));
  each_group(in, parts, runs_of, [&](const Part& p, int64_t h0, int64_t h1, int64_t run) {
    Scratch scratch(Head::bytes(in));
    Head head(in, p, h0, scratch);
    const auto sum_behind = [&](int64_t h) {
      return behind.get() + ((p.first_run + run) * in.H + h) * size;
    };
    for (int64_t h = h0; h < h1; ++h) std::copy_n(owed_at(p, h, run + 1), size, sum_behind(h));
    for (int64_t chunk = p.begin(run + 1) - 1; chunk >= p.begin(run); --chunk) {
      for (head.h = h0; head.h < h1; ++head.h) {
        const int64_t at = p.s->causal ? chunk : 0;
        back.chunk(head, chunk, sums + ((p.first_sum + at) * in.H + head.h) * size,
                   sum_behind(head.h));
        if (p.s->causal) head.add_queries(p.rows(chunk), sum_behind(head.h));
      }
    }
  });
  // Of the first run of a causal part: what all its queries owe.
  each_task(in, parts, one, [&](const Part& p, int64_t h, int64_t) {
    if (p.s->causal) {
      std::copy_n(behind.get() + (p.first_run * in.H + h) * size, size, owed_at(p, h, 0));
    }
  });
  // Keys that all queries of a part see; parts take turns, as they may share keys.
  for (const Part& p : parts) {
    const bool add = back.shared[static_cast<size_t>(p.s->b)];
    parallel_for((p.before + most - 1) / most * in.H, 1, [&](int64_t c, int64_t) {
      Scratch scratch(Head::bytes(in));
      const Head head(in, p, c % in.H, scratch);
      const int64_t from = c / in.H * most, j0 = p.s->k0 + from;
      const int64_t rows = std::min(most, p.before - from);
      head.load_keys(j0, rows);
      const Target gk(head, dk, j0, rows, in.M, add, head.more_k);
      const Target gv(head, dv, j0, rows, in.Dv, add, head.more_v);
      back.keys(head, j0, rows, owed_at(p, c % in.H, 0), gk, gv);
      back.through_features(head.fk, gk);
      gk.finish(), gv.finish();
    });
  }
}

}  // namespace fovea::kernel
