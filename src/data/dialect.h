// In what format a file of records is, told by its content.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/columns.h"
#include "fovea/data/rows.h"

namespace fovea {

struct Dialect {
  std::string format;               // csv, tsv, jsonl, text, conll, conllu
  char separator = 0;               // of csv and tsv
  Quotes quotes = Quotes::rfc4180;  // of csv and tsv
  bool split = false;               // of text: a label before the first space
  bool blank_lines = false;         // of text: a blank line is a row
  int64_t before = 0;               // lines above the table: Excel's sep=; or comments
  bool header = false;              // the first row holds names
  std::string reason{};             // "comma-separated, with a header: ..."
  // The first row's cells, if it is a header; of JSON the paths seen; of CoNLL-U its columns. Else
  // as many empty names as rows have cells.
  std::vector<std::string> names{};
  std::vector<std::vector<std::string>> rows{};  // the first ones, without the header
};

// The formats, and the answers to `header`.
std::span<const std::string> known_formats();
std::span<const std::string> known_headers();

// `head` is what the file begins with, whole lines if it is not `all` of it. `format` and `header`
// are auto or one of those known. What the roles need decides where content leaves a doubt: lists
// speak for CoNLL, a lone text for plain text, a label and a text may stand in one line with a
// space between them. An Error if the file is JSON, but not JSON lines.
// `learned`: a first row that has one of these names is a header.
Dialect recognise(const std::string& path, std::string_view head, bool all,
                  std::span<const Role> roles, const std::string& format, const std::string& header,
                  std::span<const ColumnNames> learned = {});

// Rows of that dialect; JSON gives the cells of `names` only.
std::unique_ptr<Rows> rows_of(const Dialect& dialect, LineReader& lines);

// Whether one of the cells is a name that a model learned a column by.
bool has_name(std::span<const std::string> cells, std::span<const ColumnNames> learned);

// Whether the first of these rows names the columns, and why.
struct HeaderSign {
  bool found = false;  // the first row is a header
  std::string reason;  // in a few words, for people
};
// From the first rows of a file; `decimal_comma` tells what counts as a number.
HeaderSign find_header(std::span<const std::vector<std::string>> rows, bool decimal_comma);

}  // namespace fovea
