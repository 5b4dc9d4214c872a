#include "fovea/data/feature_index.h"

#include <algorithm>
#include <bit>

namespace fovea {

void FeatureCounter::add(uint64_t feature, int32_t group) {
  if (taken_ * 2 >= slots_.size()) grow();
  for (size_t i = feature & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
    Slot& slot = slots_[i];
    if (slot.groups > 0 && slot.feature != feature) continue;
    if (slot.groups == 0) slot.feature = feature, ++taken_;
    if (slot.last != group) ++slot.groups, slot.last = group;
    return;
  }
}

void FeatureCounter::grow() {
  std::vector<Slot> old(slots_.empty() ? 1024 : slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.groups == 0) continue;
    size_t i = slot.feature & (slots_.size() - 1);
    while (slots_[i].groups > 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = slot;
  }
}

std::vector<FeatureCounter::Count> FeatureCounter::counts(int64_t least, int64_t most) const {
  std::vector<Count> all;
  for (const Slot& slot : slots_) {
    if (slot.groups > 0 && slot.groups >= least) all.push_back({slot.feature, slot.groups});
  }
  if (most > 0 && static_cast<int64_t>(all.size()) > most) {
    std::ranges::nth_element(all, all.begin() + most, [](const Count& a, const Count& b) {
      return a.groups != b.groups ? a.groups > b.groups : a.feature < b.feature;
    });
    all.resize(static_cast<size_t>(most));
  }
  std::ranges::sort(all, {}, &Count::feature);
  return all;
}

FeatureIndex::FeatureIndex(std::vector<uint64_t> features) : features_(std::move(features)) {
  check(std::ranges::is_sorted(features_, std::ranges::less_equal()), "features: not in order");
  slots_.assign(std::bit_ceil(std::max<size_t>(16, features_.size() * 2)), -1);
  for (size_t n = 0; n < features_.size(); ++n) {
    size_t i = features_[n] & (slots_.size() - 1);
    while (slots_[i] >= 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = static_cast<int32_t>(n);
  }
}

int32_t FeatureIndex::id(uint64_t feature) const {
  if (slots_.empty()) return -1;
  for (size_t i = feature & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
    const int32_t n = slots_[i];
    if (n < 0 || features_[static_cast<size_t>(n)] == feature) return n;
  }
}

Tensor FeatureIndex::to_tensor() const {
  Tensor stored({size(), 2}, Dtype::i32);
  auto to = stored.write<int32_t>();
  for (size_t n = 0; n < features_.size(); ++n) {
    to[2 * n] = static_cast<int32_t>(features_[n] >> 32);
    to[2 * n + 1] = static_cast<int32_t>(features_[n] & 0xffffffff);
  }
  return stored;
}

FeatureIndex FeatureIndex::from(const Tensor& stored) {
  check(stored.rank() == 2 && stored.dim(1) == 2 && stored.dtype() == Dtype::i32,
        "features: need pairs of integers, got ", stored.shape());
  std::vector<uint64_t> features;
  const auto from = stored.read<int32_t>();
  for (size_t n = 0; n < from.size(); n += 2) {
    features.push_back(uint64_t{static_cast<uint32_t>(from[n])} << 32 |
                       static_cast<uint32_t>(from[n + 1]));
  }
  return FeatureIndex(std::move(features));
}

}  // namespace fovea
