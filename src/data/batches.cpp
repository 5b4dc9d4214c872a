#include "fovea/data/batches.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Large enough for like lengths to meet, small enough for an example to meet others each epoch.
constexpr int64_t pool_batches = 128;

// In tokens; up to 1 would only order equal lengths.
constexpr double noise = 1.25;

struct Place {
  int64_t target;
  double source;
  int64_t example;
};

// By target, then by source, there and back: where one target length ends, the next begins with
// sources of like length. Noise keeps batches from being the same each epoch.
void sort_pool(std::span<int64_t> pool, std::span<const Lengths> lengths, Random& random) {
  std::vector<Place> places;
  for (const int64_t i : pool) {
    const auto [source, target] = lengths[i];
    const double noisy =
        static_cast<double>(source) + noise * static_cast<double>(random.uniform());
    places.push_back({target, target % 2 ? -noisy : noisy, i});
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.target, a.source) < std::pair(b.target, b.source);
  });
  std::transform(places.begin(), places.end(), pool.begin(),
                 [](const Place& p) { return p.example; });
}

template <class T>
void shuffle(std::vector<T>& list, Random& random) {
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
}

Lengths longest(const Lengths& a, const Lengths& b) {
  return {std::max(a.source, b.source), std::max(a.target, b.target)};
}

}  // namespace

std::vector<int64_t> shuffled(int64_t n, Random& random) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, random);
  return order;
}

std::vector<std::vector<int64_t>> batches_by_length(std::span<const Lengths> lengths,
                                                    const BatchOptions& options, Random random) {
  check(options.examples >= 1, "batches: need at least one example each, got ", options.examples);
  check(options.tokens >= 0, "batches: the limit of tokens cannot be ", options.tokens);
  const auto n = static_cast<int64_t>(lengths.size());
  std::vector<int64_t> order = shuffled(n, random);
  // Whole batches only in every pool but the last, and pools of about one size.
  const int64_t batch_count = (n + options.examples - 1) / options.examples;
  const int64_t pools = std::max<int64_t>(1, batch_count / pool_batches);
  const int64_t pool = (batch_count + pools - 1) / pools * options.examples;
  std::vector<std::vector<int64_t>> batches;
  for (int64_t from = 0; from < n; from += pool) {
    const auto part = std::span(order).subspan(from, std::min(pool, n - from));
    sort_pool(part, lengths, random);
    std::vector<int64_t> batch;
    Lengths most{0, 0};
    for (const int64_t i : part) {
      const auto count = static_cast<int64_t>(batch.size()) + 1;
      const Lengths with = longest(most, lengths[i]);
      const bool full =
          count > options.examples ||
          (options.tokens > 0 && count * (with.source + with.target) > options.tokens);
      if (full && !batch.empty()) {
        batches.push_back(std::move(batch));
        batch.clear();
        most = {0, 0};
      }
      batch.push_back(i);
      most = longest(most, lengths[i]);
    }
    batches.push_back(std::move(batch));
  }
  shuffle(batches, random);
  return batches;
}

double padding_of(std::span<const Lengths> lengths,
                  const std::vector<std::vector<int64_t>>& batches) {
  int64_t used = 0, held = 0;
  for (const auto& batch : batches) {
    Lengths most{0, 0};
    for (const int64_t i : batch) {
      used += lengths[i].source + lengths[i].target;
      most = longest(most, lengths[i]);
    }
    held += static_cast<int64_t>(batch.size()) * (most.source + most.target);
  }
  return held == 0 ? 0 : 1 - static_cast<double>(used) / static_cast<double>(held);
}

}  // namespace fovea
