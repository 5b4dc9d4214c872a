// Characters and words as tokens.
#include "fovea/data/tokenizer_units.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/tokenizer_join.h"
#include "fovea/data/tokenizer_method.h"

namespace fovea {
namespace {

constexpr auto special_count = static_cast<int32_t>(special_pieces.size());
using Views = std::vector<std::string_view>;

}  // namespace

void split_units(const TokenizerOptions& options, std::string_view text, Views& units) {
  if (options.kind == "words") {
    split_words(text, options.rules, units);
  } else {
    units = options.kind == "spaces" ? split_at_spaces(text) : code_points(text);
  }
}

// What forms of a word have in common; see TokenizerOptions::fold_case.
std::string folded(std::string_view word) {
  if (word.empty()) return {};
  const bool run = word.size() > 1 && static_cast<unsigned char>(word[0]) < 0x80 &&
                   word.find_first_not_of(word[0]) == std::string_view::npos;
  const char c = word[0];
  if (run && (c == '!' || c == '?' || c == '.')) return std::string(1, c);
  return to_lowercase(word);
}

bool folds(const TokenizerOptions& options) {
  return options.kind != "chars" && options.fold_case && !options.lowercase;
}

namespace {

class Units : public Tokenizer::Method {
 public:
  Units(const TokenizerOptions& options, Vocabulary vocabulary)
      : options_(options), vocabulary_(std::move(vocabulary)) {
    if (!folds(options_)) return;
    std::vector<std::string> names;
    for (const std::string& name : vocabulary_.names()) names.push_back(folded(name));
    folded_ = Vocabulary::of(names);
    // Of the forms of a word its plain one, else the most frequent, which has the lowest id.
    folded_ids_.assign(static_cast<size_t>(folded_.size()), -1);
    for (size_t i = 0; i < names.size(); ++i) {
      int32_t& id = folded_ids_[static_cast<size_t>(folded_.id(names[i]))];
      if (id < 0) id = vocabulary_.id(names[i]);
      if (id < 0) id = static_cast<int32_t>(i);
    }
  }

  bool wants_lowercase() const override { return false; }  // only units, once they are found

  std::vector<int32_t> encode(std::string_view text) const override {
    thread_local Views units;
    units.clear();
    split(text, units);
    std::vector<int32_t> ids;
    ids.reserve(units.size());
    for (const std::string_view unit : units) ids.push_back(id_of(unit));
    return ids;
  }

  std::string decode(std::span<const int32_t> ids) const override {
    std::vector<std::string> names;
    for (const int32_t id : ids) names.push_back(piece(id));
    if (options_.kind == "words") return join_words(Views(names.begin(), names.end()));
    std::string text;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool chars = options_.kind == "chars";
      if (!chars && i > 0) text += ' ';
      text += chars && ids[i] == Tokenizer::unknown ? "\uFFFD" : names[i];
    }
    return text;
  }

  std::vector<std::string> pieces(std::string_view text) const override {
    Views units;
    split(text, units);
    std::vector<std::string> names;
    for (const std::string_view unit : units) {
      names.push_back(options_.lowercase ? to_lowercase(unit) : std::string(unit));
    }
    return names;
  }

  std::vector<ByteRange> ranges(std::string_view text) const override {
    Views units;
    split(text, units);
    std::vector<ByteRange> all;
    for (const std::string_view unit : units) {
      const int64_t begin = unit.data() - text.data();
      all.push_back({begin, begin + static_cast<int64_t>(unit.size())});
    }
    return all;
  }

  std::string piece(int32_t id) const override {
    return id < special_count ? special_pieces[id] : vocabulary_.name(id - special_count);
  }

  int64_t size() const override { return vocabulary_.size() + special_count; }

  void save(nlohmann::json& about, const std::string&) const override {
    about["vocabulary"] = vocabulary_.names();
  }

  std::shared_ptr<const Method> with(const TokenizerOptions& options) const override {
    auto made = std::make_shared<Units>(options, vocabulary_);
    made->keeps_known_ = options.kind == "words" && options_.kind == "spaces";
    if (made->keeps_known_) made->find_prefixes();
    return made;
  }

 private:
  void split(std::string_view text, Views& units) const {
    split_units(options_, text, units);
    if (keeps_known_) join_known(units);
    if (options_.kind == "words") options_.partings.apply(units);
  }

  // Who learned from tokenised text knows e-mail and AT&T as words: parts that hang together by a
  // sign stay one where that is one of them, the longest first.
  void join_known(Views& units) const {
    size_t to = 0;
    for (size_t from = 0; from < units.size();) {
      size_t touching = from + 1;  // behind the last that hangs together with this one
      while (touching < units.size() &&
             units[touching - 1].data() + units[touching - 1].size() == units[touching].data()) {
        ++touching;
      }
      size_t end = std::min(touching, from + 7);
      for (; end >= from + 3; --end) {
        const std::string_view whole(
            units[from].data(), static_cast<size_t>(units[end - 1].data() + units[end - 1].size() -
                                                    units[from].data()));
        if (has_joint(units, from, end) &&
            (id_of(whole) != Tokenizer::unknown || has_prefix(units, from, end))) {
          units[from] = whole;
          break;
        }
      }
      if (end < from + 3) end = from + 1;
      if (end < touching && ends_in_point(units[from], units[end])) {
        units[from] = {units[from].data(), units[from].size() + 1};
        ++end;
      }
      units[to++] = units[from];
      from = end;
    }
    units.resize(to);
  }
  // anti-, co- and the like: what stands before the hyphen of three known words or more.
  void find_prefixes() {
    std::map<std::string, int> counts;
    for (const std::string& name : vocabulary_.names()) {
      const size_t hyphen = name.find('-');
      if (hyphen == 0 || hyphen == std::string::npos || hyphen + 1 == name.size()) continue;
      const std::string prefix = to_lowercase(name.substr(0, hyphen));
      const bool letters =
          std::ranges::none_of(prefix, [](char c) { return c >= '0' && c <= '9'; });
      if (letters && ++counts[prefix] == 3) prefixes_.insert(prefix);
    }
  }
  bool has_prefix(const Views& units, size_t from, size_t end) const {
    return end == from + 3 && units[from + 1] == "-" &&
           prefixes_.contains(to_lowercase(units[from]));
  }
  // An abbreviation that comes more often than the same word without a point: the lower the id, the
  // more often.
  bool ends_in_point(std::string_view word, std::string_view next) const {
    if (next != ".") return false;
    const int32_t with = vocabulary_.id(std::string_view(word.data(), word.size() + 1)),
                  without = vocabulary_.id(word);
    return with >= 0 && (without < 0 || with < without);
  }
  static bool has_joint(const Views& units, size_t from, size_t end) {
    for (size_t i = from + 1; i + 1 < end; ++i) {
      if (units[i] == "-" || units[i] == "&" || units[i] == "/") return true;
    }
    return false;
  }

  int32_t id_of(std::string_view unit) const {
    int32_t id = vocabulary_.id(options_.lowercase ? std::string_view(to_lowercase(unit)) : unit);
    if (id < 0 && folded_.size() > 0) {
      const int32_t fold = folded_.id(folded(unit));
      if (fold >= 0) id = folded_ids_[static_cast<size_t>(fold)];
    }
    return id < 0 ? Tokenizer::unknown : id + special_count;
  }

  TokenizerOptions options_;
  bool keeps_known_ = false;  // of raw text, for who learned from tokenised text
  std::set<std::string> prefixes_;
  Vocabulary vocabulary_;  // without the special pieces, which may also be words of a text
  Vocabulary folded_;      // empty: case is decisive
  std::vector<int32_t> folded_ids_;
};

}  // namespace

std::shared_ptr<const Tokenizer::Method> learn_units(const TokenizerOptions& options,
                                                     std::span<const std::string> texts) {
  return std::make_shared<Units>(options, Vocabulary::of(learn_names(options, texts)));
}

std::shared_ptr<const Tokenizer::Method> load_units(const TokenizerOptions& options,
                                                    const nlohmann::json& about,
                                                    const std::string& path) {
  const auto names = about.at("vocabulary").get<std::vector<std::string>>();
  Vocabulary vocabulary = Vocabulary::of(names);
  check(vocabulary.size() == static_cast<int64_t>(names.size()), path,
        ": the vocabulary has an entry twice; get the model's folder again");
  return std::make_shared<Units>(options, std::move(vocabulary));
}

}  // namespace fovea
