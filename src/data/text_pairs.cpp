#include "fovea/data/text_pairs.h"

#include <cmath>
#include <limits>

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

bool has_records(const std::string& path, const ReadOptions& options) {
  if (!options.columns.empty()) {
    return ("," + options.columns).find(",numbers=") != std::string::npos;
  }
  int64_t numbers = 0, texts = 0, labels = 0;
  for (const ColumnInfo& column : look_into(path, options).summary.columns) {
    const bool label = is_like_labels(column);
    labels += label;
    numbers += column.numeric && !label;
    texts += !column.numeric && !label;
  }
  return labels > 0 && texts == 1 && numbers >= 1;
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
