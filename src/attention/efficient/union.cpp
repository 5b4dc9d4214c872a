#include "fovea/attention/efficient/union.h"

#include <cmath>
#include <limits>
#include <memory>

#include "fovea/attention/engine.h"
#include "fovea/attention/score/dot.h"
#include "fovea/base/parallel.h"
#include "fovea/kernel/attention.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

using kernel::HeadView;
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
// e^-1000 is 0 beside any other score, and small enough to leave scores beside it their digits.
constexpr float last_resort = -1000;
// As a count in float64, where e^-1000 would be 0 and its logarithm no number: a row that has
// nothing else must still find itself.
constexpr double last_resort_weight = 1e-217;

struct Sizes {
  int64_t B, H, Tq, Tk, D, Dv;
};

// Rows in the order of a list, [B, H, places, D].
struct Ordered {
  Tensor memory;
  HeadView<const float> view;
};

HeadView<const float> by_head(const Tensor& x) {
  return {x.read().data(), x.dim(1) * x.dim(2) * x.dim(3), x.dim(3), x.dim(2) * x.dim(3)};
}
HeadView<float> by_head(Tensor& x) {
  return {x.write().data(), x.dim(1) * x.dim(2) * x.dim(3), x.dim(3), x.dim(2) * x.dim(3)};
}

// f(b, h, place) for every place, a block of places at a time on any thread.
template <class F>
void each_place(int64_t B, int64_t H, int64_t places, const F& f) {
  constexpr int64_t block = 256;
  const int64_t blocks = (places + block - 1) / block;
  parallel_for(B * H * blocks, 1, [&](int64_t c, int64_t) {
    const int64_t bh = c / blocks, from = c % blocks * block;
    const int64_t to = std::min(from + block, places);
    for (int64_t place = from; place < to; ++place) f(bh / H, bh % H, place);
  });
}

template <class Row>
Ordered ordered(HeadView<const float> x, const Sizes& n, int64_t places, int64_t width,
                const Row& row) {
  Ordered y{Tensor({n.B, n.H, places, width}), {}};
  const HeadView<float> to = by_head(y.memory);
  each_place(n.B, n.H, places, [&](int64_t b, int64_t h, int64_t place) {
    const int64_t from = row(b, h, place);
    float* at = to.at(b, h) + place * to.row;
    if (from < 0) {
      std::fill_n(at, width, 0.0f);
    } else {
      std::copy_n(x.at(b, h) + from * x.row, width, at);
    }
  });
  y.view = by_head(std::as_const(y.memory));
  return y;
}

// What a call keeps for its way back.
struct Saved {
  Sizes n;
  Heads q, k, v;
  float scale;
  kernel::WeightDropout dropout;
  std::shared_ptr<const std::vector<KeySet>> sets;

  Ordered queries(const KeySet& s, HeadView<const float> x, int64_t width) const {
    if (s.queries.empty()) return {{}, x};
    return ordered(x, n, n.Tq, width,
                   [&](int64_t b, int64_t h, int64_t place) { return s.query(b, h, place, n.Tq); });
  }
  Ordered keys(const KeySet& s, HeadView<const float> x, int64_t width) const {
    if (s.keys.empty()) return {{}, x};
    const int64_t places = s.places(n.Tk);
    return ordered(x, n, places, width,
                   [&](int64_t b, int64_t h, int64_t place) { return s.key(b, h, place, places); });
  }
};

// One set as the kernel takes it.
struct OneSet {
  Ordered q, k, v;
  std::vector<float> diagonal;
  kernel::HeadInputs<float> in;

  OneSet(const Saved& saved, const KeySet& s, size_t number)
      : q(saved.queries(s, saved.q.view(), saved.n.D)),
        k(saved.keys(s, saved.k.view(), saved.n.D)),
        v(saved.keys(s, saved.v.view(), saved.n.Dv)) {
    const Sizes& n = saved.n;
    in.B = n.B, in.H = in.Hk = n.H, in.Tq = n.Tq, in.Tk = s.places(n.Tk), in.D = n.D, in.Dv = n.Dv;
    in.scale = saved.scale;
    in.q = q.view, in.k = k.view, in.v = v.view;
    in.ranges = {s.lo.data(), s.hi.data(), s.range_batches == 1 ? 0 : s.range_heads * n.Tq,
                 s.range_heads == 1 ? 0 : n.Tq};
    in.dropout = saved.dropout;
    in.dropout.seed += 0x9E3779B97F4A7C15u * number;
    if (!s.others_first) return;
    diagonal.assign(static_cast<size_t>(in.Tq + in.Tk - 1), 0.0f);
    diagonal[static_cast<size_t>(in.Tq - 1)] = last_resort;
    in.bias = {diagonal.data() + in.Tq - 1, 0, -1, 0};
  }
};

// Joins a set's contexts and sums with those of the sets before it.
void join(const Saved& saved, const KeySet& s, HeadView<const float> o, const float* l,
          HeadView<float> out, float* lse) {
  const Sizes& n = saved.n;
  each_place(n.B, n.H, n.Tq, [&](int64_t b, int64_t h, int64_t place) {
    const float more = l[(b * n.H + h) * n.Tq + place];
    if (more == minus_infinity) return;
    const int64_t i = s.query(b, h, place, n.Tq);
    float& sum = lse[(b * n.H + h) * n.Tq + i];
    const float top = std::max(sum, more), x = std::exp(sum - top), y = std::exp(more - top);
    const float *from = o.at(b, h) + place * o.row, p = x / (x + y), q = y / (x + y);
    float* to = out.at(b, h) + i * out.row;
    for (int64_t d = 0; d < n.Dv; ++d) to[d] = p * to[d] + q * from[d];
    sum = top + std::log(x + y);
  });
}

Tensor forward(const Saved& saved, Tensor& lse) {
  const Sizes& n = saved.n;
  Tensor out({n.B, n.Tq, n.H, n.Dv});
  lse = Tensor({n.B, n.H, n.Tq});
  const auto view = [&](Tensor& x) {
    return HeadView<float>{x.write().data(), n.Tq * n.H * n.Dv, n.H * n.Dv, n.Dv};
  };
  bool fresh = true;
  for (size_t number = 0; number < saved.sets->size(); ++number) {
    const KeySet& s = (*saved.sets)[number];
    const OneSet one(saved, s, number);
    if (fresh && s.queries.empty()) {
      kernel::attention_forward(one.in, view(out), lse.write().data());
    } else {
      if (fresh) {
        out = Tensor::zeros(out.shape());
        lse = Tensor::full(lse.shape(), minus_infinity);
      }
      Tensor o({n.B, n.H, n.Tq, n.Dv}), l(lse.shape());
      kernel::attention_forward(one.in, by_head(o), l.write().data());
      join(saved, s, by_head(std::as_const(o)), l.read().data(), view(out), lse.write().data());
    }
    fresh = false;
  }
  return out;
}

// Adds rows at places to the rows they stand for. Lists have a key several times: each head is
// gone through in the order of places.
template <class Row>
void add_back(HeadView<const float> from, HeadView<float> to, const Sizes& n, int64_t places,
              int64_t width, const Row& row) {
  parallel_for(n.B * n.H, 1, [&](int64_t bh, int64_t) {
    const int64_t b = bh / n.H, h = bh % n.H;
    for (int64_t place = 0; place < places; ++place) {
      const int64_t i = row(b, h, place);
      if (i < 0) continue;
      const float* x = from.at(b, h) + place * from.row;
      float* y = to.at(b, h) + i * to.row;
      for (int64_t d = 0; d < width; ++d) y[d] += x[d];
    }
  });
}

void backward(const Saved& saved, const Tensor& out, const Tensor& lse, const Tensor& dout,
              Tensor& dq, Tensor& dk, Tensor& dv) {
  const Sizes& n = saved.n;
  const HeadView<const float> o{out.read().data(), n.Tq * n.H * n.Dv, n.H * n.Dv, n.Dv};
  const HeadView<const float> g{dout.read().data(), n.Tq * n.H * n.Dv, n.H * n.Dv, n.Dv};
  bool fresh = true;
  for (size_t number = 0; number < saved.sets->size(); ++number) {
    const KeySet& s = (*saved.sets)[number];
    const OneSet one(saved, s, number);
    const Ordered os = saved.queries(s, o, n.Dv), gs = saved.queries(s, g, n.Dv);
    Tensor l = lse;
    if (!s.queries.empty()) {
      l = Tensor(lse.shape());
      float* to = l.write().data();
      const float* from = lse.read().data();
      each_place(n.B, n.H, n.Tq, [&](int64_t b, int64_t h, int64_t place) {
        const int64_t head = (b * n.H + h) * n.Tq;
        to[head + place] = from[head + s.query(b, h, place, n.Tq)];
      });
    }
    const HeadView<float> to_q = saved.q.over(dq.write().data());
    const HeadView<float> to_k = saved.k.over(dk.write().data());
    const HeadView<float> to_v = saved.v.over(dv.write().data());
    if (fresh && s.queries.empty() && s.keys.empty()) {
      kernel::attention_backward(one.in, os.view, gs.view, l.read().data(), {to_q, to_k, to_v, {}});
    } else {
      if (fresh) {
        for (Tensor* x : {&dq, &dk, &dv}) std::ranges::fill(x->write(), 0.0f);
      }
      const int64_t places = s.places(n.Tk);
      Tensor q({n.B, n.H, n.Tq, n.D}), k({n.B, n.H, places, n.D}), v({n.B, n.H, places, n.Dv});
      kernel::attention_backward(one.in, os.view, gs.view, l.read().data(),
                                 {by_head(q), by_head(k), by_head(v), {}});
      const auto key = [&](int64_t b, int64_t h, int64_t place) {
        return s.key(b, h, place, places);
      };
      add_back(by_head(std::as_const(q)), to_q, n, n.Tq, n.D,
               [&](int64_t b, int64_t h, int64_t place) { return s.query(b, h, place, n.Tq); });
      add_back(by_head(std::as_const(k)), to_k, n, places, n.D, key);
      add_back(by_head(std::as_const(v)), to_v, n, places, n.Dv, key);
    }
    fresh = false;
  }
}

// The definition: one softmax over all pairs, to whose scores the logarithm of how often a pair is
// in the sets has been added. For float64, and for tests.
Tensor by_definition(const AttentionInputs& in, const std::vector<KeySet>& sets, const Sizes& n) {
  Tensor often = Tensor::zeros({n.B, n.H, n.Tq, n.Tk}, Dtype::f64);
  Tensor more = Tensor::zeros(often.shape(), Dtype::f64);
  Tensor may = Tensor::zeros(often.shape(), Dtype::i32);
  auto count = often.write<double>(), add = more.write<double>();
  auto mask = may.write<int32_t>();
  for (const KeySet& s : sets) {
    const int64_t places = s.places(n.Tk);
    for (int64_t b = 0; b < n.B; ++b) {
      for (int64_t h = 0; h < n.H; ++h) {
        for (int64_t p = 0; p < n.Tq; ++p) {
          const int64_t i = s.query(b, h, p, n.Tq);
          const auto range = static_cast<size_t>(
              ((b % s.range_batches) * s.range_heads + h % s.range_heads) * n.Tq + p);
          for (int64_t j = s.lo[range]; j < s.hi[range]; ++j) {
            const auto at =
                static_cast<size_t>(((b * n.H + h) * n.Tq + i) * n.Tk + s.key(b, h, j, places));
            count[at] += s.others_first && j == p ? last_resort_weight : 1;
            mask[at] = 1;
          }
        }
      }
    }
  }
  for (size_t i = 0; i < count.size(); ++i) add[i] = mask[i] ? std::log(count[i]) : 0;
  AttentionInputs plain = in;
  plain.bias = more.to(in.q.dtype());
  plain.who = allow(may);
  plain.distances = {};
  plain.capture = {};
  return attend_unrecorded(plain, scaled_score(), {}).context;
}

}  // namespace

Tensor attend_union(const AttentionInputs& in, std::vector<KeySet> sets) {
  const Sizes n{in.q.dim(0), in.q.dim(2), in.q.dim(1), in.k.dim(1), in.q.dim(3), in.v.dim(3)};
  check(in.k.dim(2) == n.H && in.v.dim(2) == n.H && in.k.dim(3) == n.D, "attend_union: queries ",
        in.q.shape(), ", keys ", in.k.shape(), " and values ", in.v.shape(), " need equal heads");
  if (in.q.dtype() != Dtype::f32) return by_definition(in, sets, n);
  Saved saved{.n = n,
              .q = in.q.to_record(),
              .k = in.k.to_record(),
              .v = in.v.to_record(),
              .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(n.D))),
              .dropout = {},
              .sets = std::make_shared<const std::vector<KeySet>>(std::move(sets))};
  if (Random* random = Tape::random(); random && in.dropout > 0) {
    saved.dropout = {static_cast<float>(in.dropout), random->bits64()};
  }
  Tensor lse;
  const Tensor out = forward(saved, lse);
  return record("attend_union", {saved.q.memory(), saved.k.memory(), saved.v.memory()}, out,
                [saved, out, lse](const Tensor& dy, InputGradients& dx) {
                  Tensor dq(saved.q.memory().shape()), dk(saved.k.memory().shape()),
                      dv(saved.v.memory().shape());
                  backward(saved, out, lse, dy, dq, dk, dv);
                  dx.add(0, dq);
                  dx.add(1, dk);
                  dx.add(2, dv);
                });
}

}  // namespace fovea
