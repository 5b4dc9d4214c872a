#include "fovea/train/gradient_layout.h"

#include <algorithm>

namespace fovea {

GradientLayout::GradientLayout(const Parameters& parameters, int64_t bucket) {
  const auto& table = parameters.entries();
  int64_t at = 0;
  bool open = false;
  for (auto entry = table.rbegin(); entry != table.rend(); ++entry) {
    if (entry->dtype() != Dtype::f32) continue;
    if (!open) buckets_.push_back({at, at, parts_.size(), parts_.size()});
    by_number_.emplace(entry->number(), parts_.size());
    parts_.push_back({*entry, at, buckets_.size() - 1});
    at += entry->elements();
    buckets_.back().end = at;
    buckets_.back().last_part = parts_.size();
    open = buckets_.back().end - buckets_.back().begin < bucket;
  }
}

int64_t GradientLayout::part_of(uint32_t parameter) const {
  const auto found = by_number_.find(parameter);
  return found == by_number_.end() ? -1 : static_cast<int64_t>(found->second);
}

GradientLayout::Range GradientLayout::segment(size_t bucket, int rank, int ranks) const {
  const Bucket& b = buckets_[bucket];
  const int64_t blocks = (b.end - b.begin + block - 1) / block;
  const auto edge = [&](int64_t r) {
    return std::min(b.end, b.begin + blocks * r / ranks * block);
  };
  return {edge(rank), edge(rank + 1)};
}

int64_t GradientLayout::segment_sum(int rank, int ranks) const {
  int64_t sum = 0;
  for (size_t b = 0; b < buckets_.size(); ++b) sum += segment(b, rank, ranks).size();
  return sum;
}

int64_t GradientLayout::blocks_of(int rank, int ranks) const {
  int64_t sum = 0;
  for (size_t b = 0; b < buckets_.size(); ++b) {
    sum += (segment(b, rank, ranks).size() + block - 1) / block;
  }
  return sum;
}

GradientLayout::Slices GradientLayout::slices_of(int rank, int ranks) const {
  Slices all;
  for (size_t b = 0; b < buckets_.size(); ++b) {
    const Range mine = segment(b, rank, ranks);
    for (size_t p = buckets_[b].first_part; p < buckets_[b].last_part; ++p) {
      const Part& part = parts_[p];
      const int64_t from = std::max(mine.begin, part.begin), to = std::min(mine.end, part.end());
      if (from >= to) continue;
      all.slices.push_back({part.parameter, from - part.begin, to - from});
      all.at.push_back(from);
      all.part.push_back(p);
    }
  }
  return all;
}

}  // namespace fovea
