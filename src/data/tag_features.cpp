#include "fovea/data/tag_features.h"

#include <algorithm>
#include <cctype>

#include "fovea/base/utf8.h"
#include "fovea/tensor/safetensors.h"

namespace fovea {
namespace {

enum Kind : uint64_t {
  itself = 1,
  lower,
  before,
  behind,
  two_before,
  two_behind,
  pair_before,
  pair_behind,
  around,
  shape,
  beginning,
  end,
  place,
  shape_before,
  shape_behind,
  end_before,
};

// Aa for Merkel, 0-0 for 7-2: kinds of letters, runs of one kind as one.
std::string shape_of(std::string_view word) {
  std::string made;
  for (std::string_view point : code_points(word)) {
    const auto byte = static_cast<unsigned char>(point[0]);
    char kind = point.size() > 1 ? (to_lowercase(point) != point ? 'A' : 'a') : point[0];
    if (point.size() == 1 && std::isupper(byte)) kind = 'A';
    if (point.size() == 1 && std::islower(byte)) kind = 'a';
    if (point.size() == 1 && std::isdigit(byte)) kind = '0';
    if (made.empty() || made.back() != kind) made += kind;
  }
  return made;
}

// Calls f(word, feature) for all of them.
template <class F>
void each_feature(std::span<const std::string> words, F&& f) {
  const auto n = static_cast<int64_t>(words.size());
  std::vector<std::string> low, shapes;
  for (const std::string& word : words)
    low.push_back(to_lowercase(word)), shapes.push_back(shape_of(word));
  static const std::string edge = "\x01";  // where there is no word
  const auto at = [&](const std::vector<std::string>& list, int64_t i) -> const std::string& {
    return i < 0 || i >= n ? edge : list[static_cast<size_t>(i)];
  };
  for (int64_t i = 0; i < n; ++i) {
    const auto tell = [&](uint64_t kind, std::string_view one, std::string_view two = "") {
      f(i, FeatureHash(kind).add(one).add('\x02').add(two).finish());
    };
    tell(itself, words[static_cast<size_t>(i)]);
    tell(lower, at(low, i));
    tell(before, at(low, i - 1));
    tell(behind, at(low, i + 1));
    tell(two_before, at(low, i - 2));
    tell(two_behind, at(low, i + 2));
    tell(pair_before, at(low, i - 1), at(low, i));
    tell(pair_behind, at(low, i), at(low, i + 1));
    tell(around, at(low, i - 1), at(low, i + 1));
    tell(shape, at(shapes, i));
    tell(shape_before, at(shapes, i - 1), at(shapes, i));
    tell(shape_behind, at(shapes, i), at(shapes, i + 1));
    tell(place, i == 0 ? "first" : "", at(shapes, i));
    const auto points = code_points(at(low, i));
    std::string head, tail;
    for (size_t k = 0; k < std::min<size_t>(5, points.size()); ++k) {
      head += points[k];
      tail = std::string(points[points.size() - 1 - k]) + tail;
      tell(beginning, head);
      tell(end, tail);
      if (k == 2) tell(end_before, at(low, i - 1), tail);
    }
  }
}

}  // namespace

TagFeatures TagFeatures::learn(int64_t least, std::span<const std::vector<std::string>> sentences) {
  FeatureCounter counter;
  for (size_t i = 0; i < sentences.size(); ++i) {
    each_feature(sentences[i],
                 [&](int64_t, uint64_t feature) { counter.add(feature, static_cast<int32_t>(i)); });
  }
  auto counts = counter.counts(least, 0);
  if (counts.empty()) counts = counter.counts(1, 0);
  std::vector<uint64_t> features;
  for (const auto& one : counts) features.push_back(one.feature);
  TagFeatures made;
  made.index_ = FeatureIndex(std::move(features));
  return made;
}

std::vector<std::vector<int32_t>> TagFeatures::ids(std::span<const std::string> words) const {
  std::vector<std::vector<int32_t>> all(words.size());
  each_feature(words, [&](int64_t i, uint64_t feature) {
    if (const int32_t id = index_.id(feature); id >= 0) all[static_cast<size_t>(i)].push_back(id);
  });
  return all;
}

void TagFeatures::save(const std::string& folder, const std::string& name) const {
  save_safetensors(folder + "/" + name + ".safetensors",
                   std::vector<NamedTensor>{{"features", index_.to_tensor()}});
}

TagFeatures TagFeatures::load(const std::string& folder, const std::string& name) {
  TagFeatures made;
  made.index_ =
      FeatureIndex::from(Safetensors::open(folder + "/" + name + ".safetensors").load("features"));
  return made;
}

}  // namespace fovea
