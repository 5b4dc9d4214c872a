// Characters and words as tokens.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/tokenizer_method.h"

namespace fovea {
namespace {

constexpr auto special_count = static_cast<int32_t>(special_pieces.size());

class Units : public Tokenizer::Method {
 public:
  Units(bool words, Vocabulary vocabulary) : words_(words), vocabulary_(std::move(vocabulary)) {}

  static std::vector<std::string_view> split(bool words, std::string_view text) {
    return words ? split_at_spaces(text) : code_points(text);
  }

  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int32_t> ids;
    for (const std::string_view unit : split(words_, text)) {
      const int32_t id = vocabulary_.id(unit);
      ids.push_back(id < 0 ? Tokenizer::unknown : id + special_count);
    }
    return ids;
  }

  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (words_ && i > 0) text += ' ';
      text += !words_ && ids[i] == Tokenizer::unknown ? "\uFFFD" : piece(ids[i]);
    }
    return text;
  }

  std::vector<std::string> pieces(std::string_view text) const override {
    const auto units = split(words_, text);
    return {units.begin(), units.end()};
  }

  std::string piece(int32_t id) const override {
    return id < special_count ? special_pieces[id] : vocabulary_.name(id - special_count);
  }

  int64_t size() const override { return vocabulary_.size() + special_count; }

  void save(nlohmann::json& about, const std::string&) const override {
    about["vocabulary"] = vocabulary_.names();
  }

 private:
  bool words_;
  Vocabulary vocabulary_;  // without the special pieces, which may also be words of a text
};

}  // namespace

std::shared_ptr<const Tokenizer::Method> learn_units(const TokenizerOptions& options,
                                                     std::span<const std::string> texts) {
  const bool words = options.kind == "words";
  std::unordered_map<std::string_view, int64_t> counts;
  for (const std::string& text : texts) {
    for (const std::string_view unit : Units::split(words, text)) ++counts[unit];
  }
  std::vector<std::pair<int64_t, std::string_view>> order;
  for (const auto& [unit, count] : counts) {
    if (count >= options.min_count) order.emplace_back(-count, unit);
  }
  std::sort(order.begin(), order.end());
  if (options.max_size > 0) {
    order.resize(std::min(order.size(), static_cast<size_t>(options.max_size - special_count)));
  }
  check(!order.empty(), "tokens: no ", options.kind, " to learn from: ", texts.size(),
        " texts have ", counts.size(), " different ones, of which none comes ", options.min_count,
        " times");
  std::vector<std::string> names;
  for (const auto& [count, unit] : order) names.emplace_back(unit);
  return std::make_shared<Units>(words, Vocabulary::of(names));
}

std::shared_ptr<const Tokenizer::Method> load_units(const TokenizerOptions& options,
                                                    const nlohmann::json& about,
                                                    const std::string& path) {
  const auto names = about.at("vocabulary").get<std::vector<std::string>>();
  Vocabulary vocabulary = Vocabulary::of(names);
  check(vocabulary.size() == static_cast<int64_t>(names.size()), path,
        ": the vocabulary has an entry twice; get the model's folder again");
  return std::make_shared<Units>(options.kind == "words", std::move(vocabulary));
}

}  // namespace fovea
