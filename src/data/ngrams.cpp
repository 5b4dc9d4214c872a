#include "fovea/data/ngrams.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/tensor/safetensors.h"

namespace fovea {
namespace {

enum Kind : uint64_t { of_words = 1, of_letters = 2 };

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// What marked() made, up to the word itself; empty of a plain word, which has no byte 0.
std::string_view mark_of(std::string_view word) {
  if (word.empty() || word[0] != '\0') return {};
  const size_t end = word.find('\0', 1);
  return end == word.npos ? std::string_view() : word.substr(0, end + 1);
}

// Calls f(feature, kind, first word, last word) for every group.
template <class F>
void each_group(const NgramOptions& o, std::span<const std::string> words, F&& f) {
  const auto n = static_cast<int32_t>(words.size());
  for (int32_t first = 0; first < n; ++first) {
    FeatureHash hash(of_words);
    const std::string_view mark = mark_of(words[static_cast<size_t>(first)]);
    const int32_t end = static_cast<int32_t>(std::min<int64_t>(n, first + o.words));
    for (int32_t last = first; last < end; ++last) {
      if (mark_of(words[static_cast<size_t>(last)]) != mark) break;
      hash.add(words[static_cast<size_t>(last)]).add(' ');
      f(hash.finish(), of_words, first, last);
    }
    if (o.letters < 2 || !mark.empty()) continue;
    const std::string word = " " + words[static_cast<size_t>(first)] + " ";
    for (size_t from = 0; from < word.size(); ++from) {
      if (!begins_character(word[from])) continue;
      FeatureHash letters(of_letters);
      int64_t count = 0;
      for (size_t at = from; at < word.size(); ++at) {
        letters.add(word[at]);
        if (at + 1 < word.size() && !begins_character(word[at + 1])) continue;
        if (++count >= 2) f(letters.finish(), of_letters, first, first);
        if (count == o.letters) break;
      }
    }
  }
}

}  // namespace

std::string marked(std::string_view mark, std::string_view word) {
  std::string made(1, '\0');
  made.append(mark).append(1, '\0').append(word);
  return made;
}

Ngrams Ngrams::learn(const NgramOptions& options, int64_t texts,
                     const std::function<std::vector<std::string>(int64_t)>& words_of) {
  check(options.words >= 1 && options.letters >= 0, "n-grams: need words of at least 1, got ",
        options.words);
  // The kind is told by the lowest bit, so that it need not be kept beside.
  FeatureCounter counter;
  std::vector<std::vector<std::string>> block;
  for (int64_t from = 0; from < texts; from += 1024) {
    const int64_t to = std::min(texts, from + 1024);
    block.assign(static_cast<size_t>(to - from), {});
    parallel_for(to - from, 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) block[static_cast<size_t>(i)] = words_of(from + i);
    });
    for (int64_t i = from; i < to; ++i) {
      each_group(options, block[static_cast<size_t>(i - from)],
                 [&](uint64_t feature, uint64_t kind, int32_t, int32_t) {
                   counter.add((feature & ~uint64_t{1}) | (kind == of_letters),
                               static_cast<int32_t>(i));
                 });
    }
  }
  auto counts = counter.counts(options.least, options.most);
  if (counts.empty()) counts = counter.counts(1, options.most);
  Ngrams made;
  made.options_ = options;
  std::vector<uint64_t> features;
  for (const auto& one : counts) {
    features.push_back(one.feature);
    const double idf =
        1 + std::log((1.0 + static_cast<double>(texts)) / (1.0 + static_cast<double>(one.groups)));
    made.weight_.push_back(static_cast<float>(one.feature & 1 ? -idf : idf));
  }
  made.index_ = FeatureIndex(std::move(features));
  return made;
}

std::vector<Ngrams::Value> Ngrams::values(std::span<const std::string> words) const {
  std::vector<int32_t> ids;
  each_group(options_, words, [&](uint64_t feature, uint64_t kind, int32_t, int32_t) {
    const int32_t id = index_.id((feature & ~uint64_t{1}) | (kind == of_letters));
    if (id >= 0) ids.push_back(id);
  });
  std::ranges::sort(ids);
  std::vector<Value> values;
  double squares[2] = {0, 0};
  for (size_t i = 0; i < ids.size();) {
    size_t end = i;
    while (end < ids.size() && ids[end] == ids[i]) ++end;
    const float weight = weight_[static_cast<size_t>(ids[i])];
    const double value = (1 + std::log(static_cast<double>(end - i))) * std::abs(weight);
    squares[weight < 0] += value * value;
    values.push_back({ids[i], static_cast<float>(value)});
    i = end;
  }
  for (Value& one : values) {
    one.value /= static_cast<float>(std::sqrt(squares[weight_[static_cast<size_t>(one.id)] < 0]));
  }
  return values;
}

std::vector<Ngrams::Place> Ngrams::places(std::span<const std::string> words) const {
  const auto all = values(words);
  const auto find = [&](int32_t id) {
    return static_cast<size_t>(std::ranges::lower_bound(all, id, {}, &Value::id) - all.begin());
  };
  std::vector<Place> places;
  std::vector<float> times(all.size());
  each_group(options_, words, [&](uint64_t feature, uint64_t kind, int32_t first, int32_t last) {
    const int32_t id = index_.id((feature & ~uint64_t{1}) | (kind == of_letters));
    if (id < 0) return;
    ++times[find(id)];
    places.push_back({id, 0, first, last});
  });
  for (Place& place : places) {
    const size_t at = find(place.id);
    place.value = all[at].value / times[at];
  }
  return places;
}

void Ngrams::save(const std::string& folder, const std::string& name) const {
  save_safetensors(folder + "/" + name + ".safetensors",
                   std::vector<NamedTensor>{
                       {"features", index_.to_tensor()},
                       {"weight", Tensor::of({size()}, weight_)},
                       {"sizes", Tensor::of({2}, std::vector<int32_t>{
                                                     static_cast<int32_t>(options_.words),
                                                     static_cast<int32_t>(options_.letters)})}});
}

Ngrams Ngrams::load(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name + ".safetensors";
  const auto file = Safetensors::open(path);
  Ngrams made;
  made.index_ = FeatureIndex::from(file.load("features"));
  const Tensor weight = file.load("weight"), sizes = file.load("sizes");
  check(weight.elements() == made.size() && sizes.elements() == 2 && weight.dtype() == Dtype::f32 &&
            sizes.dtype() == Dtype::i32,
        path, ": is not a list of n-grams");
  made.weight_.assign(weight.read().begin(), weight.read().end());
  made.options_.words = sizes.read<int32_t>()[0];
  made.options_.letters = sizes.read<int32_t>()[1];
  return made;
}

}  // namespace fovea
