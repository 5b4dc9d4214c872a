#include "fovea/attention/ring.h"

#include <algorithm>
#include <cmath>

#include "fovea/attention/alignment.h"
#include "fovea/attention/position/distance.h"
#include "fovea/base/parallel.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

SequenceRing*& newest() {
  thread_local constinit SequenceRing* ring = nullptr;
  return ring;
}

using Transfers = std::vector<std::unique_ptr<Transfer>>;

// [B, 2 c, H, D], of which chunk `which` is looked at: its rows as a kernel takes them.
template <class T>
kernel::HeadView<T> chunk_view(T* data, int64_t c, int64_t H, int64_t D, int64_t which) {
  return {data + which * c * H * D, 2 * c * H * D, H * D, D};
}

// All that a pass over the ring reads.
struct Round {
  Communicator& ranks;
  int64_t chunk, whole;
  Tensor q, k, v, diagonals;
  std::shared_ptr<const ResolvedPattern> who;
  float scale;
  kernel::WeightDropout dropout;

  int64_t B() const { return q.dim(0); }
  int64_t H() const { return q.dim(2); }
  int64_t Hk() const { return k.dim(2); }
  int64_t D() const { return q.dim(3); }
  int64_t Dv() const { return v.dim(3); }
  int64_t start(int rank, int64_t which) const {
    return (which == 0 ? rank : 2 * ranks.size() - 1 - rank) * chunk;
  }
  int next() const { return (ranks.rank() + 1) % ranks.size(); }
  int previous() const { return (ranks.rank() + ranks.size() - 1) % ranks.size(); }
  // Whose block is here at a step.
  int owner(int step) const { return (ranks.rank() - step + ranks.size()) % ranks.size(); }
};

// The ranges of the pattern for the queries of one chunk and the keys of another.
struct PairRanges {
  std::vector<int32_t> lo, hi;
  bool any = false;  // a query may look at a key

  PairRanges(const Round& r, int64_t q0, int64_t k0) {
    const ResolvedPattern& who = *r.who;
    if (who.lo.empty()) {
      any = true;
      return;
    }
    const int64_t sets = who.range_batches * who.range_heads;
    for (int64_t s = 0; s < sets; ++s) {
      for (int64_t i = 0; i < r.chunk; ++i) {
        const auto at = static_cast<size_t>(s * r.whole + q0 + i);
        const auto from = std::clamp<int64_t>(who.lo[at] - k0, 0, r.chunk);
        const auto to = std::clamp<int64_t>(who.hi[at] - k0, from, r.chunk);
        lo.push_back(static_cast<int32_t>(from));
        hi.push_back(static_cast<int32_t>(to));
        any |= from < to;
      }
    }
  }
  kernel::KeyRanges view(const Round& r) const {
    if (lo.empty()) return {};
    return {lo.data(), hi.data(), r.who->range_batches == 1 ? 0 : r.who->range_heads * r.chunk,
            r.who->range_heads == 1 ? 0 : r.chunk};
  }
};

// Chunk a of this rank's queries with chunk b of a block of keys and values, `keys` and `values`.
kernel::HeadInputs<float> pair_inputs(const Round& r, int64_t a, int64_t b, int owner,
                                      const float* keys, const float* values,
                                      const PairRanges& ranges) {
  kernel::HeadInputs<float> in;
  const int64_t c = r.chunk, q0 = r.start(r.ranks.rank(), a), k0 = r.start(owner, b);
  in.B = r.B(), in.H = r.H(), in.Hk = r.Hk(), in.Tq = in.Tk = c, in.D = r.D(), in.Dv = r.Dv();
  in.scale = r.scale;
  in.q = chunk_view(r.q.read().data(), c, r.H(), r.D(), a);
  in.k = chunk_view(keys, c, r.Hk(), r.D(), b);
  in.v = chunk_view(values, c, r.Hk(), r.Dv(), b);
  in.ranges = ranges.view(r);
  if (!r.diagonals.empty()) {
    const Shape& s = r.diagonals.shape();
    in.bias = {r.diagonals.read().data() + r.whole - 1 + k0 - q0, s[0] == 1 ? 0 : s[1] * s[3], -1,
               s[1] == 1 ? 0 : s[3]};
  }
  in.dropout = r.dropout;
  in.dropout.query = q0;
  in.dropout.key = k0;
  return in;
}

// A block of keys and values, close together for one message.
struct Block {
  std::vector<float> numbers;
  int64_t keys;  // of the numbers

  explicit Block(const Round& r)
      : numbers(static_cast<size_t>(r.k.elements() + r.v.elements())), keys(r.k.elements()) {}
  float* k() { return numbers.data(); }
  float* v() { return numbers.data() + keys; }
};

Block own_block(const Round& r) {
  Block block(r);
  std::ranges::copy(r.k.read(), block.k());
  std::ranges::copy(r.v.read(), block.v());
  return block;
}

// Sends `from` on and receives what comes into `to`.
void pass_on(const Round& r, int tag, const std::vector<float>& from, std::vector<float>& to,
             Transfers& moving) {
  moving.push_back(r.ranks.start_receive(r.previous(), tag, std::as_writable_bytes(std::span(to))));
  moving.push_back(r.ranks.start_send(r.next(), tag, std::as_bytes(std::span(from))));
}

// The rows [i] of out and lse, chunk `a`, with those of one more block of keys.
void merge(const Round& r, int64_t a, Tensor& out, float* lse, const Tensor& more,
           const float* more_lse) {
  const int64_t c = r.chunk, H = r.H(), Dv = r.Dv();
  float* to = out.write().data();
  const float* from = more.read().data();
  parallel_for(r.B() * c, std::max<int64_t>(1, 4096 / (H * Dv)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t b = row / c, i = row % c;
      for (int64_t h = 0; h < H; ++h) {
        float& old = lse[(b * H + h) * c + i];
        const float fresh = more_lse[(b * H + h) * c + i];
        if (fresh == -INFINITY) continue;
        const float top = std::max(old, fresh);
        const float sum = top + std::log(std::exp(old - top) + std::exp(fresh - top));
        const float keep = std::exp(old - sum), add = std::exp(fresh - sum);
        float* y = to + ((b * 2 * c + a * c + i) * H + h) * Dv;
        const float* x = from + ((b * c + i) * H + h) * Dv;
        for (int64_t d = 0; d < Dv; ++d) y[d] = keep * y[d] + add * x[d];
        old = sum;
      }
    }
  });
}

struct Result {
  Tensor out;  // [B, 2 c, H, Dv]
  Tensor lse;  // [2, B, H, c]
};

Result forward(const Round& r) {
  const int64_t c = r.chunk, plane = r.B() * r.H() * c;
  Result result{Tensor::zeros({r.B(), 2 * c, r.H(), r.Dv()}),
                Tensor::full({2, r.B(), r.H(), c}, -INFINITY)};
  Block here = own_block(r), coming(r);
  Tensor out({r.B(), c, r.H(), r.Dv()}), lse({r.B(), r.H(), c});
  for (int step = 0; step < r.ranks.size(); ++step) {
    Transfers moving;
    if (step + 1 < r.ranks.size()) pass_on(r, tag_ring, here.numbers, coming.numbers, moving);
    for (int64_t pair = 0; pair < 4; ++pair) {
      const int64_t a = pair / 2, b = pair % 2;
      const int owner = r.owner(step);
      const PairRanges ranges(r, r.start(r.ranks.rank(), a), r.start(owner, b));
      if (!ranges.any) continue;
      float* to = out.write().data();
      kernel::attention_forward(pair_inputs(r, a, b, owner, here.k(), here.v(), ranges),
                                {to, c * r.H() * r.Dv(), r.H() * r.Dv(), r.Dv()},
                                lse.write().data());
      merge(r, a, result.out, result.lse.write().data() + a * plane, out, lse.read().data());
    }
    finish(moving);
    std::swap(here, coming);
  }
  return result;
}

struct RingGradients {
  Tensor dq, dk, dv, diagonals;
};

void add_to(std::span<float> y, std::span<const float> x) {
  parallel_for(static_cast<int64_t>(y.size()), 1 << 15, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      y[static_cast<size_t>(i)] += x[static_cast<size_t>(i)];
    }
  });
}

// Adds a chunk [B, c, ...] to chunk `which` of [B, 2 c, ...]; `row` numbers a position.
void add_chunk(float* y, const Tensor& x, int64_t B, int64_t c, int64_t row, int64_t which) {
  for (int64_t b = 0; b < B; ++b) {
    add_to({y + (b * 2 + which) * c * row, static_cast<size_t>(c * row)},
           x.read().subspan(static_cast<size_t>(b * c * row), static_cast<size_t>(c * row)));
  }
}

// Keys and values go round once more, and the sums of their gradients behind them: a rank adds its
// share to a block's while it has the block, and the last one sends them home.
RingGradients backward(const Round& r, const Result& was, const Tensor& dy, bool with_diagonals) {
  const int64_t c = r.chunk, B = r.B(), plane = B * r.H() * c;
  const int ranks = r.ranks.size();
  RingGradients to{Tensor::zeros(r.q.shape()), Tensor(r.k.shape()), Tensor(r.v.shape()), {}};
  if (with_diagonals) to.diagonals = Tensor::zeros(r.diagonals.shape());
  Block here = own_block(r), coming(r), sums(r), sums_coming(r);
  Tensor dq({B, c, r.H(), r.D()}), dk({B, c, r.Hk(), r.D()}), dv({B, c, r.Hk(), r.Dv()}), dd;
  const int64_t width = 2 * c - 1;
  if (with_diagonals) dd = Tensor({r.diagonals.dim(0), r.diagonals.dim(1), 1, width});
  Transfers sums_moving;
  for (int step = 0; step < ranks; ++step) {
    Transfers moving;
    if (step + 1 < ranks) pass_on(r, tag_ring, here.numbers, coming.numbers, moving);
    for (int64_t pair = 0; pair < 4; ++pair) {
      const int64_t a = pair / 2, b = pair % 2;
      const int owner = r.owner(step);
      const PairRanges ranges(r, r.start(r.ranks.rank(), a), r.start(owner, b));
      if (!ranges.any) continue;
      kernel::AttentionGradients<float> into{
          {dq.write().data(), c * r.H() * r.D(), r.H() * r.D(), r.D()},
          {dk.write().data(), c * r.Hk() * r.D(), r.Hk() * r.D(), r.D()},
          {dv.write().data(), c * r.Hk() * r.Dv(), r.Hk() * r.Dv(), r.Dv()},
          {}};
      if (with_diagonals) {
        const Shape& s = dd.shape();
        into.dbias = {dd.write().data() + c - 1, s[0] == 1 ? 0 : s[1] * width, -1,
                      s[1] == 1 ? 0 : width};
      }
      kernel::attention_backward(pair_inputs(r, a, b, owner, here.k(), here.v(), ranges),
                                 chunk_view(was.out.read().data(), c, r.H(), r.Dv(), a),
                                 chunk_view(dy.read().data(), c, r.H(), r.Dv(), a),
                                 was.lse.read().data() + a * plane, into);
      finish(sums_moving);  // the block's sums so far, on their way since the step before
      add_chunk(to.dq.write().data(), dq, B, c, r.H() * r.D(), a);
      add_chunk(sums.k(), dk, B, c, r.Hk() * r.D(), b);
      add_chunk(sums.v(), dv, B, c, r.Hk() * r.Dv(), b);
      if (!with_diagonals) continue;
      const int64_t at = r.whole - 1 + r.start(owner, b) - r.start(r.ranks.rank(), a) - (c - 1);
      for (int64_t p = 0; p < dd.dim(0) * dd.dim(1); ++p) {
        add_to(to.diagonals.write().subspan(static_cast<size_t>(p * r.diagonals.dim(3) + at),
                                            static_cast<size_t>(width)),
               dd.read().subspan(static_cast<size_t>(p * width), static_cast<size_t>(width)));
      }
    }
    finish(sums_moving);
    finish(moving);
    std::swap(here, coming);
    if (ranks > 1) {
      std::swap(sums, sums_coming);  // what is here goes on, and the next block's come
      pass_on(r, tag_ring + 1, sums_coming.numbers, sums.numbers, sums_moving);
    }
  }
  finish(sums_moving);
  std::copy_n(sums.k(), r.k.elements(), to.dk.write().data());
  std::copy_n(sums.v(), r.v.elements(), to.dv.write().data());
  return to;
}

}  // namespace

SequenceRing::SequenceRing(Communicator& ranks, Random random)
    : ranks_(ranks), random_(random), outer_(newest()) {
  newest() = this;
}

SequenceRing::~SequenceRing() { newest() = outer_; }

SequenceRing* SequenceRing::current() { return newest(); }

void SequenceRing::share(std::span<const int64_t> lengths) {
  check(!lengths.empty(), "ring: there are no sequences to share");
  const int64_t chunks = 2 * ranks_.size();
  const int64_t longest = *std::ranges::max_element(lengths);
  check(longest >= ranks_.size(), "sequence_parallel: a sequence of ", longest,
        " tokens cannot be shared by ", ranks_.size(), " ranks");
  chunk_ = (longest + chunks - 1) / chunks;
  lengths_ = Tensor({static_cast<int64_t>(lengths.size())}, Dtype::i32);
  std::ranges::transform(lengths, lengths_.write<int32_t>().begin(),
                         [](int64_t n) { return static_cast<int32_t>(n); });
}

Tensor ring_attend(SequenceRing& ring, const Tensor& q, const Tensor& k, const Tensor& v,
                   const RingCall& call) {
  for (const Tensor* x : {&q, &k, &v}) {
    check(x->rank() == 4 && x->dtype() == Dtype::f32 && x->dim(1) == 2 * ring.chunk() &&
              x->dim(0) == q.dim(0),
          "ring: q, k and v need float32 [B, ", 2 * ring.chunk(), ", H, D], got ", q.shape(), ", ",
          k.shape(), " and ", v.shape());
  }
  check(k.dim(2) == v.dim(2) && k.dim(3) == q.dim(3) && q.dim(2) % k.dim(2) == 0,
        "ring: q, k and v do not fit each other: ", q.shape(), ", ", k.shape(), " and ", v.shape());
  const Extent e{q.dim(0), q.dim(2), ring.whole(), ring.whole()};
  auto who = call.who.resolve(e);
  check(who->mask.empty() && !who->edges,
        "ring: who may look at whom must be a range of keys for each query, as causal(), window() ",
        "and lengths() are");
  const Round round{.ranks = ring.ranks(),
                    .chunk = ring.chunk(),
                    .whole = ring.whole(),
                    .q = q,
                    .k = k,
                    .v = v,
                    .diagonals = call.diagonals,
                    .who = std::move(who),
                    .scale = static_cast<float>(call.scale),
                    .dropout = {static_cast<float>(call.dropout), call.seed}};
  const Result result = forward(round);
  return record("ring_attention", {q, k, v, call.diagonals}, result.out,
                [round, result](const Tensor& dy, InputGradients& dx) {
                  const bool by_distance = !round.diagonals.empty() && dx.wants(3);
                  RingGradients to = backward(round, result, dy, by_distance);
                  dx.add(0, to.dq);
                  dx.add(1, to.dk);
                  dx.add(2, to.dv);
                  if (by_distance) dx.add(3, to.diagonals);
                });
}

AttentionOutput attend_on_ring(SequenceRing& ring, const AttentionInputs& in, const Score& score,
                               const Alignment& align) {
  check(ring.shares(), "sequence_parallel: this task or model cannot share its sequences; lm and ",
        "classify with a Transformer can");
  const ScoreForm form = score(in.q, in.k);
  const auto& rows = align.rows;
  check(form.w.empty() && form.more.empty() && form.map == ScoreMap::none,
        "sequence_parallel: the score must be a product of queries and keys");
  check(rows && rows->align == kernel::RowAlign::softmax && !align.start,
        "sequence_parallel: the alignment must be softmax, not ", align.name);
  check(in.bias.empty() && in.capture.what == Capture::What::nothing && in.into.memory.empty(),
        "sequence_parallel: attention takes no bias for every pair, and shows no weights");
  RingCall call{.scale = form.scale, .who = in.who};
  if (!in.distances.empty()) {
    check(in.distances.dim(2) == 1,
          "sequence_parallel: positions must be the same for all queries, as rotary, ALiBi and T5 ",
          "are");
    call.diagonals = by_distance(in.distances, 1, 2 * ring.whole() - 1, ring.whole() - 1);
  }
  if (Tape::random() && in.dropout > 0) call.dropout = in.dropout, call.seed = ring.seed();
  AttentionOutput out;
  out.context = ring_attend(ring, form.q.rows(), form.k.rows(), in.v.rows(), call);
  return out;
}

Tensor ring_sum(SequenceRing& ring, const Tensor& x) {
  const auto sum_of = [&ranks = ring.ranks()](const Tensor& mine) {
    std::vector<Tensor> all(static_cast<size_t>(ranks.size()));
    std::vector<std::span<std::byte>> parts;
    for (int r = 0; r < ranks.size(); ++r) {
      Tensor& one = all[static_cast<size_t>(r)];
      one = r == ranks.rank() ? mine : Tensor(mine.shape());
      parts.push_back(std::as_writable_bytes(one.write()));
    }
    all_gather(ranks, parts);
    Tensor sum = all[0];
    for (size_t r = 1; r < all.size(); ++r) add_in_place(sum, all[r]);
    return sum;
  };
  return record("ring_sum", {x}, sum_of(x),
                [sum_of](const Tensor& dy, InputGradients& dx) { dx.add(0, sum_of(dy)); });
}

}  // namespace fovea
