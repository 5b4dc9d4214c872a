#include "fovea/attention/position/shaw.h"

#include <cmath>

#include "fovea/attention/position/distance.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/linear.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

int64_t count_of(int64_t reach) {
  check(reach >= 0, "shaw positions: distances cannot be clipped to ", reach);
  return 2 * reach + 1;
}

}  // namespace

ShawPosition::ShawPosition(Scope s, int64_t d, int64_t reach)
    : keys(s.param("keys", {count_of(reach), d}, init::xavier_uniform())) {}

Tensor ShawPosition::distances(const Tensor& q, double scale) const {
  check(q.rank() == 4 && q.dim(3) == keys.dim(1), "shaw positions: made for queries [B, T, H, ",
        keys.dim(1), "], got ", q.shape());
  const Tensor products = linear(q * scale, keys);  // [B, Tq, H, 2 reach + 1]
  return permute(products, {0, 2, 1, 3});
}

Tensor ShawPosition::bias(const Tensor& q, int64_t Tk, int64_t offset, double scale) const {
  return by_distance(distances(q, scale), q.dim(1), Tk, offset);
}

PositionsFactory shaw_positions(int64_t reach) {
  return [reach](Scope s, int64_t, int64_t d_head) {
    const ShawPosition a(s, d_head, reach);
    return Positions{.distances = [a](const Tensor& q, int64_t, int64_t) {
      return a.distances(q, 1 / std::sqrt(static_cast<double>(q.dim(3))));
    }};
  };
}

}  // namespace fovea
