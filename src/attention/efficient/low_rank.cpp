#include "fovea/attention/efficient/low_rank.h"

#include <cmath>

#include "fovea/attention/efficient/spans.h"
#include "fovea/attention/engine.h"
#include "fovea/op/matmul.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

const std::string name = "low_rank";

// E x over the rows of x [B, T, H, D]: [B, k, H, D].
Tensor projected(const Tensor& e, const Tensor& x) {
  const int64_t B = x.dim(0), T = x.dim(1), H = x.dim(2), D = x.dim(3), k = e.dim(0);
  const Tensor rows = reshape(x, {B, T, H * D});
  const Tensor first = T == e.dim(1) ? e : slice(e, 1, 0, T);
  return reshape(matmul(reshape(first, {1, k, T}), rows), {B, k, H, D});
}

}  // namespace

SelfAttention low_rank_self_attention(Scope s, const LowRankOptions& o) {
  const auto init = init::normal(1 / std::sqrt(static_cast<double>(o.longest)));
  const Parameter keys = s.param("keys", {o.rank, o.longest}, init);
  const Parameter values = s.param("values", {o.rank, o.longest}, init);
  SelfAttention self;
  self.attend = [o, keys, values](const AttentionInputs& in) {
    return with_weights(in, name, [&](const AttentionInputs& all) {
      return by_sequence(all, name, [&](const AttentionInputs& at, const std::vector<int32_t>& n) {
        check(at.k.dim(1) <= o.longest, "attention 'low_rank' has learned projections for up to ",
              o.longest, " tokens, and these are ", at.k.dim(1));
        AttentionInputs low;
        low.q = at.q;
        low.k = projected(keys, cleared_behind(at.k, n));
        low.v = projected(values, cleared_behind(at.v, n));
        low.dropout = at.dropout;
        return attend_unrecorded(low).context;
      });
    });
  };
  return self;
}

}  // namespace fovea
