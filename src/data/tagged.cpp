// Words with their tags, from CoNLL columns and CoNLL-U.
#include <algorithm>
#include <charconv>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/data/csv.h"
#include "fovea/data/examples.h"
#include "fovea/data/text_file.h"

namespace fovea {
namespace {

const std::vector<std::string> names{"id",    "form", "lemma",  "upos", "xpos",
                                     "feats", "head", "deprel", "deps", "misc"};
constexpr size_t form = 2, upos = 4;  // counted from 1, as people count columns

// 0 when nothing was asked for.
size_t column_number(const std::string& column) {
  if (column.empty()) return 0;
  size_t number = 0;
  const char* end = column.data() + column.size();
  const auto result = std::from_chars(column.data(), end, number);
  if (result.ec == std::errc() && result.ptr == end) {
    check(number >= 1, "columns are counted from 1, got ", column);
    return number;
  }
  const auto found = std::find(names.begin(), names.end(), column);
  check(found != names.end(), unknown_name("column", column, names));
  return static_cast<size_t>(found - names.begin()) + 1;
}

// Where there is a tab, words may hold spaces.
std::vector<std::string_view> split_columns(std::string_view line) {
  const bool tabs = line.find('\t') != std::string_view::npos;
  std::vector<std::string_view> cells;
  for (size_t from = 0; from <= line.size();) {
    const size_t to = std::min(line.find(tabs ? '\t' : ' ', from), line.size());
    if (tabs || to > from) cells.push_back(line.substr(from, to - from));
    from = to + 1;
  }
  return cells;
}

class TaggedRows {
 public:
  TaggedRows(const std::string& path, const std::string& column)
      : path_(path), column_(column), wanted_(column_number(column)) {}

  void add(std::string_view line, int64_t number) {
    if (trimmed(line).empty()) {
      end_sentence();
    } else if (line.starts_with("-DOCSTART-")) {
      return;
    } else if (format_ == Format::unknown && line.starts_with('#')) {
      // A comment of CoNLL-U or a word of CoNLL: the first other line tells.
      held_.push_back({std::string(line), number});
    } else {
      if (format_ == Format::unknown) settle_format(line, number);
      take(line, number);
    }
  }

  std::vector<Tagged> finish() {
    if (!held_.empty()) settle_format(std::string(held_[0].text), held_[0].number);
    end_sentence();
    check(!sentences_.empty(), path_,
          ": has no sentences; needs a word and its tag a line, a blank line between sentences");
    return std::move(sentences_);
  }

 private:
  enum class Format { unknown, columns, conllu };
  struct Held {
    std::string text;
    int64_t number;
  };

  void settle_format(std::string_view line, int64_t number) {
    const bool tabs = line.find('\t') != std::string_view::npos;
    width_ = split_columns(line).size();
    format_ = tabs && width_ == names.size() ? Format::conllu : Format::columns;
    width_line_ = number;
    if (format_ == Format::columns) {
      check(wanted_ == 0 || !std::count(names.begin(), names.end(), column_), path_, ":", number,
            ": the column '", column_, "' has a name only in CoNLL-U (ten columns, tabs), got ",
            width_, width_ == 1 ? " column" : " columns", "; give the column's number");
      word_ = 1;
      tag_ = wanted_ > 0 ? wanted_ : width_;
      check(width_ >= 2, path_, ":", number, ": needs a word and its tag, got one column");
      check(tag_ <= width_, path_, ":", number, ": needs ", tag_, " columns, got ", width_);
    } else {
      word_ = form;
      tag_ = wanted_ > 0 ? wanted_ : upos;
      check(tag_ <= width_, path_, ": CoNLL-U has ", width_, " columns, got column ", tag_);
    }
    for (const Held& line : std::exchange(held_, {})) take(line.text, line.number);
  }

  void take(std::string_view line, int64_t number) {
    if (format_ == Format::conllu && line.starts_with('#')) return;
    const auto cells = split_columns(line);
    check(cells.size() == width_, path_, ":", number, ": needs ", width_, " columns as line ",
          width_line_, " has, got ", cells.size());
    if (format_ == Format::conllu && cells[0].find_first_of("-.") != std::string_view::npos) return;
    const std::string_view word = cells[word_ - 1], tag = cells[tag_ - 1];
    check(!word.empty() && !tag.empty(), path_, ":", number, ": the ",
          word.empty() ? "word" : "tag", " is empty; needs both");
    now_.words.emplace_back(word);
    now_.tags.emplace_back(tag);
  }

  void end_sentence() {
    if (!now_.words.empty()) sentences_.push_back(std::exchange(now_, {}));
  }

  const std::string& path_;
  const std::string& column_;
  size_t wanted_;
  Format format_ = Format::unknown;
  std::vector<Held> held_;
  size_t width_ = 0, word_ = 1, tag_ = 1;
  int64_t width_line_ = 0;
  Tagged now_;
  std::vector<Tagged> sentences_;
};

}  // namespace

std::vector<Tagged> read_tagged(const std::string& path, const std::string& column) {
  TaggedRows rows(path, column);
  for_each_line(path, [&](std::string_view line, int64_t number) { rows.add(line, number); });
  return rows.finish();
}

}  // namespace fovea
