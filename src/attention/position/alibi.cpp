#include "fovea/attention/position/alibi.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "fovea/attention/position/distance.h"

namespace fovea {

std::vector<double> alibi_slopes(int64_t heads) {
  check(heads >= 1, "alibi: needs at least one head, got ", heads);
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<double> slopes;
  for (int64_t h = 1; h <= power; ++h) {
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(power)));
  }
  for (int64_t h = 1; static_cast<int64_t>(slopes.size()) < heads; h += 2) {
    slopes.push_back(std::exp2(-4.0 * static_cast<double>(h) / static_cast<double>(power)));
  }
  return slopes;
}

namespace {

int64_t farthest(int64_t Tq, int64_t Tk, int64_t offset) {
  return std::max<int64_t>({Tq + offset, Tk - offset, 0});
}

}  // namespace

Tensor alibi_distances(int64_t heads, int64_t reach, Dtype dtype) {
  const std::vector<double> slopes = alibi_slopes(heads);
  Tensor r({1, heads, 1, 2 * reach + 1}, Dtype::f64);
  auto to = r.write<double>().begin();
  for (double m : slopes) {
    for (int64_t d = -reach; d <= reach; ++d) *to++ = -m * static_cast<double>(std::abs(d));
  }
  return r.to(dtype);
}

Tensor alibi(int64_t heads, int64_t Tq, int64_t Tk, int64_t offset, Dtype dtype) {
  return by_distance(alibi_distances(heads, farthest(Tq, Tk, offset), dtype), Tq, Tk, offset);
}

PositionsFactory alibi_positions() {
  return [](Scope, int64_t heads, int64_t) {
    return Positions{.distances = [heads](const Tensor& q, int64_t keys, int64_t offset) {
      return alibi_distances(heads, farthest(q.dim(1), keys, offset), q.dtype());
    }};
  };
}

}  // namespace fovea
