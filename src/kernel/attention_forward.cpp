#include <cmath>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/kernel/attention.h"
#include "fovea/kernel/naive/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/attention_forward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/attention-inl.h"
#include "fovea/kernel/attention_summary-inl.h"
#include "fovea/kernel/dispatch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

constexpr int64_t key_block = 256;  // keys packed at a time: K and V of it stay in the L2 cache
constexpr int64_t score_stride = key_block + 16;  // not a power of two: rows fall in different sets
constexpr int64_t most_rows = 1024;               // queries that share one packing of the keys

// Queries a chunk takes: many to share packed keys, few enough that every thread gets some, and
// nearly as many in the last chunk of a head as in the others.
inline int64_t rows_per_chunk(const HeadInputs<float>& in) {
  const int64_t most = std::clamp<int64_t>(in.B * in.H * in.Tq / 16, 96, most_rows);
  const int64_t chunks = (in.Tq + most - 1) / most;
  return round_up((in.Tq + chunks - 1) / chunks, strip);
}

struct ForwardChunk {
  const HeadInputs<float>& in;
  int64_t b, h, first, rows;  // queries [first, first + rows)
  bool once;                  // all keys are in one block
  float *keys, *values;       // one packed block, the keys scaled
  float* q;                   // [rows up to whole strips, q_stride]
  float* sum;                 // [rows up to whole strips, v_stride], out before it is normalised
  float *top, *total;         // running maximum and sum of exponentials of every row
  float* scores;              // [strip, score_stride]
  int64_t q_stride, v_stride;
  int64_t begin, end;  // keys, from the first of a block on
  SummaryRows seen;

  static int64_t bytes(const HeadInputs<float>& in, int64_t rows,
                       const AttentionSummary<float>* summary) {
    const int64_t padded = round_up(rows, strip), v_stride = round_up(in.Dv, panel);
    return Scratch::bytes<float>(key_block * in.D) + Scratch::bytes<float>(key_block * v_stride) +
           Scratch::bytes<float>(padded * round_up(in.D, 16)) +
           Scratch::bytes<float>(padded * v_stride) + 2 * Scratch::bytes<float>(padded + lanes) +
           Scratch::bytes<float>(strip * score_stride) +
           (summary ? SummaryRows::bytes(*summary, rows) : 0);
  }

  ForwardChunk(const HeadInputs<float>& inputs, int64_t b_, int64_t h_, int64_t first_,
               int64_t rows_, const AttentionSummary<float>* summary, Scratch& scratch)
      : in(inputs), b(b_), h(h_), first(first_), rows(rows_) {
    const int64_t padded = round_up(rows, strip);
    q_stride = round_up(in.D, 16);
    v_stride = round_up(in.Dv, panel);
    keys = scratch.take<float>(key_block * in.D);
    values = scratch.take<float>(key_block * v_stride);
    q = scratch.take<float>(padded * q_stride);
    sum = scratch.take<float>(padded * v_stride);
    top = scratch.take<float>(padded + lanes);
    total = scratch.take<float>(padded + lanes);
    scores = scratch.take<float>(strip * score_stride);
    if (summary) seen = SummaryRows(*summary, rows, in.Tk, scratch);
    std::fill_n(top, padded + lanes, floor_score);
    std::fill_n(total, padded + lanes, 0.0f);
    const Reach all = reach(0, rows);
    begin = all.empty() ? 0 : all.lo / key_block * key_block;
    end = all.hi;
    once = end - begin <= key_block;
    if (once) return;
    std::fill_n(sum, padded * v_stride, 0.0f);
    load_queries(0, padded);
  }

  const float* query(int64_t r) const { return in.q.at(b, h) + (first + r) * in.q.row; }

  // `count` queries from r0 on, and zeros past the last, to the front of q.
  void load_queries(int64_t r0, int64_t count) const {
    for (int64_t r = 0; r < count; ++r) {
      if (r0 + r + rows_ahead < rows) prefetch_row(query(r0 + r + rows_ahead), in.D);
      if (r0 + r < rows) {
        std::copy_n(query(r0 + r), in.D, q + r * q_stride);
      } else {
        std::fill_n(q + r * q_stride, in.D, 0.0f);
      }
    }
  }

  // Queries that are read against many blocks of keys have been copied close together; those of one
  // block are read where they lie, but for a strip that reaches past the last.
  struct Lines {
    const float* at;
    int64_t ld;
  };
  Lines queries(int64_t r0, int64_t count) const {
    if (!once) return {q + r0 * q_stride, q_stride};
    if (r0 + count <= rows) return {query(r0), in.q.row};
    load_queries(r0, count);
    return {q, q_stride};
  }

  Reach reach(int64_t from, int64_t to) const {
    Reach it;
    for (int64_t r = from; r < std::min(to, rows); ++r) {
      it.add(in.lo(b, h, first + r), in.hi(b, h, first + r));
    }
    return it;
  }
};

// One strip of queries against the packed keys [j0, j1): scores, alignment, read.
template <int ROWS>
void forward_strip(const ForwardChunk& at, int64_t r0, int64_t j0, int64_t j1, uint32_t threshold) {
  const HeadInputs<float>& in = at.in;
  const Reach reach = at.reach(r0, r0 + ROWS);
  const int64_t from = std::max(reach.lo, j0), to = std::min(reach.hi, j1);
  if (from >= to) {
    if (at.once) std::fill_n(at.sum + r0 * at.v_stride, ROWS * at.v_stride, 0.0f);
    return;
  }
  const ForwardChunk::Lines q = at.queries(r0, ROWS);
  // Whole panels are computed, but only the keys [from, to) are ever read from V: what lies past a
  // sequence's end may be anything.
  const int64_t p0 = (from - j0) / panel * panel, p1 = round_up(to - j0, panel);
  for (int64_t p = p0; p < p1; p += panel) {
    multiply_block<2, false, false, ROWS>(in.D, q.at, q.ld, at.keys + p * in.D, at.scores + p,
                                          score_stride);
  }
  const int64_t count = std::min<int64_t>(ROWS, at.rows - r0), n = p1 - p0;
  const bool whole = reach.all_lo <= j0 + p0 && reach.all_hi >= j0 + p1;
  const bool noted = at.seen.to != nullptr;
  const int64_t first_bin = noted ? (j0 + p0) * at.seen.to->map_cols / in.Tk : 0;
  for (int64_t r = 0; r < count; ++r) {
    float* s = at.scores + r * score_stride + p0;
    const int64_t i = at.first + r0 + r, first_key = j0 + p0;
    if (!whole || in.bias || in.mask) {
      const int64_t lo = std::clamp(in.lo(at.b, at.h, i), first_key, first_key + n);
      const int64_t hi = std::clamp(in.hi(at.b, at.h, i), lo, first_key + n);
      if (in.bias || in.mask) {
        add_bias_and_mask(in, at.b, at.h, i, lo, hi, s + (lo - first_key));
      }
      std::fill(s, s + (lo - first_key), minus_infinity);
      std::fill(s + (hi - first_key), s + n, minus_infinity);
    }
    if (in.align == Align::sigmoid) {
      if (noted) at.seen.note_scores(r0 + r, s, n, first_key, row_maximum(s, n));
      squash(s, n);
    } else {
      float& top = at.top[r0 + r];
      float& total = at.total[r0 + r];
      const float most = row_maximum(s, n);
      if (noted) at.seen.note_scores(r0 + r, s, n, first_key, most);
      if (most > top) {
        if (total > 0) {
          const float shrink = std::exp2(top - most);
          if (noted) at.seen.rescale(r0 + r, shrink, most - top, total);
          total *= shrink;
          float* sum = at.sum + (r0 + r) * at.v_stride;
          map1(TimesScalar{shrink}, sum, sum, at.v_stride);
        }
        top = most;
      }
      total += noted ? exponentiate<true>(s, n, top, at.seen.log_sum + r0 + r)
                     : exponentiate<false>(s, n, top);
    }
    if (noted)
      at.seen.note_weights(r0 + r, s, first_key, std::min(first_key + n, in.Tk), first_bin);
    if (threshold) {
      const uint32_t key = in.dropout.row_key(at.b * in.H + at.h, i);
      drop(s, n, key, in.dropout.key + first_key, threshold);
    }
  }
  const auto read =
      at.once ? multiply_strip<false, false, ROWS> : multiply_strip<false, true, ROWS>;
  read(to - from, at.scores + (from - j0), score_stride, at.values + (from - j0) * panel,
       key_block * panel, in.Dv, at.sum + r0 * at.v_stride, at.v_stride);
}

// Normalises the rows [r0, r1) and writes them out.
inline void finish_rows(const ForwardChunk& at, int64_t r0, int64_t r1, HeadView<float> out,
                        float* lse, float* map) {
  const HeadInputs<float>& in = at.in;
  const float kept = 1 / (1 - in.dropout.rate);
  float* to = out.at(at.b, at.h) + at.first * out.row;
  float* lse_of = lse + (at.b * in.H + at.h) * in.Tq + at.first;
  for (int64_t r = r0; r < r1 && in.align == Align::softmax; r += lanes) {
    const D d;
    const V total = hn::LoadU(d, at.total + r), unit = hn::Set(d, ln_2);
    const V sum = hn::Mul(hn::Add(hn::LoadU(d, at.top + r), hn::Log2(d, total)), unit);
    const auto none = hn::Eq(total, hn::Zero(d));
    store_part(hn::IfThenElse(none, hn::Set(d, minus_infinity), sum), d, lse_of + r,
               std::min<int64_t>(lanes, r1 - r));
  }
  for (int64_t r = r0; r < r1; ++r) {
    float factor = kept;
    if (in.align == Align::softmax) factor = at.total[r] == 0 ? 0 : kept / at.total[r];
    if (at.seen.to) {
      const MapRow row(at.first + r, at.seen.to->map_rows, in.Tq);
      const int64_t above = MapRow(at.first, at.seen.to->map_rows, in.Tq).at;
      at.seen.finish(in, r, (at.b * in.H + at.h) * in.Tq + at.first + r, at.top[r], at.total[r],
                     map + (row.at - above) * at.seen.to->map_cols,
                     1 / static_cast<float>(row.end - row.begin));
    }
    copy_row(to + r * out.row, at.sum + r * at.v_stride, in.Dv, factor, in.Dv);
  }
}

// Where a thread's next piece of work begins, to be fetched while it does this one.
struct Ahead {
  const float *k = nullptr, *v = nullptr;
};

HWY_NOINLINE void forward_chunk(const HeadInputs<float>& in, HeadView<float> out, float* lse,
                                const AttentionSummary<float>* summary, float* map, int64_t b,
                                int64_t h, int64_t first, int64_t rows, const Ahead& ahead) {
  Scratch scratch(ForwardChunk::bytes(in, rows, summary));
  const ForwardChunk at(in, b, h, first, rows, summary, scratch);
  const float* k = in.k.at(b, in.key_head(h));
  const float* v = in.v.at(b, in.key_head(h));
  const uint32_t threshold = dropout_threshold(in.dropout.rate);
  const int64_t strips = (rows + strip - 1) / strip;
  for (int64_t j0 = at.begin; j0 < at.end; j0 += key_block) {
    const int64_t j1 = std::min(j0 + key_block, in.Tk);
    pack_across(at.keys, k + j0 * in.k.row, in.k.row, j1 - j0, in.D, in.scale * log2_e);
    pack_along(at.values, key_block, v + j0 * in.v.row, in.v.row, j1 - j0, in.Dv, 1);
    const bool more = j1 < at.end;
    const float* next_k = more ? k + j1 * in.k.row : ahead.k;
    const float* next_v = more ? v + j1 * in.v.row : ahead.v;
    const int64_t next = more ? std::min(key_block, in.Tk - j1) : std::min(key_block, in.Tk);
    for (int64_t r = 0; r < rows; r += strip) {
      if (next_k) prefetch_share(next_k, in.k.row, next, in.D, r / strip, strips);
      if (next_v) prefetch_share(next_v, in.v.row, next, in.Dv, r / strip, strips);
      const int64_t following = std::clamp<int64_t>(rows - r - strip, 0, strip);
      for (int64_t i = 0; at.once && i < following; ++i) {
        prefetch_row(at.query(r + strip + i), in.D);
      }
      for (int64_t i = r; at.once && i < std::min(r + strip, rows); ++i) {
        prefetch_row(out.at(b, h) + (first + i) * out.row, in.Dv);
      }
      if (rows - r <= short_strip) {
        forward_strip<short_strip>(at, r, j0, j1, threshold);
      } else {
        forward_strip<strip>(at, r, j0, j1, threshold);
      }
      if (at.once) finish_rows(at, r, std::min(r + strip, rows), out, lse, map);
    }
  }
  if (at.begin < at.end && at.once) return;
  if (at.once) std::fill_n(at.sum, rows * at.v_stride, 0.0f);  // no key at all
  finish_rows(at, 0, rows, out, lse, map);
}

// The rows of the map that a chunk touches may belong to its neighbours too, so each chunk keeps
// its own, and they are added up in order.
struct MapParts {
  int64_t rows = 0, cols = 0;  // of one chunk
  float* data = nullptr;

  float* of(int64_t chunk) const { return data + chunk * rows * cols; }
  void join(const AttentionSummary<float>& to, int64_t Tq, int64_t heads, int64_t blocks,
            int64_t chunk_rows) const {
    std::fill_n(to.map, heads * to.map_rows * to.map_cols, 0.0f);
    for (int64_t c = 0; c < heads * blocks; ++c) {
      const int64_t first = c % blocks * chunk_rows, last = std::min(first + chunk_rows, Tq) - 1;
      const int64_t from = MapRow(first, to.map_rows, Tq).at;
      const int64_t until = MapRow(last, to.map_rows, Tq).at;
      float* cells = to.map + (c / blocks * to.map_rows + from) * cols;
      map2(Plus{}, cells, cells, of(c), (until - from + 1) * cols);
    }
  }
};

void forward_all(const HeadInputs<float>& in, HeadView<float> out, float* lse,
                 const AttentionSummary<float>* summary) {
  const int64_t rows = rows_per_chunk(in), blocks = (in.Tq + rows - 1) / rows;
  const int64_t chunks = in.B * in.H * blocks;
  MapParts parts;
  if (summary && summary->map) {
    parts.rows = std::min(summary->map_rows, rows * summary->map_rows / in.Tq + 2);
    parts.cols = summary->map_cols;
  }
  const int64_t cells = chunks * parts.rows * parts.cols;
  Scratch scratch(Scratch::bytes<float>(cells), Scratch::call);
  parts.data = scratch.take<float>(cells);
  std::fill_n(parts.data, cells, 0.0f);
  const int64_t grain = std::clamp<int64_t>(chunks / 16, 1, 8);
  parallel_for(chunks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const int64_t head = c / blocks, first = c % blocks * rows;
      Ahead ahead;
      // Behind the last, what this thread will do next if all are equally fast.
      const int64_t next = c + 1 < end ? c + 1 : end + (threads() - 1) * grain;
      if (next < chunks) {
        const int64_t b = next / blocks / in.H, h = next / blocks % in.H;
        ahead = {in.k.at(b, in.key_head(h)), in.v.at(b, in.key_head(h))};
      }
      forward_chunk(in, out, lse, summary, parts.of(c), head / in.H, head % in.H, first,
                    std::min(rows, in.Tq - first), ahead);
    }
  });
  if (parts.rows) parts.join(*summary, in.Tq, in.B * in.H, blocks, rows);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(forward_all);

void attention_forward(const HeadInputs<float>& in, HeadView<float> out, float* lse,
                       const AttentionSummary<float>* asked) {
  const AttentionSummary<float> sized = asked ? asked->with_size() : AttentionSummary<float>();
  const AttentionSummary<float>* summary = asked ? &sized : nullptr;
  if (in.Tq > decode_queries) return FOVEA_DISPATCH(forward_all)(in, out, lse, summary);
  attention_decode(in, out, lse);
  if (!summary) return;
  // So few rows may as well be looked at whole.
  if (summary->map) {
    std::fill_n(summary->map, in.B * in.H * summary->map_rows * summary->map_cols, 0.0f);
  }
  std::vector<float> weights(in.Tk);
  for (int64_t row = 0; row < in.B * in.H * in.Tq; ++row) {
    const int64_t b = row / in.Tq / in.H, h = row / in.Tq % in.H;
    const auto i = static_cast<int32_t>(row % in.Tq);
    attention_weights(in, lse, b, h, &i, 1, weights.data());
    naive::attention_summarise(in, *summary, b, h, i, weights.data());
  }
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
