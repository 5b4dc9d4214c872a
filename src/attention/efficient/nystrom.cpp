#include "fovea/attention/efficient/nystrom.h"

#include <algorithm>
#include <cmath>

#include "fovea/attention/efficient/spans.h"
#include "fovea/attention/engine.h"
#include "fovea/op/conv.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

const std::string name = "nystrom";

Tensor identity(int64_t n, Dtype dtype) {
  Tensor x = Tensor::zeros({n, n}, Dtype::f64);
  for (int64_t i = 0; i < n; ++i) x.write<double>()[static_cast<size_t>(i * n + i)] = 1;
  return x.to(dtype);
}

// Which landmark each row goes to, and how many rows each has.
struct Landmarks {
  int64_t B, T, m;
  Tensor owner;  // int32 [B T], -1 behind a sequence's end
  Tensor part;   // [B, m, 1, 1]: one over its rows
  std::vector<int32_t> used;

  Landmarks(const std::vector<int32_t>& n, int64_t T_, int64_t most, Dtype dtype)
      : B(static_cast<int64_t>(n.size())), T(T_), m(std::min(most, T_)) {
    owner = Tensor::full({B * T}, -1, Dtype::i32);
    Tensor count = Tensor::zeros({B, m, 1, 1}, Dtype::f64);
    auto to = owner.write<int32_t>();
    auto rows = count.write<double>();
    for (int64_t b = 0; b < B; ++b) {
      const int64_t length = n[static_cast<size_t>(b)], own = std::min(m, length);
      used.push_back(static_cast<int32_t>(own));
      for (int64_t t = 0; t < length; ++t) {
        const int64_t at = b * m + t * own / length;
        to[static_cast<size_t>(b * T + t)] = static_cast<int32_t>(at);
        ++rows[static_cast<size_t>(at)];
      }
    }
    for (double& x : rows) x = x > 0 ? 1 / x : 0;
    part = count.to(dtype);
  }
  Tensor means(const Tensor& x) const {  // [B, T, H, D] -> [B, m, H, D]
    const int64_t H = x.dim(2), D = x.dim(3);
    return reshape(scatter_add(reshape(x, {B * T, H * D}), owner, B * m), {B, m, H, D}) * part;
  }
  Pattern who() const {
    const bool all = std::ranges::all_of(used, [this](int32_t x) { return x == m; });
    return all ? Pattern() : lengths(lengths_tensor(used));
  }
  // int32 [B, 1, m, m]: pairs of landmarks that there are.
  Tensor pairs() const {
    Tensor mask({B, 1, m, m}, Dtype::i32);
    auto to = mask.write<int32_t>().begin();
    for (const int32_t own : used) {
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < m; ++j) *to++ = i < own && j < own;
      }
    }
    return mask;
  }
};

Tensor context(const AttentionInputs& at, const std::vector<int32_t>& n, const NystromOptions& o) {
  const int64_t D = at.q.dim(3);
  const Tensor q = cleared_behind(at.q, n), k = cleared_behind(at.k, n);
  const Landmarks marks(n, at.q.dim(1), o.landmarks, q.dtype());
  const Tensor qm = marks.means(q), km = marks.means(k);
  const auto by_head = [](const Tensor& x) { return permute(x, {0, 2, 1, 3}); };
  const Tensor scores = matmul(by_head(qm), by_head(km), Transpose::b) /
                        std::sqrt(static_cast<double>(D));  // [B, H, m, m]
  const Tensor mask = marks.pairs();
  const Tensor a = where(mask, softmax(where(mask, scores, -1e9)), 0);
  AttentionInputs to_all;  // softmax(Q~ K^T) V
  to_all.q = qm, to_all.k = at.k, to_all.v = at.v;
  to_all.who = lengths(lengths_tensor(n));
  const Tensor read = by_head(attend_unrecorded(to_all).context);
  AttentionInputs to_marks;  // softmax(Q K~^T)
  to_marks.q = at.q, to_marks.k = km;
  to_marks.v = by_head(matmul(iterative_pinv(a, o.pinv_steps), read));
  to_marks.who = marks.who();
  to_marks.dropout = at.dropout;
  return attend_unrecorded(to_marks).context;
}

// Each head's kernel over time, the same for all its features.
Tensor convolved(const Tensor& v, const Tensor& kernel, const std::vector<int32_t>& n) {
  const int64_t B = v.dim(0), T = v.dim(1), H = v.dim(2), D = v.dim(3), K = kernel.dim(1);
  const Tensor weight = reshape(broadcast_to(reshape(kernel, {H, 1, K}), {H, D, K}), {H * D, K, 1});
  const Tensor rows = reshape(cleared_behind(v, n), {B, T, H * D});
  return reshape(conv1d(rows, weight, {}, {.padding = K / 2, .groups = H * D}), v.shape());
}

}  // namespace

Tensor iterative_pinv(const Tensor& a, int64_t steps) {
  const Tensor rows = max(sum(a, -1, true), -2, true), columns = max(sum(a, -2, true), -1, true);
  const Tensor one = identity(a.dim(-1), a.dtype());
  Tensor z = transposed(a) / (rows * columns + 1e-30);  // of no rows at all: zeros
  for (int64_t i = 0; i < steps; ++i) {
    const Tensor az = matmul(a, z);
    z = matmul(z, one * 13.0 - matmul(az, one * 15.0 - matmul(az, one * 7.0 - az))) * 0.25;
  }
  return z;
}

SelfAttention nystrom_self_attention(Scope s, const NystromOptions& o) {
  check(o.conv_width == 0 || o.conv_width % 2 == 1,
        "attention 'nystrom': conv_width must be odd, "
        "or 0 for none, got ",
        o.conv_width);
  Parameter kernel;
  if (o.conv_width > 0) {
    kernel = s.param("conv", {o.heads, o.conv_width},
                     init::uniform(1 / std::sqrt(static_cast<double>(o.conv_width))));
  }
  SelfAttention self;
  self.attend = [o, kernel](const AttentionInputs& in) {
    AttentionOutput out = with_weights(in, name, [&](const AttentionInputs& all) {
      return by_sequence(all, name, [&](const AttentionInputs& at, const std::vector<int32_t>& n) {
        return context(at, n, o);
      });
    });
    if (kernel.empty()) return out;
    out.context =
        out.context +
        by_sequence(in, name, [&](const AttentionInputs& at, const std::vector<int32_t>& n) {
          return convolved(at.v, kernel, n);
        });
    return out;
  };
  return self;
}

}  // namespace fovea
