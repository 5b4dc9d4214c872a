#include "fovea/data/partings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

using Views = std::vector<std::string_view>;

constexpr size_t longest_run = 7;       // words of the rules
constexpr size_t longest_stretch = 60;  // bytes

// What stands for all writings that are parted alike; as long as the text.
void set_key(std::string& key, std::string_view text) {
  key = text;
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (c >= '0' && c <= '9') c = '0';
  }
}

const char* end_of(std::string_view word) { return word.data() + word.size(); }

// The words as parts of the text; empty when they are not.
Views found_in(std::string_view text, std::span<const std::string> words) {
  Views found;
  size_t at = 0;
  const auto pass_spaces = [&] {
    while (at < text.size()) {
      const CodePoint point = first_code_point(text.substr(at));
      if (!is_space(point.value)) break;
      at += point.bytes;
    }
  };
  for (const std::string& word : words) {
    pass_spaces();
    if (word.empty() || !text.substr(at).starts_with(word)) return {};
    found.push_back(text.substr(at, word.size()));
    at += word.size();
  }
  pass_spaces();
  if (at < text.size()) return {};
  return found;
}

// Calls f(begin, end) for every run of words that nothing stands between.
template <class F>
void for_runs(const Views& words, size_t begin, const F& f) {
  for (size_t end = begin + 1; end <= words.size() && end <= begin + longest_run; ++end) {
    if (end > begin + 1 && end_of(words[end - 2]) != words[end - 1].data()) return;
    f(end);
  }
}

std::string_view whole(const Views& words, size_t begin, size_t end) {
  return {words[begin].data(), static_cast<size_t>(end_of(words[end - 1]) - words[begin].data())};
}

std::vector<int32_t> ends_within(std::string_view run, const Views& words, size_t begin,
                                 size_t end) {
  std::vector<int32_t> ends;
  for (size_t i = begin; i < end; ++i) {
    ends.push_back(static_cast<int32_t>(end_of(words[i]) - run.data()));
  }
  return ends;
}

// A sentence by the rules and as it is.
struct Both {
  Views ours, theirs;
};

// Runs of ours that begin and end where theirs do.
template <class F>
void for_like_runs(const Both& both, const F& f) {
  size_t first = 0;
  for (size_t begin = 0; begin < both.ours.size(); ++begin) {
    while (first < both.theirs.size() && both.theirs[first].data() < both.ours[begin].data()) {
      ++first;
    }
    if (first == both.theirs.size()) return;
    if (both.theirs[first].data() != both.ours[begin].data()) continue;
    size_t last = first;
    for_runs(both.ours, begin, [&](size_t end) {
      const std::string_view run = whole(both.ours, begin, end);
      while (last < both.theirs.size() && end_of(both.theirs[last]) < end_of(run)) ++last;
      if (last == both.theirs.size() || end_of(both.theirs[last]) != end_of(run) ||
          run.size() > longest_stretch) {
        return;
      }
      f(run, ends_within(run, both.ours, begin, end),
        ends_within(run, both.theirs, first, last + 1));
    });
  }
}

}  // namespace

Partings Partings::learn(std::span<const Sentence> sentences, const Split& split) {
  std::vector<Both> all;
  std::set<std::string, std::less<>> doubtful;
  std::string key;
  for (const Sentence& sentence : sentences) {
    Both both{{}, found_in(sentence.text, sentence.words)};
    if (both.theirs.empty()) continue;
    split(sentence.text, both.ours);
    // The shortest runs that differ: what they are parts of says no more.
    const char* known = nullptr;
    for_like_runs(both, [&](std::string_view run, const Ends& ours, const Ends& theirs) {
      if (run.data() < known) return;
      known = end_of(run);
      if (ours == theirs) return;
      set_key(key, run);
      doubtful.insert(key);
    });
    all.push_back(std::move(both));
  }
  struct Counts {
    std::map<Ends, int64_t> ours, theirs;
  };
  std::map<std::string, Counts, std::less<>> counts;
  for (const Both& both : all) {
    for_like_runs(both, [&](std::string_view run, const Ends& ours, const Ends& theirs) {
      set_key(key, run);
      if (!doubtful.contains(key)) return;
      Counts& of = counts[key];
      ++of.ours[ours], ++of.theirs[theirs];
    });
  }
  Partings learned;
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  for (const auto& [text, of] : counts) {
    const auto& ours = std::ranges::max_element(of.ours, by_count)->first;
    const auto best = std::ranges::max_element(of.theirs, by_count);
    const auto same = of.theirs.find(ours);
    if (best->first == ours || (same != of.theirs.end() && same->second >= best->second)) continue;
    learned.longest_ = std::max(learned.longest_, text.size());
    learned.ends_.emplace(text, best->first);
  }
  return learned;
}

void Partings::apply(Views& words) const {
  if (ends_.empty()) return;
  Views made;
  std::string key;
  for (size_t begin = 0; begin < words.size();) {
    const Ends* ends = nullptr;
    size_t next = begin + 1;
    for_runs(words, begin, [&](size_t end) {
      const std::string_view run = whole(words, begin, end);
      if (run.size() > longest_) return;
      set_key(key, run);
      const auto found = ends_.find(key);
      if (found != ends_.end()) ends = &found->second, next = end;
    });
    if (ends == nullptr) {
      made.push_back(words[begin]);
    } else {
      const std::string_view run = whole(words, begin, next);
      size_t from = 0;
      for (const int32_t end : *ends) {
        made.push_back(run.substr(from, static_cast<size_t>(end) - from));
        from = static_cast<size_t>(end);
      }
    }
    begin = next;
  }
  words = std::move(made);
}

nlohmann::json Partings::json() const { return ends_; }

Partings Partings::from_json(const nlohmann::json& json) {
  Partings partings;
  partings.ends_ = json.get<std::map<std::string, Ends, std::less<>>>();
  for (const auto& [text, ends] : partings.ends_) {
    check(!ends.empty() && ends[0] > 0 && ends.back() == static_cast<int64_t>(text.size()) &&
              std::ranges::adjacent_find(ends, std::greater_equal<>()) == ends.end(),
          "tokens: the parting of '", text, "' does not fit it; get the model's folder again");
    partings.longest_ = std::max(partings.longest_, text.size());
  }
  return partings;
}

}  // namespace fovea
