#include "fovea/data/text_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {

std::vector<TextPair> read_text_pairs(const std::string& path, const ReadOptions& options,
                                      ReadSummary* summary) {
  RecordReader records(path, {{"label", Role::Kind::label}, {"a"}, {"b"}}, options);
  std::vector<TextPair> all;
  while (records.next()) {
    all.push_back(
        {std::string(records.text(1)), std::string(records.text(2)), std::string(records.text(0))});
  }
  if (summary != nullptr) *summary = records.summary();
  return all;
}

TextRecords read_text_records(const std::string& path, const ReadOptions& options,
                              ReadSummary* summary) {
  RecordReader records(
      path, {{"label", Role::Kind::label}, {"a"}, {"numbers", Role::Kind::numbers, false}},
      options);
  TextRecords all;
  while (records.next()) {
    const auto numbers = records.numbers(2);
    all.pairs.push_back({std::string(records.text(1)),
                         "",
                         std::string(records.text(0)),
                         {numbers.begin(), numbers.end()}});
  }
  const auto columns = records.columns_of(2);
  check<ErrorKind::input>(!columns.empty(), path, ": has no column of numbers beside the text");
  for (const size_t column : columns) {
    const std::string& name = records.summary().columns.at(column).name;
    all.names.push_back(name.empty() ? say("column ", column + 1) : name);
  }
  if (summary != nullptr) *summary = records.summary();
  return all;
}

namespace {

bool is_named(const ColumnInfo& column, std::string_view role) {
  const std::string name = to_lowercase(column.name);
  return name == role || std::ranges::count(usual_names(role), name) > 0;
}
bool is_number_of_row(const ColumnInfo& column) {
  const std::string name = to_lowercase(column.name);
  return is_named(column, "id") || name == "idx" || name == "index" || name.ends_with("_id");
}
// A first text that comes with several second ones repeats, as labels do.
bool has_sentences(const ColumnInfo& column) {
  return std::ranges::any_of(
      column.samples, [](const std::string& sample) { return split_at_spaces(sample).size() > 2; });
}

}  // namespace

bool has_records(const std::string& path, const ReadOptions& options) {
  if (!options.columns.empty()) return says_role(options.columns, "numbers");
  const std::vector<ColumnInfo> columns = look_into(path, options).summary.columns;
  const auto has = [&](std::string_view role) {
    return std::ranges::any_of(columns, [&](const auto& column) { return is_named(column, role); });
  };
  if (has("a") && has("b")) return false;
  // One of those that are like labels is the label.
  const ColumnInfo* label = nullptr;
  const auto rank = [](const ColumnInfo& column) {
    return std::tuple(!is_named(column, "label"), has_sentences(column), column.numeric);
  };
  for (const ColumnInfo& column : columns) {
    if (is_like_labels(column) && (!label || rank(column) < rank(*label))) label = &column;
  }
  int64_t numbers = 0, texts = 0;
  for (const ColumnInfo& column : columns) {
    if (&column == label || is_number_of_row(column)) continue;
    numbers += column.numeric;
    texts += !column.numeric && (!is_like_labels(column) || has_sentences(column));
  }
  return label && texts == 1 && numbers >= 1;
}

std::vector<double> record_of(const std::string& where, std::string_view text, size_t count) {
  std::string spaced(text);
  for (char& c : spaced) c = c == ',' || c == ';' ? ' ' : c;
  std::vector<double> numbers;
  for (const std::string_view part : split_at_spaces(spaced)) {
    if (part == "?") {
      numbers.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const auto number = to_number(part);
    check<ErrorKind::input>(number.has_value(), where, ": '", part, "' is not a number; needs ",
                            count, " with commas between them, ? for one that is not known");
    numbers.push_back(*number);
  }
  check<ErrorKind::input>(numbers.size() == count, where, ": needs ", count,
                          " numbers with commas between them, got ", numbers.size());
  return numbers;
}

std::string record_text(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    text += text.empty() ? "" : ",";
    text += std::isnan(number) ? "?" : say(number);
  }
  return text;
}

}  // namespace fovea
