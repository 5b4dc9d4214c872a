#include "fovea/data/records.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr size_t sample_size = 256 * 1024;
constexpr size_t most_told = 5;

// A label and a text need words between, in the message that names them.
std::string role_names(std::span<const Role> roles) {
  std::string text;
  for (const Role& role : roles) {
    if (role.required) text += (text.empty() ? "" : ", ") + role.name;
  }
  return text;
}

}  // namespace

std::string ReadSummary::sentence() const {
  std::string text = say(path, ": ", format_reason, "; ", encoding);
  if (!packing.empty()) text += say(", packed with ", packing);
  text += say(". ", columns_reason);
  text += say(". ", rows, rows == 1 ? " row" : " rows");
  if (bad_rows > 0) {
    text += say(", ", bad_rows, " bad, left out:");
    for (size_t i = 0; i < first_bad.size(); ++i) {
      text += say(i == 0 ? " line " : "; line ", first_bad[i].line, " (", first_bad[i].reason, ")");
    }
    if (bad_rows > static_cast<int64_t>(first_bad.size())) text += "; and more";
  }
  return text + ".";
}

RecordReader::RecordReader(const std::string& path, std::vector<Role> roles,
                           const ReadOptions& options)
    : RecordReader(LineReader(path, options.encoding, options.prompt), std::move(roles), options) {}

RecordReader::RecordReader(LineReader lines, std::vector<Role> roles, const ReadOptions& options)
    : roles_(std::move(roles)),
      options_(options),
      lines_(std::move(lines)),
      values_(roles_.size()) {
  const std::string_view head = lines_.head(sample_size);
  // Who names the column of a text says that there are columns.
  const bool table = roles_.size() == 1 && !options.columns.empty();
  dialect_ =
      recognise(lines_.path(), head, lines_.head_is_all(), table ? std::span<const Role>() : roles_,
                options.format, options.header, options.learned);
  decimal_comma_ = dialect_.separator == ';';
  summary_.path = lines_.path();
  summary_.format = dialect_.format;
  summary_.encoding = lines_.encoding();
  summary_.packing = lines_.packing();
  summary_.header = header_is_due_ = dialect_.header;
  summary_.format_reason = dialect_.reason;
  summary_.columns = describe_columns(dialect_.names, dialect_.rows, decimal_comma_);
  choice_.columns.resize(roles_.size());
  if (!summary_.columns.empty()) choose();  // else there is nothing to read
  dialect_.rows.clear();
  dialect_.blank_lines = options.verbatim && dialect_.format == "text";
  rows_ = rows_of(dialect_, lines_);
}

FileContents look_into(const std::string& path, const ReadOptions& options,
                       std::span<const Role> roles) {
  LineReader lines(path, options.encoding, options.prompt);
  const std::string_view head = lines.head(sample_size);
  Dialect dialect = recognise(lines.path(), head, lines.head_is_all(), roles, options.format,
                              options.header, options.learned);
  FileContents found;
  found.summary.path = lines.path();
  found.summary.format = dialect.format;
  found.summary.encoding = lines.encoding();
  found.summary.packing = lines.packing();
  found.summary.header = dialect.header;
  found.summary.format_reason = dialect.reason;
  found.summary.columns = describe_columns(dialect.names, dialect.rows, dialect.separator == ';');
  found.rows = std::move(dialect.rows);
  return found;
}

void RecordReader::choose() {
  const bool ten = dialect_.format == "conllu", conll = ten || dialect_.format == "conll";
  const auto last = static_cast<int64_t>(dialect_.names.size()) - 1;
  std::vector<int64_t> fixed(roles_.size(), -1);
  for (size_t r = 0; r < roles_.size(); ++r) {
    const std::string& name = roles_[r].name;
    if (dialect_.split) fixed[r] = roles_[r].kind == Role::Kind::label ? 0 : 1;
    if (!conll) continue;
    if (name == "words") fixed[r] = ten ? 1 : 0;
    if (name == "text") fixed[r] = !ten ? 0 : summary_.columns[last].seen > 0 ? last : 1;
    if (name == "raw" && ten && summary_.columns[last].seen > 0) fixed[r] = last;
    if (name == "tags") {
      check<ErrorKind::input>(last > 0, lines_.path(),
                              ": needs a word and its tag a line, got one column");
      fixed[r] = ten ? 3 : last;
    }
  }
  if (dialect_.split && dialect_.names.size() < 2) {
    summary_.columns.resize(2);
    dialect_.names.resize(2);
  }
  choice_ = choose_columns(lines_.path(), roles_, summary_.columns, options_.columns, fixed,
                           options_.learned);
  summary_.columns_reason = choice_.reason;
  for (size_t r = 0; r < roles_.size(); ++r) {
    ColumnNames of{roles_[r].name, {}};
    for (const size_t column : choice_.columns[r]) of.names.push_back(dialect_.names[column]);
    if (!of.names.empty() && !std::ranges::count(of.names, "")) summary_.roles.push_back(of);
  }
}

bool RecordReader::next() {
  for (;;) {
    const Got got = as_kind(ErrorKind::input, [&] { return rows_->next(); });
    if (got == Got::end) break;
    if (got == Got::bad) {
      refuse(rows_->problem());
      continue;
    }
    if (std::exchange(header_is_due_, false)) continue;
    if (!take_row()) continue;
    ++summary_.rows;
    return true;
  }
  if (summary_.rows == 0 && !options_.may_be_empty) {
    check<ErrorKind::input>(summary_.bad_rows == 0, lines_.path(), ": all ", summary_.bad_rows,
                            " rows are bad, the first at line ",
                            summary_.first_bad.empty() ? 0 : summary_.first_bad[0].line, ": ",
                            summary_.first_bad.empty() ? "" : summary_.first_bad[0].reason);
    fail<ErrorKind::input>(lines_.path(),
                           summary_.header ? ": has a header and no rows" : ": is empty",
                           "; needs rows with ", role_names(roles_));
  }
  return false;
}

bool RecordReader::take_row() {
  const auto cells = rows_->cells();
  const size_t width = dialect_.names.size();
  if (cells.size() != width && dialect_.split) {
    return refuse("needs a label, a space and a text, got one word");
  }
  if (cells.size() != width) {
    return refuse(say("needs ", width, width == 1 ? " column" : " columns", " as ",
                      dialect_.header ? "the header has" : "most rows have", ", got ",
                      cells.size()));
  }
  if (dialect_.header && cells[0] == dialect_.names[0] &&
      std::equal(cells.begin(), cells.end(), dialect_.names.begin())) {
    return refuse("repeats the header");
  }
  for (size_t r = 0; r < roles_.size(); ++r) {
    if (!take_role(r)) return false;
  }
  size_t lists = 0, first = 0;
  for (size_t r = 0; r < roles_.size(); ++r) {
    if (roles_[r].kind != Role::Kind::list || choice_.columns[r].empty()) continue;
    if (lists++ == 0) first = r;
    if (values_[r].list.size() != values_[first].list.size()) {
      return refuse(say("has ", values_[first].list.size(), " ", roles_[first].name, ", but ",
                        values_[r].list.size(), " ", roles_[r].name, "; needs equally many"));
    }
  }
  return true;
}

bool RecordReader::take_role(size_t role) {
  const auto kind = roles_[role].kind;
  if (kind == Role::Kind::list) return take_list(role);
  if (kind == Role::Kind::texts) return take_texts(role), true;
  if (kind == Role::Kind::number || kind == Role::Kind::numbers) return take_numbers(role);
  const auto cells = rows_->cells();
  const auto& columns = choice_.columns[role];
  Value& value = values_[role];
  value.text = {};
  if (columns.size() == 1) {
    const std::string_view cell = cells[columns[0]];
    if (cell.data() == nullptr && roles_[role].required) {
      return refuse(say("lacks '", shortened(dialect_.names[columns[0]]), "', which is the ",
                        roles_[role].name));
    }
    value.text = dialect_.blank_lines ? cell : trimmed(cell);
  } else {
    value.joined.clear();
    for (const size_t column : columns) {
      const std::string_view cell = trimmed(cells[column]);
      if (!cell.empty() && !value.joined.empty()) value.joined += ' ';
      value.joined += cell;
    }
    value.text = value.joined;
  }
  if (value.text.empty() && roles_[role].required && !dialect_.blank_lines) {
    return refuse(say("the ", roles_[role].name, " is empty"));
  }
  return true;
}

bool RecordReader::take_list(size_t role) {
  Value& value = values_[role];
  value.list.clear();
  for (const size_t column : choice_.columns[role]) {
    if (rows_->cells()[column].data() == nullptr) continue;
    const auto part = rows_->list(column);
    value.list.insert(value.list.end(), part.begin(), part.end());
  }
  if (!roles_[role].required) return true;
  if (value.list.empty()) return refuse(say("the ", roles_[role].name, " are empty"));
  for (size_t i = 0; i < value.list.size(); ++i) {
    if (value.list[i].empty()) {
      return refuse(say("of the ", roles_[role].name, " number ", i + 1, " is empty"),
                    rows_->line_of(i));
    }
  }
  return true;
}

// None at all is for whoever asked to judge.
void RecordReader::take_texts(size_t role) {
  Value& value = values_[role];
  value.list.clear();
  value.is_list = false;
  for (const size_t column : choice_.columns[role]) {
    const std::string_view cell = rows_->cells()[column];
    if (rows_->is_list(column)) {
      const auto part = rows_->list(column);
      value.list.insert(value.list.end(), part.begin(), part.end());
      value.is_list = true;
      continue;
    }
    const bool whole = dialect_.format == "jsonl";
    for (size_t from = 0; from <= cell.size();) {
      const size_t to = whole ? cell.size() : std::min(cell.find('|', from), cell.size());
      const std::string_view part = trimmed(cell.substr(from, to - from));
      if (!part.empty()) value.list.push_back(part);
      from = to + 1;
    }
  }
}

bool RecordReader::take_numbers(size_t role) {
  Value& value = values_[role];
  value.numbers.clear();
  for (const size_t column : choice_.columns[role]) {
    const std::string_view cell = rows_->cells()[column];
    auto number = to_number(cell, decimal_comma_);
    if (!number && !roles_[role].required && trimmed(cell).empty()) {
      number = std::numeric_limits<double>::quiet_NaN();
    }
    if (!number) {
      return refuse(say(name_of(column), " needs a number, got '", shortened(cell), "'"));
    }
    value.numbers.push_back(*number);
  }
  if (value.numbers.empty()) value.numbers.push_back(std::numeric_limits<double>::quiet_NaN());
  return true;
}

std::string RecordReader::name_of(size_t column) const {
  const std::string& name = dialect_.names[column];
  return name.empty() ? say("column ", column + 1) : say("column '", shortened(name), "'");
}

// Always false: the row is not one.
bool RecordReader::refuse(std::string problem, int64_t line) {
  if (line == 0) line = rows_->line();
  check<ErrorKind::input>(options_.skip_bad, lines_.path(), ":", line, ": ", problem,
                          problem.find(';') == std::string::npos ? "; mend it" : "",
                          ", or leave such rows out with --skip-bad");
  ++summary_.bad_rows;
  if (options_.on_bad) options_.on_bad({line, problem});
  if (summary_.first_bad.size() < most_told) {
    summary_.first_bad.push_back({line, std::move(problem)});
  }
  return false;
}

}  // namespace fovea
