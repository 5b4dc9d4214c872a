#include "fovea/task/vectors.h"

#include <filesystem>

#include "fovea/base/utf8.h"
#include "fovea/data/vectors.h"
#include "fovea/model/word_embedding.h"

namespace fovea {
namespace {

constexpr int64_t most_added = 20'000;  // of each set
constexpr std::string_view table_path = "encoder/embedding";

void check_tokens(const std::string& kind) {
  check(kind == "words" || kind == "spaces", "vectors: are of words, the tokens are ", kind,
        "; take words or spaces");
}

// Words of a vocabulary, each by itself and by its lower case.
struct WordIds {
  explicit WordIds(const Tokenizer& tokens) {
    std::vector<std::string> names, lower;
    for (int32_t id = 0; id < tokens.size(); ++id) {
      names.push_back(tokens.piece(id));
      // A text may have the word "<unk>": what is no word gets a name that none has.
      if (id <= Tokenizer::end) names.back() += '\n';
      lower.push_back(to_lowercase(names.back()));
    }
    words = Vocabulary::of(names);
    check(words.size() == tokens.size(), "vectors: two words of the vocabulary are the same");
    low = Vocabulary::of(lower);
    of_low.resize(static_cast<size_t>(low.size()));
    for (int32_t id = 0; id < words.size(); ++id) {
      of_low[static_cast<size_t>(low.id(lower[static_cast<size_t>(id)]))].push_back(id);
    }
  }
  Vocabulary words, low;
  std::vector<std::vector<int32_t>> of_low;  // the forms of a word in lower case
};

void fill(const Parameter& table, const std::string& path, const WordIds& ids) {
  const int64_t width = table.dim(1), have = vectors_width(path);
  check<ErrorKind::input>(have == width, path, ": has vectors of ", have,
                          " numbers, vector_widths says ", width, "; leave vector_widths out");
  // A word in lower case is the first choice of those forms that have no vector of their own.
  std::vector<char> found(static_cast<size_t>(ids.words.size()), 0);
  auto values = table.write();
  const auto set = [&](int32_t id, std::span<const float> numbers) {
    std::ranges::copy(numbers, values.begin() + id * width);
  };
  read_vectors(
      path, [&](std::string_view word) { return ids.words.id(word) >= 0 || ids.low.id(word) >= 0; },
      [&](std::string_view word, std::span<const float> numbers) {
        if (const int32_t id = ids.words.id(word); id >= 0) {
          set(id, numbers);
          found[static_cast<size_t>(id)] = 1;
        }
        if (const int32_t id = ids.low.id(word); id >= 0) {
          for (int32_t form : ids.of_low[static_cast<size_t>(id)]) {
            if (!found[static_cast<size_t>(form)]) set(form, numbers);
          }
        }
        return true;
      });
}

}  // namespace

void add_vector_words(const Config& config, std::vector<std::string>& texts) {
  const auto files = vector_files(config.settings.get("vectors"));
  if (files.empty()) return;
  if (!config.tokens.empty() && config.tokens != "auto") check_tokens(config.tokens);
  std::vector<std::string> more;
  for (const std::string& path : files) {
    int64_t added = 0;
    read_vectors(
        path, [](std::string_view word) { return word.find(' ') == std::string_view::npos; },
        [&](std::string_view word, std::span<const float>) {
          more.emplace_back(word);
          return ++added < most_added;
        });
  }
  std::ranges::sort(more);
  more.erase(std::unique(more.begin(), more.end()), more.end());
  for (const std::string& word : more) {
    for (int64_t i = 0; i < config.min_count; ++i) texts.push_back(word);
  }
}

void start_from_vectors(const Config& config, const Parameters& parameters,
                        const Tokenizer& tokens) {
  const auto files = vector_files(config.settings.get("vectors"));
  if (files.empty()) return;
  check_tokens(tokens.options().kind);
  const WordIds ids(tokens);
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string end =
        files.size() == 1 ? say(table_path, "/weight") : say(table_path, "/", i, "/weight");
    const Parameter* table = nullptr;
    for (const Parameter& p : parameters.entries()) {
      if (p.name().ends_with(end)) table = &p;
    }
    check(table != nullptr, "vectors: the model ", config.model, " has no embedding of words");
    fill(*table, files[i], ids);
  }
}

std::vector<std::string> vector_set_names(const Config& config) {
  std::vector<std::string> names;
  for (const std::string& file : vector_files(config.settings.get("vectors"))) {
    std::string name = std::filesystem::path(file).filename().string();
    for (const char* end : {".gz", ".xz", ".zst", ".txt", ".vec", ".bin"}) {
      if (name.ends_with(end)) name.resize(name.size() - std::string_view(end).size());
    }
    names.push_back(std::move(name));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::count(names, names[i]) > 1) names[i] += say(" ", i + 1);
  }
  return names;
}

std::vector<AttentionMap> with_vector_shares(std::vector<AttentionMap> maps,
                                             const Recorder& recorder, const Config& config,
                                             const std::vector<PlacedTokens>& texts) {
  const std::vector<std::string> sets = vector_set_names(config);
  if (sets.size() < 2) return maps;
  std::erase_if(maps, [](const AttentionMap& map) { return map.name == table_path; });
  size_t text = 0;
  for (const auto& recorded : recorder.maps()) {
    if (recorded.name.substr(0, recorded.name.find('#')) != table_path) continue;
    const Tensor& rows = recorded.weights.rows;  // [sequences, 1, tokens, sets]
    for (int64_t b = 0; b < rows.dim(0) && text < texts.size(); ++b, ++text) {
      const PlacedTokens& tokens = texts[text];
      const auto n = static_cast<int64_t>(tokens.pieces.size());
      if (n == 0 || rows.dim(2) < n || rows.dim(3) != static_cast<int64_t>(sets.size())) continue;
      AttentionMap map;
      map.name = texts.size() == 1 ? "vectors" : say("vectors ", text + 1);
      map.queries = sets;
      map.keys = tokens.pieces;
      map.key_places = tokens.places;
      for (int64_t set = 0; set < rows.dim(3); ++set) {
        for (int64_t t = 0; t < n; ++t) {
          map.weights.push_back(
              rows.read()[static_cast<size_t>((b * rows.dim(2) + t) * rows.dim(3) + set)]);
        }
      }
      maps.push_back(std::move(map));
    }
  }
  return maps;
}

}  // namespace fovea
