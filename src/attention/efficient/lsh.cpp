#include "fovea/attention/efficient/lsh.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/attention/efficient/spans.h"
#include "fovea/attention/efficient/union.h"
#include "fovea/base/parallel.h"
#include "fovea/base/random.h"
#include "fovea/kernel/gemm.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

const std::string name = "lsh";

// A number of buckets as one hash, or two whose pairs are the buckets: their rotations are then
// far smaller.
struct Hashes {
  int64_t first = 1, second = 1;  // buckets of each; 1: none
  explicit Hashes(int64_t buckets) {
    if (buckets <= 1) return;
    if (buckets <= 64) {
      first = (buckets + 1) / 2 * 2;
      return;
    }
    const auto root = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(buckets)) / 2));
    first = 2 * root;
    second = 2 * ((buckets + 2 * first - 1) / (2 * first));
  }
  int64_t columns() const { return first / 2 + second / 2; }
};

int64_t bucket_count(const LshOptions& o, int64_t n) {
  if (o.buckets > 0) return o.buckets;
  return std::max<int64_t>(1, 2 * ((n + o.chunk - 1) / o.chunk));
}

// The bucket of each of n rows of one head, float32.
void hash_rows(const double* rotations, const Hashes& hashes, const Tensor& rows, int64_t b,
               int64_t h, int64_t first, int64_t n, int32_t* to) {
  const int64_t T = rows.dim(1), H = rows.dim(2), D = rows.dim(3), C = hashes.columns();
  if (C == 0) return std::fill_n(to, n, 0), void();
  std::vector<float> r(rotations, rotations + D * C), x(static_cast<size_t>(n * C));
  const float* from = rows.read().data() + ((b * T + first) * H + h) * D;
  kernel::gemm_serial({.m = n, .n = C, .k = D, .lda = H * D, .ldb = C, .ldc = C}, from, r.data(),
                      x.data());
  // The place of the largest of [x, -x].
  const auto best = [](const float* at, int64_t half) {
    int64_t most = 0;
    for (int64_t c = 1; c < half; ++c) {
      if (std::abs(at[c]) > std::abs(at[most])) most = c;
    }
    return at[most] >= 0 ? most : most + half;
  };
  for (int64_t i = 0; i < n; ++i) {
    const float* at = &x[static_cast<size_t>(i * C)];
    int64_t bucket = best(at, hashes.first / 2);
    if (hashes.second > 1) {
      bucket = bucket * hashes.second + best(at + hashes.first / 2, hashes.second / 2);
    }
    to[i] = static_cast<int32_t>(bucket);
  }
}

struct LshRounds {
  const LshOptions& o;
  Spans s;
  std::vector<Stretch> stretches;
  bool causal;
  int64_t B, H, D;

  // One round: rows in the order of buckets, and whom each may look at.
  KeySet round(const Tensor& keys, Random& random) const {
    KeySet set;
    set.order_batches = set.range_batches = B;
    set.order_heads = set.range_heads = H;
    set.others_first = !causal;
    const int64_t Tq = s.Tq, Tk = s.Tk;
    const bool whole = Tq == Tk;
    set.keys.resize(static_cast<size_t>(B * H * Tk));
    if (whole) set.queries.resize(set.keys.size());
    set.lo.assign(static_cast<size_t>(B * H * Tq), 0);
    set.hi.assign(static_cast<size_t>(B * H * Tq), 0);
    // All lengths of a batch share one set of numbers, of which each takes as many as it needs.
    int64_t most = 0;
    for (const Stretch& at : stretches) most = std::max(most, columns_of(at));
    std::vector<double> normal(static_cast<size_t>(D * most * H));
    for (double& x : normal) x = random.normal();
    parallel_for(B * H, 1, [&](int64_t bh, int64_t) {
      head(keys, set, normal.data() + bh % H * D * most, bh / H, bh % H);
    });
    return set;
  }

 private:
  Hashes hashes_of(const Stretch& at) const {
    return Hashes(bucket_count(o, causal ? o.longest : at.k1 - at.k0));
  }
  int64_t columns_of(const Stretch& at) const { return hashes_of(at).columns(); }

  void head(const Tensor& keys, KeySet& set, const double* normal, int64_t b, int64_t h) const {
    const int64_t Tq = s.Tq, Tk = s.Tk, shift = Tk - Tq;
    // Rows by sequence, then by bucket, then as they came; what belongs to none comes last.
    std::vector<int64_t> rank(static_cast<size_t>(Tk), std::numeric_limits<int64_t>::max());
    int64_t number = 0;
    for (const Stretch& at : stretches) {
      if (at.b != b) continue;
      const Hashes hashes = hashes_of(at);
      std::vector<int32_t> bucket(static_cast<size_t>(at.k1 - at.k0));
      hash_rows(normal, hashes, keys, b, h, at.k0, at.k1 - at.k0, bucket.data());
      for (int64_t j = at.k0; j < at.k1; ++j) {
        rank[static_cast<size_t>(j)] = number << 32 | bucket[static_cast<size_t>(j - at.k0)];
      }
      ++number;
    }
    std::vector<int32_t> order(static_cast<size_t>(Tk));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int32_t j) { return rank[static_cast<size_t>(j)]; });
    std::ranges::copy(order, set.keys.begin() + (b * H + h) * Tk);
    if (Tq == Tk) std::ranges::copy(order, set.queries.begin() + (b * H + h) * Tk);
    int32_t* lo = &set.lo[static_cast<size_t>((b * H + h) * Tq)];
    int32_t* hi = &set.hi[static_cast<size_t>((b * H + h) * Tq)];
    int64_t sequence = 0;  // where the rows of this sequence begin
    for (int64_t p = 0; p < Tk;) {
      const int64_t key = rank[static_cast<size_t>(order[static_cast<size_t>(p)])];
      if (key == std::numeric_limits<int64_t>::max()) break;
      int64_t end = p;
      const auto rank_at = [&](int64_t at) {
        return rank[static_cast<size_t>(order[static_cast<size_t>(at)])];
      };
      while (end < Tk && rank_at(end) == key) ++end;
      if (p == 0 || rank_at(p - 1) >> 32 != key >> 32) sequence = p;
      const bool one = o.buckets == 1;
      for (int64_t at = p; at < end; ++at) {
        const int64_t row = order[static_cast<size_t>(at)], chunk = (at - sequence) / o.chunk;
        int64_t from = std::max(p, sequence + (chunk - 1) * o.chunk);
        int64_t to = std::min(end, sequence + (chunk + 1) * o.chunk);
        if (causal) from = std::max(p, at + 1 - 2 * o.chunk), to = at + 1;
        if (one) from = p, to = causal ? at + 1 : end;
        if (causal && from < at) to = at;  // others first
        const int64_t place = Tq == Tk ? at : row - shift;
        if (place < 0) continue;
        lo[place] = static_cast<int32_t>(from), hi[place] = static_cast<int32_t>(to);
      }
      p = end;
    }
  }
};

// A query that sees others in some round does not look at itself in another; one that sees none
// looks at itself once.
void others_first(std::vector<KeySet>& sets, int64_t B, int64_t H, int64_t Tq, int64_t Tk) {
  std::vector<uint8_t> sees(static_cast<size_t>(Tq));
  for (int64_t bh = 0; bh < B * H; ++bh) {
    const auto each = [&](const auto& f) {
      for (KeySet& set : sets) {
        for (int64_t p = 0; p < Tq; ++p) {
          const int64_t row = set.query(bh / H, bh % H, p, Tq), shift = Tk - Tq;
          const auto at = static_cast<size_t>(bh * Tq + p);
          const bool alone = set.hi[at] == set.lo[at] + 1 &&
                             set.key(bh / H, bh % H, set.lo[at], Tk) == row + shift;
          f(set, at, alone, sees[static_cast<size_t>(row)]);
        }
      }
    };
    std::ranges::fill(sees, uint8_t{0});
    each([](KeySet& set, size_t at, bool alone, uint8_t& seen) {
      if (!alone && set.lo[at] < set.hi[at]) seen = 1;
    });
    each([](KeySet& set, size_t at, bool alone, uint8_t& seen) {
      if (alone && seen) set.hi[at] = set.lo[at];
      seen |= alone;
    });
  }
}

}  // namespace

SelfAttention lsh_self_attention(uint64_t seed, const LshOptions& o) {
  check(o.buckets <= 1 || o.buckets % 2 == 0, "attention 'lsh': buckets come in pairs; ", o.buckets,
        " is odd");
  SelfAttention self;
  self.attend = [seed, o](const AttentionInputs& in) {
    Random fixed(seed);
    const Random start = Tape::random() ? Random(Tape::random()->bits64()) : fixed;
    return with_weights(in, name, [&](const AttentionInputs& at) {
      AttentionInputs unit = at;
      const Tensor k = at.k;
      unit.k = k / sqrt(sum(square(k), -1, true) + 1e-12);
      LshRounds rounds{.o = o,
                       .s = spans_of(at, name),
                       .stretches = {},
                       .causal = false,
                       .B = at.q.dim(0),
                       .H = at.q.dim(2),
                       .D = at.q.dim(3)};
      rounds.stretches = stretches_of(rounds.s, rounds.B, name);
      rounds.causal = rounds.s.Tq < rounds.s.Tk;
      for (const Stretch& s : rounds.stretches) rounds.causal |= s.causal;
      const Tensor single = k.dtype() == Dtype::f32 ? k : k.to(Dtype::f32);
      // A hash sees where keys point, as queries do; their lengths do not matter to it.
      std::vector<KeySet> sets;
      Random random = start;
      for (int64_t r = 0; r < o.hash_rounds; ++r) {
        Random one = random.fork(static_cast<uint64_t>(r));
        sets.push_back(rounds.round(single, one));
      }
      if (rounds.causal) others_first(sets, rounds.B, rounds.H, rounds.s.Tq, rounds.s.Tk);
      return attend_union(unit, std::move(sets));
    });
  };
  return self;
}

}  // namespace fovea
