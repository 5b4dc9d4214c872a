// Attention as its definition reads, with every matrix in memory.
#include <limits>

#include "fovea/attention/engine.h"
#include "fovea/attention/prepared.h"
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
Tensor scores(const PreparedAttention& c) {
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
    if (c.form.w.empty()) {
      s = -sqrt(sum(square(one - other), -1) + 1e-12);
    } else if (c.form.w.rank() == 1) {
      s = linear(apply(c.form.map, one + other), reshape(c.form.w, {1, D}));
    } else {
      s = sum(apply(c.form.map, one + other) * reshape(c.form.w, {1, c.e.H, 1, 1, D}), -1);
    }
  }
  s = reshape(s, {c.e.B, c.e.H, c.e.Tq, c.e.Tk});
  return c.bias.empty() ? s : s + c.bias;
}

// int32 [B, H, Tq, Tk]
Tensor allowed(const PreparedAttention& c) {
  Tensor mask({c.e.B, c.e.H, c.e.Tq, c.e.Tk}, Dtype::i32);
  auto to = mask.write<int32_t>().begin();
  for (int64_t b = 0; b < c.e.B; ++b) {
    for (int64_t h = 0; h < c.e.H; ++h) {
      for (int64_t i = 0; i < c.e.Tq; ++i) {
        for (int64_t j = 0; j < c.e.Tk; ++j) *to++ = c.who->allows(c.e, b, h, i, j);
      }
    }
  }
  return mask;
}

Tensor masked(const Tensor& mask, const Tensor& e) { return where(mask, e, minus_infinity); }

// The same bits as the fused kernels draw.
Tensor dropped(const PreparedAttention& c, const Tensor& a) {
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

AttentionOutput attend_plain(const PreparedAttention& c) {
  const Tensor mask = allowed(c);
  const AlignedWeights weights = aligned(c.align, masked(mask, scores(c)), c.start);
  const Tensor a = dropped(c, weights.a);  // [B, H, Tq, Tk]
  const Tensor grouped = reshape(a, {c.e.B, c.Hk, c.e.H / c.Hk, c.e.Tq, c.e.Tk});
  const Tensor read = matmul(grouped, by_key_head(c.in.v, c.Hk));  // [B, Hk, G, Tq, Dv]
  AttentionOutput out;
  out.context = reshape(permute(read, {0, 3, 1, 2, 4}), {c.e.B, c.e.Tq, c.e.H, c.in.v.dim(3)});
  out.log_probability =
      weights.log_probability.empty() ? c.start.log_probability : weights.log_probability;
  if (c.wants(Capture::What::with_gradient)) {
    out.weights.rows = weights.a;
  } else {
    out.weights = captured(c, weights.a);
  }
  return out;
}

AttentionOutput attend_plain(const AttentionInputs& in, const Score& score,
                             const Alignment& align) {
  return attend_plain(prepare(in, score, align));
}

}  // namespace fovea
