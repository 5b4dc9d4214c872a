// Rows of cells out of lines of text, one way for each format. What the cells mean is for others.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/line_reader.h"

namespace fovea {

// A row at a time; views live until the next call of next().
class Rows {
 public:
  virtual ~Rows() = default;
  // Goes on to the next row.
  virtual Got next() = 0;

  // A cell that is not there (a key that a JSON line lacks) has no data().
  std::span<const std::string_view> cells() const { return cells_; }
  // What a cell holds that is a list (a JSON array, a column of a CoNLL sentence); others have
  // their words, as they stand between spaces.
  virtual std::span<const std::string_view> list(size_t column);
  // Whether a cell is a list by itself, as a JSON array is.
  virtual bool is_list(size_t /*column*/) const { return false; }
  // The line that the row begins on, and of a bad row the one that is wrong and why.
  int64_t line() const { return line_; }
  // Where an item of a list stands.
  virtual int64_t line_of(size_t /*item*/) const { return line_; }
  // Why a bad row is bad.
  const std::string& problem() const { return problem_; }

 protected:
  // Goes on to the line that a row begins on, past blank ones unless these are rows too.
  Got next_line(LineReader& lines, bool blank_lines = false);
  // What next() returns for a row that is wrong.
  Got bad(int64_t line, std::string problem) {
    line_ = line;
    problem_ = std::move(problem);
    return Got::bad;
  }

  std::vector<std::string_view> cells_;  // of the row now
  std::vector<std::string_view> list_;   // what list() gave last
  int64_t line_ = 0;                     // of the row, or of what is wrong with it
  std::string problem_;                  // of a bad row
};

// How a row is cut into cells at `separator`.
enum class Quotes {
  rfc4180,  // a cell that begins with a quote ends at the next that is not doubled, and may hold
            // separators and line breaks; other cells are as they stand
  by_line,  // a cell in quotes, with those inside doubled, loses them; all others are as they stand
};

// CSV and TSV. Blank lines are passed over; a row may have any number of cells.
std::unique_ptr<Rows> separated_rows(LineReader& lines, char separator, Quotes quotes);

// Every line is a cell. `split`: two cells, before and after the first space. Blank lines are
// passed over, unless they are asked for as rows.
std::unique_ptr<Rows> text_rows(LineReader& lines, bool split, bool blank_lines = false);

// An object a line; the cells are the values at `paths` (a key, or keys joined by dots: a.b). Text
// comes unescaped, numbers and truth values as they stand, arrays of these as lists; null is a cell
// that is not there. Blank lines are passed over.
std::unique_ptr<Rows> json_rows(LineReader& lines, std::vector<std::string> paths);

// A row is a sentence, its cells are lists. Columns stand between tabs, or between spaces where a
// line has no tab. CoNLL-U (ten columns, tabs): comments, multiword ranges and empty nodes are
// passed over; an eleventh cell has the sentence's text as the comment gives it. Elsewhere
// -DOCSTART- is passed over and # is a word. A bad line makes the whole sentence bad.
std::unique_ptr<Rows> conll_rows(LineReader& lines, bool conllu);

// id form lemma upos xpos feats head deprel deps misc, and text.
std::span<const std::string> conllu_names();

// Without the spaces, tabs and what else `marks` has at both ends.
std::string_view trimmed(std::string_view text, std::string_view marks = " \t");

// "comma" for ','.
std::string separator_name(char separator);

}  // namespace fovea
