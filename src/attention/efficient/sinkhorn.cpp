#include "fovea/attention/efficient/sinkhorn.h"

#include <algorithm>
#include <cmath>

#include "fovea/attention/efficient/spans.h"
#include "fovea/attention/efficient/union.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

const std::string name = "sinkhorn";
constexpr double never = -1e9;  // a logarithm of nothing whose differences are numbers

// log sum e^x along an axis, which stays.
Tensor log_sum(const Tensor& x, int axis) {
  Tensor most;
  {
    const Tape::Pause pause;
    most = max(x, axis, true);
  }
  return log(sum(exp(x - most), axis, true)) + most;
}

// How n tokens fill a block.
int64_t filled(int64_t n, int64_t block, int64_t size) {
  return std::clamp<int64_t>(n - block * size, 0, size);
}

Tensor context(const AttentionInputs& at, const std::vector<int32_t>& n, const SinkhornOptions& o) {
  const int64_t B = at.q.dim(0), T = at.q.dim(1), H = at.q.dim(2), D = at.q.dim(3),
                Dv = at.v.dim(3), size = o.block, blocks = (T + size - 1) / size;
  const auto padded = [&](const Tensor& x) {
    const Tensor clear = cleared_behind(x, n);
    return T == blocks * size ? clear : pad(clear, 1, 0, blocks * size - T);
  };
  const Tensor q = padded(at.q), k = padded(at.k), v = padded(at.v);
  // One over the tokens of each block, and which pairs of blocks there are.
  Tensor part({B, blocks, 1, 1}), mask({B, 1, blocks, blocks}, Dtype::i32);
  KeySet set;
  set.range_batches = B * blocks;
  for (int64_t b = 0; b < B; ++b) {
    const int64_t length = n[static_cast<size_t>(b)], used = (length + size - 1) / size;
    for (int64_t a = 0; a < blocks; ++a) {
      const int64_t rows = filled(length, a, size);
      part.write()[static_cast<size_t>(b * blocks + a)] =
          1 / static_cast<float>(std::max<int64_t>(rows, 1));
      for (int64_t c = 0; c < blocks; ++c) {
        mask.write<int32_t>()[static_cast<size_t>((b * blocks + a) * blocks + c)] =
            a < used && c < used;
      }
      // The sorted block comes first, then the block itself; alone it is sorted to its own place,
      // and what is behind its end would be, too.
      set.lo.insert(set.lo.end(), static_cast<size_t>(size),
                    static_cast<int32_t>(used <= 1 ? size : 0));
      set.hi.insert(set.hi.end(), static_cast<size_t>(size),
                    static_cast<int32_t>(rows == 0 ? (used <= 1 ? size : 0) : size + rows));
    }
  }
  // [B, T, H, D] -> [B, H, blocks, size D]
  const auto by_block = [&](const Tensor& x, int64_t width) {
    return reshape(permute(reshape(x, {B, blocks, size, H, width}), {0, 3, 1, 2, 4}),
                   {B, H, blocks, size * width});
  };
  const Tensor scale = part.to(q.dtype());
  const auto means = [&](const Tensor& x) {
    return permute(sum(reshape(x, {B, blocks, size, H, D}), 2) * scale, {0, 2, 1, 3});
  };
  const double t = o.sort_temperature * std::sqrt(static_cast<double>(D));
  const Tensor logits = matmul(means(q), means(k), Transpose::b) / t;  // [B, H, blocks, blocks]
  const Tensor R = sinkhorn(logits, mask, o.sort_steps);
  const auto with_sorted = [&](const Tensor& x, int64_t width) {
    const Tensor sorted = reshape(matmul(R, by_block(x, width)), {B, H, blocks, size, width});
    return concat({reshape(permute(sorted, {0, 2, 3, 1, 4}), {B * blocks, size, H, width}),
                   reshape(x, {B * blocks, size, H, width})},
                  1);
  };
  AttentionInputs near;
  near.q = reshape(q, {B * blocks, size, H, D});
  near.k = with_sorted(k, D);
  near.v = with_sorted(v, Dv);
  near.dropout = at.dropout;
  const Tensor y = reshape(attend_union(near, {std::move(set)}), {B, blocks * size, H, Dv});
  return T == blocks * size ? y : slice(y, 1, 0, T);
}

}  // namespace

Tensor sinkhorn(const Tensor& x, const Tensor& mask, int64_t steps) {
  Tensor y = where(mask, x, never);
  for (int64_t i = 0; i < steps; ++i) {
    y = where(mask, y - log_sum(y, -2), never);
    y = where(mask, y - log_sum(y, -1), never);
  }
  return where(mask, exp(y), 0);
}

SelfAttention sinkhorn_self_attention(const SinkhornOptions& o) {
  SelfAttention self;
  self.attend = [o](const AttentionInputs& in) {
    return with_weights(in, name, [&](const AttentionInputs& all) {
      return by_sequence(all, name, [&](const AttentionInputs& at, const std::vector<int32_t>& n) {
        return context(at, n, o);
      });
    });
  };
  return self;
}

}  // namespace fovea
