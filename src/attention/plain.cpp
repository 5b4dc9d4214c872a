// Attention as its definition reads, with every matrix in memory.
#include <limits>

#include "fovea/attention/call.h"
#include "fovea/attention/engine.h"
#include "fovea/attention/score/map.h"
#include "fovea/kernel/attention.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/linear.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// [B, T, heads, D] -> [B, key heads, group or 1, T, D]: query heads beside the key head they share.
Tensor by_key_head(const Tensor& x, int64_t key_heads) {
  const int64_t group = x.dim(2) / key_heads;
  const Tensor split = reshape(x, {x.dim(0), x.dim(1), key_heads, group, x.dim(3)});
  return permute(split, {0, 2, 3, 1, 4});
}

// e [B, H, Tq, Tk]
Tensor scores(const Call& c) {
  const Tensor q = by_key_head(c.form.q, c.Hk), k = by_key_head(c.form.k, c.Hk);
  Tensor s;
  if (c.form.w.empty() && c.form.map != ScoreMap::distance) {
    s = apply(c.form.map, matmul(q, k, Transpose::b) * c.form.scale);
  } else {
    // A vector for every pair: [B, H, Tq, 1, D] and [B, H, 1, Tk, D].
    const int64_t D = q.dim(-1);
    const Tensor k_all = broadcast_to(k, {c.e.B, c.Hk, c.e.H / c.Hk, c.e.Tk, D});
    const Tensor one = reshape(q, {c.e.B, c.e.H, c.e.Tq, 1, D});
    const Tensor other = reshape(k_all, {c.e.B, c.e.H, 1, c.e.Tk, D});
    // Not quite the distance where it is 0, so that its slope stays finite.
    s = c.form.w.empty() ? -sqrt(sum(square(one - other), -1) + 1e-12)
                         : linear(apply(c.form.map, one + other), reshape(c.form.w, {1, D}));
  }
  s = reshape(s, {c.e.B, c.e.H, c.e.Tq, c.e.Tk});
  return c.bias.empty() ? s : s + c.bias;
}

// int32 [B, H, Tq, Tk]
Tensor allowed(const Call& c) {
  Tensor mask({c.e.B, c.e.H, c.e.Tq, c.e.Tk}, Dtype::i32);
  auto to = mask.write<int32_t>().begin();
  for (int64_t b = 0; b < c.e.B; ++b) {
    for (int64_t h = 0; h < c.e.H; ++h) {
      for (int64_t i = 0; i < c.e.Tq; ++i) {
        for (int64_t j = 0; j < c.e.Tk; ++j) *to++ = c.who.allows(c.e, b, h, i, j);
      }
    }
  }
  return mask;
}

// The key that a draw u in [0, 1) falls on, or the heaviest one for u < 0; -1 for a row of zeros.
int32_t chosen_key(std::span<const double> p, double u) {
  int32_t best = -1;
  for (int32_t j = 0; j < static_cast<int32_t>(p.size()); ++j) {
    if (p[j] <= 0) continue;
    if (u < 0) {
      if (best < 0 || p[j] > p[best]) best = j;
      continue;
    }
    best = j;  // the last one stands if rounding leaves a rest
    if (u < p[j]) break;
    u -= p[j];
  }
  return best;
}

// One key for each row of p: drawn while training, the heaviest otherwise.
Tensor choose(const Tensor& p, Random* random) {
  const Tensor probabilities = p.to(Dtype::f64);
  const int64_t n = p.dim(-1);
  Tensor chosen(Shape(std::span(p.shape().begin(), p.rank() - 1)), Dtype::i32);
  auto to = chosen.write<int32_t>();
  for (int64_t r = 0; r < chosen.elements(); ++r) {
    to[r] = chosen_key(probabilities.read<double>().subspan(r * n, n),
                       Tape::current() ? random->uniform() : -1);
  }
  return chosen;
}

Tensor one_hot(const Tensor& chosen, int64_t n, Dtype dtype) {
  Shape shape = chosen.shape();
  shape.push_back(n);
  Tensor y = Tensor::zeros(shape, dtype);
  const auto at = chosen.read<int32_t>();
  with_real(dtype, [&]<class T>(T) {
    auto to = y.write<T>();
    for (int64_t r = 0; r < chosen.elements(); ++r) {
      if (at[r] >= 0) to[r * n + at[r]] = 1;
    }
  });
  return y;
}

Tensor masked(const Tensor& mask, const Tensor& e) { return where(mask, e, minus_infinity); }

struct Aligned {
  Tensor a, log_probability{};
};

Aligned hard(const Call& c, const Tensor& e, const Tensor& mask) {
  const Tensor p = softmax(masked(mask, e));
  const Tensor chosen = choose(p, c.in.random);
  const Tensor a = one_hot(chosen, c.e.Tk, e.dtype());
  if (c.align.estimator == Alignment::Estimator::straight_through) {
    return {record("straight_through", {p}, a,
                   [](const Tensor& da, InputGradients& dp) { dp.add(0, da); })};
  }
  // log a_m for the key drawn; rows without one give log(1) = 0.
  const Tensor drawn = sum(p * a, -1);
  const Tensor none = 1 - sum(a, -1);
  return {a, permute(log(drawn + none), {0, 2, 1})};
}

Aligned reinforced(const Call& c, const Tensor& e, const Tensor& mask) {
  const Tensor p = sigmoid(c.align.keep(c.in.k));  // [B, Tk, Hk]
  const Tensor probabilities = p.to(Dtype::f64);
  Tensor kept(p.shape(), p.dtype());
  with_real(p.dtype(), [&]<class T>(T) {
    auto to = kept.write<T>();
    for (int64_t i = 0; i < p.elements(); ++i) {
      const double limit = Tape::current() ? c.in.random->uniform() : 0.5;
      to[i] = probabilities.read<double>()[i] > limit ? 1 : 0;
    }
  });
  const Tensor log_p = log(kept * p + (1 - kept) * (1 - p) + 1e-12);
  // Each key head's choice holds for all query heads that share it.
  const Tensor by_head = permute(kept.to(Dtype::i32).to(e.dtype()), {0, 2, 1});  // [B, Hk, Tk]
  const Tensor wide = broadcast_to(reshape(by_head, {c.e.B, c.Hk, 1, 1, c.e.Tk}),
                                   {c.e.B, c.Hk, c.e.H / c.Hk, c.e.Tq, c.e.Tk});
  const Tensor both = reshape(wide, mask.shape()) * mask.to(e.dtype());
  return {softmax(masked(both.to(Dtype::i32), e)), sum(log_p, 1, true)};
}

Aligned align(const Call& c, const Tensor& e, const Tensor& mask) {
  switch (c.align.kind) {
    case Alignment::Kind::softmax:
      return {softmax(masked(mask, e))};
    case Alignment::Kind::sigmoid:
      return {where(mask, sigmoid(e), 0)};
    case Alignment::Kind::entmax:
      return {entmax(masked(mask, e), c.align.alpha)};
    case Alignment::Kind::hard:
      return hard(c, e, mask);
    case Alignment::Kind::reinforced:
      return reinforced(c, e, mask);
    case Alignment::Kind::local: {
      Tensor position({c.e.Tk}, Dtype::f64);
      for (int64_t j = 0; j < c.e.Tk; ++j) position.write<double>()[j] = static_cast<double>(j);
      const Tensor p = reshape(permute(c.center, {0, 2, 1}), {c.e.B, c.e.H, c.e.Tq, 1});
      const double sigma = c.align.reach / 2;
      const Tensor bell = exp(square(position - p) * (-0.5 / (sigma * sigma)));
      return {softmax(masked(mask, e)) * convert(bell, e.dtype())};
    }
  }
  fail("attend: unknown alignment");
}

// The same bits as the fused kernels draw.
Tensor dropped(const Call& c, const Tensor& a) {
  if (c.dropout == 0) return a;
  const auto rate = static_cast<float>(c.dropout);
  Tensor keep(a.shape(), a.dtype());
  const uint32_t threshold = kernel::dropout_threshold(rate);
  with_real(a.dtype(), [&]<class T>(T) {
    auto to = keep.write<T>().begin();
    for (int64_t bh = 0; bh < c.e.B * c.e.H; ++bh) {
      for (int64_t i = 0; i < c.e.Tq; ++i) {
        const uint32_t row = kernel::dropout_row_key(c.seed, bh, i);
        for (int64_t j = 0; j < c.e.Tk; ++j) {
          *to++ = kernel::dropout_bits(row, j) < threshold ? T(0) : T(1) / (T(1) - T(rate));
        }
      }
    }
  });
  return a * keep;
}

}  // namespace

AttentionOutput attend_plain(const Call& c) {
  const Tensor mask = allowed(c);
  const Aligned weights = align(c, scores(c), mask);
  const Tensor a = dropped(c, weights.a);  // [B, H, Tq, Tk]
  const Tensor grouped = reshape(a, {c.e.B, c.Hk, c.e.H / c.Hk, c.e.Tq, c.e.Tk});
  const Tensor read = matmul(grouped, by_key_head(c.in.v, c.Hk));  // [B, Hk, G, Tq, Dv]
  AttentionOutput out;
  out.context = reshape(permute(read, {0, 3, 1, 2, 4}), {c.e.B, c.e.Tq, c.e.H, c.in.v.dim(3)});
  out.log_probability = weights.log_probability;
  out.weights = captured(c, weights.a);
  return out;
}

AttentionOutput attend_plain(const AttentionInputs& in, const Score& score,
                             const Alignment& align) {
  return attend_plain(prepare(in, score, align));
}

}  // namespace fovea
