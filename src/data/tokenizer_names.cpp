// Which characters or words get a number, and in which order.
#include <algorithm>
#include <mutex>
#include <tuple>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/base/utf8.h"
#include "fovea/data/text_index.h"
#include "fovea/data/tokenizer_method.h"
#include "fovea/data/tokenizer_units.h"

namespace fovea {
namespace {

using Views = std::vector<std::string_view>;

constexpr auto special_count = static_cast<int64_t>(special_pieces.size());
constexpr int64_t often = 3;  // a form that comes so often has a number of its own

// How often each unit comes. Sums do not depend on the order in which parts are added up.
class Counts {
 public:
  void add(std::string_view unit, int64_t count) {
    const uint64_t hash = hash_text(unit);
    const int32_t i = index_.find(hash, [&](int32_t j) { return units_[size_t(j)] == unit; });
    if (i >= 0) {
      counts_[size_t(i)] += count;
      return;
    }
    index_.add(hash);
    units_.push_back(unit);
    counts_.push_back(count);
  }
  size_t size() const { return units_.size(); }
  std::string_view unit(size_t i) const { return units_[i]; }
  int64_t count(size_t i) const { return counts_[i]; }

 private:
  TextIndex index_;
  Views units_;
  std::vector<int64_t> counts_;
};

Counts count_units(const TokenizerOptions& options, std::span<const std::string> texts) {
  Counts all;
  std::mutex mutex;
  const auto n = static_cast<int64_t>(texts.size());
  parallel_for(n, std::max<int64_t>(n / 32, 256), [&](int64_t begin, int64_t end) {
    Counts some;
    Views units;
    for (int64_t i = begin; i < end; ++i) {
      units.clear();
      split_units(options, texts[size_t(i)], units);
      for (const std::string_view unit : units) some.add(unit, 1);
    }
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < some.size(); ++i) all.add(some.unit(i), some.count(i));
  });
  return all;
}

using Entry = std::pair<int64_t, std::string>;  // less often first, for sorting: minus the count

std::vector<Entry> entries_of(const TokenizerOptions& options, const Counts& counts) {
  std::vector<Entry> entries;
  if (options.lowercase) {
    std::vector<std::string> names(counts.size());
    Counts lower;
    for (size_t i = 0; i < counts.size(); ++i) {
      names[i] = to_lowercase(counts.unit(i));
      lower.add(names[i], counts.count(i));
    }
    for (size_t i = 0; i < lower.size(); ++i) entries.emplace_back(-lower.count(i), lower.unit(i));
  } else {
    for (size_t i = 0; i < counts.size(); ++i) {
      entries.emplace_back(-counts.count(i), counts.unit(i));
    }
  }
  return entries;
}

// Rare forms of a word are counted as its most frequent form; of equals as the plain one.
std::vector<Entry> fold_rare_forms(const TokenizerOptions& options, std::vector<Entry> entries) {
  struct Form {
    std::string fold;
    int64_t count;
    bool plain;
    std::string name;
  };
  std::vector<Form> forms;
  forms.reserve(entries.size());
  for (auto& [minus, name] : entries) {
    std::string fold = folded(name);
    const bool plain = fold == name;
    forms.push_back({std::move(fold), -minus, plain, std::move(name)});
  }
  std::ranges::sort(forms, [](const Form& a, const Form& b) {
    return std::tie(a.fold, b.count, b.plain, a.name) < std::tie(b.fold, a.count, a.plain, b.name);
  });
  entries.clear();
  size_t head = 0;  // the most frequent form of the word that is under way
  for (size_t i = 0; i < forms.size(); ++i) {
    const bool first = i == 0 || forms[i].fold != forms[i - 1].fold;
    if (first) head = entries.size();
    if (first || forms[i].count >= std::max(often, options.min_count)) {
      entries.emplace_back(-forms[i].count, std::move(forms[i].name));
    } else {
      entries[head].first -= forms[i].count;
    }
  }
  return entries;
}

}  // namespace

std::vector<std::string> learn_names(const TokenizerOptions& options,
                                     std::span<const std::string> texts) {
  const Counts counts = count_units(options, texts);
  std::vector<Entry> order = entries_of(options, counts);
  if (folds(options)) order = fold_rare_forms(options, std::move(order));
  const size_t different = order.size();
  std::erase_if(order, [&](const Entry& entry) { return -entry.first < options.min_count; });
  std::sort(order.begin(), order.end());
  if (options.max_size > 0) {
    order.resize(std::min(order.size(), static_cast<size_t>(options.max_size - special_count)));
  }
  check(!order.empty(), "tokens: no ", options.kind, " to learn from: ", texts.size(),
        " texts have ", different, " different ones, of which none comes ", options.min_count,
        " times");
  std::vector<std::string> names;
  for (auto& [count, unit] : order) names.push_back(std::move(unit));
  return names;
}

}  // namespace fovea
