#include "fovea/data/examples.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/csv.h"
#include "fovea/data/text_file.h"

namespace fovea {
namespace {

std::vector<Pair> read_parallel(const std::string& sources, const std::string& targets) {
  const std::vector<std::string> source = read_lines(sources), target = read_lines(targets);
  check(source.size() == target.size(), "parallel files need equally many lines: ", sources,
        " has ", source.size(), ", ", targets, " has ", target.size());
  std::vector<Pair> pairs;
  for (size_t i = 0; i < source.size(); ++i) {
    const bool no_source = trimmed(source[i]).empty(), no_target = trimmed(target[i]).empty();
    if (no_source && no_target) continue;
    check(!no_source && !no_target, no_source ? sources : targets, ":", i + 1,
          ": is blank, but the line of the same number in ", no_source ? targets : sources,
          " is not; fill it, or blank both");
    pairs.push_back({source[i], target[i]});
  }
  check(!pairs.empty(), sources, " and ", targets, ": have only blank lines; need text");
  return pairs;
}

bool is_there(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0;
}

// Which cells of a row hold the label and the text.
struct Columns {
  size_t label = 0, text = 1, count = 2;
};

// What a first row says when it names columns: both a label and a text are among the names.
std::optional<Columns> header_of(const std::vector<std::string>& cells) {
  const std::vector<std::string> labels{"label", "sentiment"}, texts{"text", "sentence", "review"};
  const auto find = [&](const std::vector<std::string>& names) {
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = to_lowercase(trimmed(cells[i]));
      if (std::count(names.begin(), names.end(), cell) > 0) return i;
    }
    return cells.size();
  };
  const Columns columns{find(labels), find(texts), cells.size()};
  if (columns.label == cells.size() || columns.text == cells.size()) return std::nullopt;
  return columns;
}

// "1,4": the label in the first column, the text in the fourth, of as many as the first row has.
Columns columns_of(const std::string& columns) {
  size_t label = 0, text = 0;
  const char* end = columns.data() + columns.size();
  const auto first = std::from_chars(columns.data(), end, label);
  const bool more = first.ec == std::errc() && first.ptr != end && *first.ptr == ',';
  const auto second = std::from_chars(more ? first.ptr + 1 : end, end, text);
  check(more && second.ec == std::errc() && second.ptr == end && label > 0 && text > 0,
        "column: classify needs the numbers of the label's and the text's column, such as 1,4, "
        "got '",
        columns, "'");
  return {label - 1, text - 1, 0};
}

// Gathers labelled texts from rows of cells.
class LabelledRows {
 public:
  LabelledRows(const std::string& path, std::string format, const std::string& columns)
      : path_(path), format_(std::move(format)) {
    if (!columns.empty()) columns_ = columns_of(columns);
  }

  void add(const std::vector<std::string>& cells, int64_t line) {
    if (std::exchange(first_, false)) {
      if (columns_.count == 0) {
        columns_.count = cells.size();
        check(std::max(columns_.label, columns_.text) < cells.size(), path_, ":", line, ": has ",
              cells.size(), " columns, but column ", std::max(columns_.label, columns_.text) + 1,
              " was asked for");
      } else if (const auto header = header_of(cells)) {
        columns_ = *header;
        return;
      }
    }
    check(cells.size() == columns_.count, path_, ":", line, ": needs ", columns_.count,
          " columns, ", format_, ", got ", cells.size() == 1 ? say("one") : say(cells.size()));
    Labelled example{std::string(trimmed(cells[columns_.text])),
                     std::string(trimmed(cells[columns_.label]))};
    check(!example.label.empty(), path_, ":", line, ": the label is empty; needs ", format_);
    check(!example.text.empty(), path_, ":", line, ": the text is empty; needs ", format_);
    examples_.push_back(std::move(example));
  }

  std::vector<Labelled> take() {
    check(!examples_.empty(), path_, ": has no examples; needs lines of ", format_);
    return std::move(examples_);
  }

 private:
  const std::string& path_;
  std::string format_;
  Columns columns_;
  bool first_ = true;
  std::vector<Labelled> examples_;
};

std::vector<std::string> split_at_tabs(std::string_view line) {
  std::vector<std::string> cells;
  for (;;) {
    const size_t tab = line.find('\t');
    cells.push_back(unquoted(line.substr(0, tab)));
    if (tab == std::string_view::npos) return cells;
    line.remove_prefix(tab + 1);
  }
}

std::vector<std::string> split_at_first_space(std::string_view line) {
  line = trimmed(line);
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return {std::string(line)};
  return {std::string(line.substr(0, space)), std::string(line.substr(space + 1))};
}

bool is_csv_name(std::string path) {
  for (const std::string_view packed : {".gz", ".xz"}) {
    if (path.ends_with(packed)) path.resize(path.size() - packed.size());
  }
  return to_lowercase(path).ends_with(".csv");
}

}  // namespace

std::vector<Pair> read_pairs(const std::string& path) {
  const size_t comma = path.find(',');
  if (comma != std::string::npos && !is_there(path)) {
    check(path.find(',', comma + 1) == std::string::npos,
          "two parallel files are named with one comma between them, got '", path, "'");
    return read_parallel(path.substr(0, comma), path.substr(comma + 1));
  }
  std::vector<Pair> pairs;
  for_each_line(path, [&](std::string_view line, int64_t number) {
    if (trimmed(line).empty()) return;
    const auto tabs = std::count(line.begin(), line.end(), '\t');
    check(tabs == 1, path, ":", number, ": needs source<TAB>target with one tab, got ",
          tabs == 0 ? say("none") : say(tabs));
    const size_t tab = line.find('\t');
    const std::string_view source = line.substr(0, tab), target = line.substr(tab + 1);
    check(!trimmed(source).empty() && !trimmed(target).empty(), path, ":", number, ": the ",
          trimmed(source).empty() ? "source" : "target",
          " is empty; needs source<TAB>target with text in both");
    pairs.push_back({std::string(source), std::string(target)});
  });
  check(!pairs.empty(), path, ": is empty; needs lines of source<TAB>target");
  return pairs;
}

std::vector<Labelled> read_labelled(const std::string& path, const std::string& columns) {
  if (is_csv_name(path)) {
    LabelledRows rows(path, "label,text", columns);
    for_each_csv_row(path, [&](std::vector<std::string>& cells, int64_t n) { rows.add(cells, n); });
    return rows.take();
  }
  struct Line {
    std::string text;
    int64_t number;
  };
  std::vector<Line> lines;
  int64_t tab_line = 0;
  for_each_line(path, [&](std::string_view line, int64_t number) {
    if (trimmed(line).empty()) return;
    if (tab_line == 0 && line.find('\t') != std::string_view::npos) tab_line = number;
    lines.push_back({std::string(line), number});
  });
  LabelledRows rows(path,
                    tab_line > 0 ? say("label<TAB>text (line ", tab_line, " has a tab)")
                                 : say("label<TAB>text or label<SPACE>text"),
                    columns);
  for (const Line& line : lines) {
    rows.add(tab_line > 0 ? split_at_tabs(line.text) : split_at_first_space(line.text),
             line.number);
  }
  return rows.take();
}

}  // namespace fovea
