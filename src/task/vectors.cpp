#include "fovea/task/vectors.h"

#include "fovea/base/utf8.h"
#include "fovea/data/vectors.h"

namespace fovea {
namespace {

constexpr int64_t most_added = 20'000;

void check_tokens(const std::string& kind) {
  check(kind == "words" || kind == "spaces", "vectors: are of words, the tokens are ", kind,
        "; take words or spaces");
}

}  // namespace

void add_vector_words(const Config& config, std::vector<std::string>& texts) {
  const std::string path = config.settings.get("vectors");
  if (path.empty()) return;
  if (!config.tokens.empty() && config.tokens != "auto") check_tokens(config.tokens);
  int64_t added = 0;
  read_vectors(
      path, [](std::string_view word) { return word.find(' ') == std::string_view::npos; },
      [&](std::string_view word, std::span<const float>) {
        for (int64_t i = 0; i < config.min_count; ++i) texts.emplace_back(word);
        return ++added < most_added;
      });
}

void start_from_vectors(const Config& config, const Parameters& parameters,
                        const Tokenizer& tokens) {
  const std::string path = config.settings.get("vectors");
  if (path.empty()) return;
  check_tokens(tokens.options().kind);
  const Parameter* table = nullptr;
  for (const Parameter& p : parameters.entries()) {
    if (p.name().ends_with("encoder/embedding/weight")) table = &p;
  }
  check(table != nullptr, "vectors: the model ", config.model, " has no embedding of words");
  const int64_t width = table->dim(1), have = vectors_width(path);
  check(have == width, path, ": has vectors of ", have, " numbers, the model's embed is ", width,
        "; leave embed out, or make it ", have);
  Vocabulary words = [&] {
    std::vector<std::string> names;
    for (int32_t id = 0; id < tokens.size(); ++id) names.push_back(tokens.piece(id));
    return Vocabulary::of(names);
  }();
  check(words.size() == tokens.size(), "vectors: two words of the vocabulary are the same");
  // A word in lower case is the first choice of those forms that have no vector of their own.
  std::vector<char> found(static_cast<size_t>(words.size()), 0);
  std::vector<std::string> lower;
  for (const std::string& name : words.names()) lower.push_back(to_lowercase(name));
  const Vocabulary low = Vocabulary::of(lower);
  std::vector<std::vector<int32_t>> of_low(static_cast<size_t>(low.size()));
  for (int32_t id = 0; id < words.size(); ++id) {
    of_low[static_cast<size_t>(low.id(lower[static_cast<size_t>(id)]))].push_back(id);
  }
  auto values = table->write();
  const auto set = [&](int32_t id, std::span<const float> numbers) {
    std::ranges::copy(numbers, values.begin() + id * width);
  };
  read_vectors(
      path, [&](std::string_view word) { return words.id(word) >= 0 || low.id(word) >= 0; },
      [&](std::string_view word, std::span<const float> numbers) {
        if (const int32_t id = words.id(word); id >= 0) {
          set(id, numbers);
          found[static_cast<size_t>(id)] = 1;
        }
        if (const int32_t id = low.id(word); id >= 0) {
          for (int32_t form : of_low[static_cast<size_t>(id)]) {
            if (!found[static_cast<size_t>(form)]) set(form, numbers);
          }
        }
        return true;
      });
}

}  // namespace fovea
