#include "fovea/data/csv.h"

#include "fovea/base/error.h"
#include "fovea/data/text_file.h"

namespace fovea {
namespace {

// A row under way: lines come in, whole rows go out.
class Row {
 public:
  Row(const std::string& path, const RowFunction& f) : path_(path), f_(f) {}

  void add(std::string_view line, int64_t number) {
    if (in_quotes_) {
      cells_.back() += '\n';
    } else {
      if (trimmed(line).empty()) return;
      line_ = number;
      start_cell();
    }
    for (size_t at = 0; at < line.size(); ++at) at = take(line, at, number);
    if (in_quotes_) {
      check(static_cast<int64_t>(cells_.back().size()) <= longest_line, path_, ":", quote_line_,
            ": the quote that opens here is not closed within ", longest_line, " bytes; close it");
      return;
    }
    f_(cells_, line_);
    cells_.clear();
  }

  void finish() const {
    check(!in_quotes_, path_, ":", quote_line_,
          ": the quote that opens here is never closed; close it, or double quotes that belong to "
          "the text and put the whole text in quotes");
  }

 private:
  void start_cell() {
    cells_.emplace_back();
    was_quoted_ = false;
  }

  // Takes the character at `at` and gives the place of the last one taken.
  size_t take(std::string_view line, size_t at, int64_t number) {
    const char c = line[at];
    std::string& cell = cells_.back();
    if (in_quotes_) {
      if (c != '"') {
        cell += c;
      } else if (at + 1 < line.size() && line[at + 1] == '"') {
        cell += c;
        return at + 1;
      } else {
        in_quotes_ = false;
      }
    } else if (c == ',') {
      start_cell();
    } else if (c == '"' && !was_quoted_ && trimmed(cell).empty()) {
      cell.clear();
      in_quotes_ = was_quoted_ = true;
      quote_line_ = number;
    } else if (was_quoted_) {
      check(c == ' ' || c == '\t', path_, ":", number,
            ": needs a comma or the end of the line after a closing quote, got '",
            line.substr(at, 1), "'; double the quotes that belong to the text");
    } else {
      cell += c;
    }
    return at;
  }

  const std::string& path_;
  const RowFunction& f_;
  std::vector<std::string> cells_;
  bool in_quotes_ = false, was_quoted_ = false;
  int64_t line_ = 0, quote_line_ = 0;
};

}  // namespace

void for_each_csv_row(const std::string& path, const RowFunction& f) {
  Row row(path, f);
  for_each_line(path, [&](std::string_view line, int64_t number) { row.add(line, number); });
  row.finish();
}

std::string unquoted(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('"') || !text.ends_with('"')) return std::string(text);
  const std::string_view inside = text.substr(1, text.size() - 2);
  std::string result;
  for (size_t at = 0; at < inside.size(); ++at) {
    if (inside[at] == '"' && (++at == inside.size() || inside[at] != '"')) return std::string(text);
    result += inside[at];
  }
  return result;
}

std::string_view trimmed(std::string_view text, std::string_view marks) {
  const size_t first = text.find_first_not_of(marks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(marks) - first + 1);
}

}  // namespace fovea
