// What columns hold, and the names that people give them.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "fovea/base/utf8.h"
#include "fovea/data/columns.h"
#include "fovea/data/picture_file.h"
#include "fovea/data/rows.h"

namespace fovea {
namespace {

using Names = std::vector<std::string_view>;

const std::map<std::string_view, Names> usual{
    {"label",
     {"label", "labels", "category", "class", "sentiment", "gold_label", "target", "gold", "topic",
      "intent", "polarity", "genre", "classification", "emotion", "y", "tag", "rating", "stars",
      "score"}},
    {"text",
     {"text", "sentence", "review", "body", "content", "message", "comment", "tweet", "document",
      "article", "utterance", "description", "review_text", "reviewtext", "headline", "summary",
      "question", "title"}},
    {"source", {"source", "src", "input", "source_text", "question", "from", "prompt"}},
    {"target",
     {"target", "tgt", "trg", "output", "target_text", "translation", "answer", "to",
      "completion"}},
    {"words", {"words", "tokens", "form", "word", "token", "sentence", "text"}},
    {"tags", {"tags", "ner_tags", "pos_tags", "labels", "ner", "upos", "pos", "tag", "label"}},
    {"raw", {"raw", "text", "sentence"}},
    {"a",
     {"a", "sentence1", "sentence_1", "premise", "text_a", "text1", "question1", "sentence_a",
      "query"}},
    {"b",
     {"b", "sentence2", "sentence_2", "hypothesis", "text_b", "text2", "question2", "sentence_b",
      "passage"}},
    {"passage", {"passage", "context", "document", "article", "story", "paragraph", "text"}},
    {"question", {"question", "query", "q"}},
    {"answer", {"answer", "answers", "answers.text", "answer_text", "span", "label", "output"}},
    {"candidates", {"candidates", "options", "choices", "entities"}},
    {"start", {"answer_start", "answers.answer_start", "start"}},
    {"is_impossible", {"is_impossible", "impossible"}},
    {"id", {"id", "qid", "question_id"}},
    {"phrase", {"phrase", "aspect", "term", "aspect_term", "target", "entity"}},
    {"picture",
     {"picture", "image", "img", "photo", "file", "filename", "file_name", "image_path", "path"}},
    {"frames", {"frames", "pictures", "images"}},
    {"caption", {"caption", "text", "description", "sentence", "title"}},
    {"number", {"target", "value", "y", "number", "score", "rating", "stars", "price"}},
};
const Names sure{"label", "labels",   "category",  "class",     "sentiment", "gold_label",
                 "text",  "sentence", "sentence1", "sentence2", "passage",   "context"};
const Names other{"id",    "idx",  "index",  "name",   "date",  "time",     "year", "url",
                  "link",  "lang", "author", "user",   "count", "language", "key",  "split",
                  "email", "city", "state",  "amount", "age",   "country",  "x",    "type"};
// Over the two columns of a table of translations.
const Names languages{"english",   "german",   "deutsch",    "french",    "français", "francais",
                      "spanish",   "español",  "espanol",    "italian",   "italiano", "portuguese",
                      "português", "dutch",    "nederlands", "polish",    "polski",   "russian",
                      "русский",   "czech",    "turkish",    "arabic",    "hindi",    "chinese",
                      "中文",      "japanese", "日本語",     "korean",    "swedish",  "danish",
                      "norwegian", "finnish",  "greek",      "hungarian", "romanian", "ukrainian",
                      "latin",     "hebrew",   "en",         "de",        "fr",       "es",
                      "it",        "pt",       "nl",         "pl",        "ru",       "cs",
                      "tr",        "ar",       "zh",         "ja",        "ko",       "sv"};

}  // namespace

std::string shortened(std::string_view text) {
  const auto points = code_points(text);
  if (points.size() <= 30) return std::string(text);
  return std::string(text.substr(0, points[27].data() - text.data())) + "...";
}

// 1,234,567.8: thousands apart. With a point for the comma, and no comma behind it, it may be a
// decimal number, and is one.
static bool is_grouped(std::string_view cell, char group, char point) {
  const std::string_view whole = cell.substr(0, cell.find(point));
  if (group == '.' && whole.size() == cell.size() && std::ranges::count(whole, group) < 2)
    return false;
  size_t digits = 0, groups = 0;
  for (const char c : whole.substr(whole.starts_with('-') ? 1 : 0)) {
    if (c == group) {
      if (digits == 0 || digits > 3 || (groups > 0 && digits != 3)) return false;
      digits = 0, ++groups;
    } else if (c < '0' || c > '9') {
      return false;
    } else {
      ++digits;
    }
  }
  return groups > 0 && digits == 3;
}

std::optional<double> to_number(std::string_view cell, bool decimal_comma) {
  cell = trimmed(cell);
  if (cell.starts_with('+') && !cell.starts_with("+-")) cell.remove_prefix(1);
  std::string changed;
  if (decimal_comma && std::count(cell.begin(), cell.end(), ',') == 1 &&
      cell.find('.') == std::string_view::npos) {
    changed = cell;
    changed[changed.find(',')] = '.';
    cell = changed;
  }
  if (is_grouped(cell, decimal_comma ? '.' : ',', decimal_comma ? ',' : '.')) {
    changed = cell;
    std::erase(changed, decimal_comma ? '.' : ',');
    std::ranges::replace(changed, ',', '.');
    cell = changed;
  }
  double value = 0;
  const char* end = cell.data() + cell.size();
  const auto result = std::from_chars(cell.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<ColumnInfo> describe_columns(std::span<const std::string> names,
                                         std::span<const std::vector<std::string>> rows,
                                         bool decimal_comma) {
  std::vector<ColumnInfo> columns(names.size());
  for (size_t c = 0; c < names.size(); ++c) {
    ColumnInfo& column = columns[c];
    column.name = names[c];
    std::set<std::string_view> values;
    size_t bytes = 0;
    int64_t numbers = 0, pictures = 0;
    for (const auto& row : rows) {
      const std::string_view cell = c < row.size() ? trimmed(row[c]) : std::string_view();
      if (cell.empty()) continue;
      ++column.seen;
      bytes += cell.size();
      numbers += to_number(cell, decimal_comma).has_value();
      pictures += cell.size() < 4096 && is_picture_name(cell);
      if (values.insert(cell).second && column.samples.size() < 3) {
        column.samples.push_back(shortened(cell));
      }
    }
    // One slip must not make a text of a column of numbers: the reader names its line.
    column.numeric = column.seen > 0 && 5 * numbers >= 4 * column.seen;
    column.pictures = column.seen > 0 && 5 * pictures >= 4 * column.seen;
    column.distinct = static_cast<int64_t>(values.size());
    column.mean_length = column.seen > 0 ? static_cast<double>(bytes) / column.seen : 0;
  }
  return columns;
}

std::span<const std::string_view> usual_names(std::string_view role) {
  const auto found = usual.find(role);
  if (found == usual.end()) return {};
  return found->second;
}

int usual_name_weight(std::string_view name) {
  const std::string lower = to_lowercase(trimmed(name));
  const auto has = [&](const Names& names) {
    return std::count(names.begin(), names.end(), lower) > 0;
  };
  if (has(sure)) return 2;
  // Names that are as often values: a letter, "pos" for positive.
  if (lower.size() < 2 || has({"pos", "to", "from", "question", "answer"})) return 0;
  const bool known =
      has(other) || has(languages) ||
      std::any_of(usual.begin(), usual.end(), [&](const auto& role) { return has(role.second); });
  return known ? 1 : 0;
}

}  // namespace fovea
