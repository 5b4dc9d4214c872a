#include "fovea/attention/position/t5.h"

#include <cmath>

#include "fovea/attention/position/distance.h"
#include "fovea/op/index.h"
#include "fovea/op/shape.h"

namespace fovea {

int64_t t5_bucket(int64_t distance, const T5Options& options) {
  int64_t n = options.buckets, first = 0, d = -distance;
  if (options.causal) {
    d = std::max<int64_t>(d, 0);
  } else {
    n /= 2;
    if (distance > 0) first = n;
    d = std::abs(d);
  }
  const int64_t exact = n / 2;
  if (d < exact) return first + d;
  const double far = std::log(static_cast<double>(d) / static_cast<double>(exact)) /
                     std::log(static_cast<double>(options.longest) / static_cast<double>(exact));
  // A hair more, so that a distance on the edge of a bucket does not fall out of it by rounding.
  const auto beyond = static_cast<int64_t>(far * static_cast<double>(n - exact) + 1e-9);
  return first + std::min(exact + beyond, n - 1);
}

T5Position::T5Position(Scope s, int64_t heads, const T5Options& o)
    : weight(s.param("weight", {o.buckets, heads}, init::normal(0.1))), options(o) {
  const int64_t exact = o.buckets / (o.causal ? 2 : 4);
  check(exact >= 1 && o.longest > exact, "t5 positions: ", o.buckets,
        " buckets cannot serve distances up to ", o.longest);
}

Tensor T5Position::distances() const {
  const int64_t reach = options.longest, width = 2 * reach + 1;
  Tensor buckets({width}, Dtype::i32);
  auto to = buckets.write<int32_t>();
  for (int64_t d = -reach; d <= reach; ++d) {
    to[d + reach] = static_cast<int32_t>(t5_bucket(d, options));
  }
  const Tensor by_head = transposed(embedding(weight, buckets));  // [heads, 2 reach + 1]
  return reshape(by_head, {1, weight.dim(1), 1, width});
}

Tensor T5Position::bias(int64_t Tq, int64_t Tk, int64_t offset) const {
  return by_distance(distances(), Tq, Tk, offset);
}

PositionsFactory t5_positions(const T5Options& options) {
  return [options](Scope s, int64_t heads, int64_t) {
    const T5Position b(s, heads, options);
    return Positions{.distances = [b](const Tensor&, int64_t, int64_t) { return b.distances(); }};
  };
}

}  // namespace fovea
