#include "fovea/train/bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

// Numbers 4 * index and on of the stream. Random gives them one by one, at the price of four each,
// and a comparison draws millions.
std::array<uint32_t, 4> next_four(const Random::State& s, uint64_t index) {
  const auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  return philox({low(index), low(index >> 32), low(s.stream), low(s.stream >> 32)},
                {low(s.seed), low(s.seed >> 32)});
}

}  // namespace

double paired_bootstrap(std::span<const Tally> a, std::span<const Tally> b,
                        const std::function<double(const Tally&)>& metric, Random random,
                        int64_t samples) {
  check(!a.empty() && a.size() == b.size(), "bootstrap: two systems need the same examples, got ",
        a.size(), " and ", b.size());
  check(samples > 0, "bootstrap: needs at least one sample, got ", samples);
  const size_t n = a.size(), width = a[0].size();
  // One flat row for each example, a's numbers and then b's: the sums walk it at random.
  std::vector<double> rows;
  rows.reserve(n * 2 * width);
  for (size_t i = 0; i < n; ++i) {
    check(a[i].size() == width && b[i].size() == width, "bootstrap: example ", i,
          " needs tallies of ", width, " numbers, got ", a[i].size(), " and ", b[i].size());
    rows.insert(rows.end(), a[i].begin(), a[i].end());
    rows.insert(rows.end(), b[i].begin(), b[i].end());
  }
  const auto difference = [&](const std::vector<double>& sums) {
    const auto middle = sums.begin() + static_cast<ptrdiff_t>(width);
    return metric(Tally(sums.begin(), middle)) - metric(Tally(middle, sums.end()));
  };
  const auto add_row = [&](std::vector<double>& sums, size_t i) {
    const double* row = rows.data() + i * 2 * width;
    for (size_t k = 0; k < 2 * width; ++k) sums[k] += row[k];
  };

  std::vector<double> whole(2 * width);
  for (size_t i = 0; i < n; ++i) add_row(whole, i);
  const double observed = std::abs(difference(whole));
  if (observed == 0) return 1;

  std::vector<double> drawn(samples);
  parallel_for(samples, 8, [&](int64_t begin, int64_t end) {
    std::vector<double> sums;
    for (int64_t s = begin; s < end; ++s) {
      const Random::State stream = random.fork(static_cast<uint64_t>(s)).state();
      sums.assign(2 * width, 0);
      for (size_t i = 0; i < n; i += 4) {
        const std::array<uint32_t, 4> four = next_four(stream, i / 4);
        // Scaling 32 bits instead of a division: off by n / 2^32 of a draw, far below what counts.
        for (size_t k = 0; k < std::min<size_t>(4, n - i); ++k) add_row(sums, four[k] * n >> 32);
      }
      drawn[s] = difference(sums);
    }
  });
  const double mean = std::accumulate(drawn.begin(), drawn.end(), 0.0) / samples;
  double as_far = 0;
  for (const double d : drawn) as_far += std::abs(d - mean) >= observed;
  return (as_far + 1) / (static_cast<double>(samples) + 1);
}

}  // namespace fovea
