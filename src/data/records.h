// Records out of any file of text: the one reader that tasks get their examples from.
//
//   RecordReader records(path, {{"label", Role::Kind::label}, {"text"}}, options);
//   while (records.next()) use(records.text(0), records.text(1));
//   tell(records.summary().sentence());
//
// A task says which roles it needs; the file may be CSV (comma, semicolon, tab, bar), TSV, JSON
// lines, plain text, CoNLL columns or CoNLL-U, in UTF-8, UTF-16 or Windows-1252, plain or packed
// with gzip, xz or zstd. All that is told by content. One record is in memory at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/columns.h"
#include "fovea/data/dialect.h"
#include "fovea/data/line_reader.h"

namespace fovea {

// A row that is none, and why.
struct BadRow {
  int64_t line = 0;    // that it begins on, counted from 1
  std::string reason;  // what is wrong with it
};

// What is known of a file beforehand; what is not said is told by its content.
struct ReadOptions {
  std::string format = "auto";    // csv, tsv, jsonl, text, conll, conllu
  std::string header = "auto";    // yes, no
  std::string encoding = "auto";  // as open_text has it
  std::string columns{};          // as choose_columns has it
  // Names of the columns in the table that the model learned from: a file that has them is read by
  // them, whatever their order.
  std::vector<ColumnNames> learned{};
  bool skip_bad = false;      // count bad rows and go on, instead of an Error at the first
  bool may_be_empty = false;  // else a file without a record is an Error
  bool prompt = false;        // a conversation: recognise by what the first read gives
  bool verbatim = false;      // plain text: blank lines and spaces at the ends are text too
  std::function<void(const BadRow&)> on_bad{};  // with skip_bad: is told of each, as it comes
};

// What was read, for people to see.
struct ReadSummary {
  std::string path, format, encoding, packing;  // as Dialect and TextSource have them
  bool header = false;                          // the first row named the columns
  std::string format_reason, columns_reason;    // why it was read so, and why these columns
  std::vector<ColumnInfo> columns;              // what the first rows tell of each
  std::vector<ColumnNames> roles;               // the names of each role's, where there are names
  int64_t rows = 0, bad_rows = 0;               // good ones, and those passed over
  std::vector<BadRow> first_bad;                // at most five

  // All of it but the columns in a few sentences.
  std::string sentence() const;
};

// What a file holds, for whoever has no task in mind yet: its format and columns, and its first
// rows. Nothing is said about it that needs more than these.
struct FileContents {
  ReadSummary summary;                         // rows and bad_rows are not counted
  std::vector<std::vector<std::string>> rows;  // cells in the order of summary.columns
};
// Reads no further than recognising it takes; what the roles need, if any are given, decides where
// content leaves a doubt.
FileContents look_into(const std::string& path, const ReadOptions& options = {},
                       std::span<const Role> roles = {});

// A row is bad if it is not text in the encoding, longer than longest_line, no JSON, has an
// unclosed quote, more or fewer cells than the others, repeats the header, or lacks what a role
// requires: an empty cell, no number where one is needed, lists that are not equally long. An Error
// names path:line, what is wrong and what to do.
class RecordReader {
 public:
  // Opens the file, recognises it and chooses columns; path "-" is stdin.
  RecordReader(const std::string& path, std::vector<Role> roles, const ReadOptions& options = {});
  // Of lines that were opened already, and of which no more than the head was looked at.
  RecordReader(LineReader lines, std::vector<Role> roles, const ReadOptions& options);

  // Goes on to the next good record; false behind the last.
  bool next();

  // Of the record, by the place of the role among the roles; views until the next call of next().
  // What a role that is not required lacks is empty, numbers are NaN.
  std::string_view text(size_t role) const { return values_[role].text; }
  std::span<const std::string_view> list(size_t role) const { return values_[role].list; }
  // Whether the texts of a role came as a list of JSON, which may be empty on purpose.
  bool is_list(size_t role) const { return values_[role].is_list; }
  double number(size_t role) const { return values_[role].numbers[0]; }
  std::span<const double> numbers(size_t role) const { return values_[role].numbers; }
  // The line that the record begins on, counted from 1.
  int64_t line() const { return rows_->line(); }
  // Whether a further line has come already, so that next() need not wait for one.
  bool has_line() const { return lines_.has_line(); }

  // How far it got; complete when next() has given false.
  const ReadSummary& summary() const { return summary_; }
  // The columns of a role, counted from 0.
  std::span<const size_t> columns_of(size_t role) const { return choice_.columns[role]; }

 private:
  struct Value {
    std::string_view text;
    std::vector<std::string_view> list;
    std::vector<double> numbers;
    bool is_list = false;
    std::string joined;  // what `text` is a view of when several columns make it
  };

  void choose();
  bool take_row();
  bool take_role(size_t role);
  bool take_list(size_t role);
  void take_texts(size_t role);
  bool take_numbers(size_t role);
  bool refuse(std::string problem, int64_t line = 0);
  std::string name_of(size_t column) const;

  std::vector<Role> roles_;
  ReadOptions options_;
  LineReader lines_;
  Dialect dialect_;
  ColumnChoice choice_;
  std::unique_ptr<Rows> rows_;
  ReadSummary summary_;
  std::vector<Value> values_;
  bool header_is_due_ = false, decimal_comma_ = false;
};

}  // namespace fovea
