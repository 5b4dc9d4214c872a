#include "fovea/data/dialect.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/base/utf8.h"
#include "fovea/data/json_line.h"

namespace fovea {
namespace {

constexpr size_t sample_rows = 1000;
const std::vector<std::string> formats{"auto", "csv", "tsv", "jsonl", "text", "conll", "conllu"};
const std::vector<std::string> headers{"auto", "yes", "no"};

std::vector<std::vector<std::string>> first_rows(Rows& rows, size_t* bad = nullptr) {
  std::vector<std::vector<std::string>> result;
  while (result.size() < sample_rows) {
    const Got got = rows.next();
    if (got == Got::end) break;
    if (got == Got::bad) {
      if (bad != nullptr && ++*bad > sample_rows) break;
      continue;
    }
    result.emplace_back(rows.cells().begin(), rows.cells().end());
  }
  return result;
}

size_t usual_width(const std::vector<std::vector<std::string>>& rows) {
  std::map<size_t, size_t> counts;
  for (const auto& row : rows) ++counts[row.size()];
  if (rows.empty()) return 0;
  // Of equals the first row's: it is the later ones that are ragged.
  size_t width = rows[0].size(), best = counts[width];
  for (const auto& [cells, count] : counts) {
    if (count > best) best = count, width = cells;
  }
  return width;
}

class Recognition {
 public:
  Recognition(const std::string& path, std::string_view head, bool all, std::span<const Role> roles,
              std::span<const ColumnNames> learned)
      : path_(path), head_(head), all_(all), learned_(learned) {
    for (const Role& role : roles) {
      if (!role.required) continue;
      wants_text_ =
          wants_text_ || role.kind == Role::Kind::text || role.kind == Role::Kind::picture;
      wants_lists_ = wants_lists_ || role.kind == Role::Kind::list;
      wants_label_ = wants_label_ || role.kind == Role::Kind::label;
      wants_numbers_ =
          wants_numbers_ || role.kind == Role::Kind::number || role.kind == Role::Kind::numbers;
      ++wanted_;
    }
    LineReader reader = LineReader::of(head);
    bool blank = false;
    std::string problem;
    for (Got got; lines_.size() < sample_rows && (got = reader.next()) != Got::end;) {
      if (got == Got::bad) {
        if (problem.empty()) problem = say(path, ":", reader.number(), ": ", reader.problem());
        continue;
      }
      const std::string_view line = reader.text();
      if (trimmed(line).empty()) {
        blank = true;
        continue;
      }
      groups_ += lines_.empty() || std::exchange(blank, false);
      lines_.emplace_back(line);
    }
    check(problem.empty() || !lines_.empty(), problem);
  }

  Dialect run(const std::string& format) {
    if (format == "csv") return best_separated(",;\t|").value_or(separated(','));
    if (format == "tsv") return separated('\t');
    if (format == "jsonl") return {.format = "jsonl", .reason = "JSON lines, as asked"};
    if (format == "conll") return {.format = "conll", .reason = "CoNLL columns, as asked"};
    if (format == "conllu") return {.format = "conllu", .reason = "CoNLL-U, as asked"};
    if (format == "text") return text("a text a line, as asked");
    if (lines_.empty()) return text("without any text");
    if (lines_[0].starts_with('{') || lines_[0].starts_with('[')) {
      if (is_json_line()) {
        return {.format = "jsonl", .reason = "JSON lines: the first line is an object"};
      }
      refuse_other_json();
    }
    if (is_conllu()) {
      return {.format = "conllu", .reason = "CoNLL-U: ten columns between tabs, numbered words"};
    }
    if (const auto columns = conll()) return *columns;
    if (auto best = best_separated("\t")) return *best;
    if (auto best = best_separated(",;|")) return *best;
    // A table of one column, which a quote shows to be one.
    if (has_name(std::span(lines_).first(1), learned_) && head_.find("\n\"") != head_.npos)
      return separated(',');
    return text("a text a line: no separator stands equally often in every line");
  }

 private:
  bool is_json_line() const {
    struct Ignore : JsonVisitor {
      bool wants(std::string_view) override { return false; }
      void value(std::string_view, const JsonValue&) override {}
      void list(std::string_view, std::span<const JsonValue>) override {}
    } ignore;
    const std::string& line = lines_[0];
    if (walk_json(line, ignore).empty()) return true;
    // Broken, but meant so.
    return line.starts_with("{\"") && (line.ends_with('}') || line.find("\":") < line.size()) &&
           lines_.size() >= 1 && line.size() > 4;
  }

  void refuse_other_json() const {
    const std::string_view first = trimmed(lines_[0]);
    const bool array = first == "[" || first.starts_with("[{") || first.starts_with("[ {");
    check((first != "{" && !array) || wanted_ < 2, path_, ":1: is one JSON ",
          array ? "array" : "object over several lines",
          "; needs an object a line: make them with jq -c ", array ? "'.[]'" : ".",
          ", or say --format text");
  }

  static std::vector<std::string_view> split(std::string_view line, char separator) {
    std::vector<std::string_view> cells;
    for (size_t from = 0; from <= line.size();) {
      const size_t to = std::min(line.find(separator, from), line.size());
      cells.push_back(line.substr(from, to - from));
      from = to + 1;
    }
    return cells;
  }

  bool is_conllu() const {
    size_t words = 0;
    for (const std::string& line : lines_) {
      if (line.starts_with('#')) continue;
      const auto cells = split(line, '\t');
      if (cells.size() != 10) return words > 3;  // a ragged line further down is for the reader
      if (cells[0].empty() || cells[0].find_first_not_of("0123456789-.") != std::string::npos) {
        return false;
      }
      if (words == 0 && cells[0][0] != '1' && cells[0][0] != '0') return false;
      ++words;
    }
    return words > 0;
  }

  // Sentences apart by blank lines, of as many columns each.
  std::optional<Dialect> conll() const {
    if (wants_lists_ && !names_lists()) {
      const auto cells = split(lines_[0], '\t');
      const bool ten = cells.size() == 10;
      return Dialect{.format = ten ? "conllu" : "conll",
                     .reason = ten ? "CoNLL-U: ten columns between tabs"
                                   : "CoNLL columns: words with tags were asked for"};
    }
    if (groups_ < 2 || lines_.size() < 2 * groups_ || head_.find('\t') != head_.npos) return {};
    const auto is_aside = [](const std::string& line) {
      return line.starts_with("-DOCSTART-") || line.starts_with('#');
    };
    const auto first = std::find_if_not(lines_.begin(), lines_.end(), is_aside);
    if (first == lines_.end()) return {};
    const size_t width = split_at_spaces(*first).size();
    const bool even = std::all_of(lines_.begin(), lines_.end(), [&](const std::string& line) {
      return is_aside(line) || split_at_spaces(line).size() == width;
    });
    if (width < 2 || !even) return {};
    // Verses have as many words in every line, too, but end in no tags.
    if (wanted_ == 1 && wants_text_ &&
        !std::all_of(lines_.begin(), lines_.end(), [&](const std::string& line) {
          return is_aside(line) || ends_in_tag(line);
        })) {
      return {};
    }
    return Dialect{.format = "conll",
                   .reason = say("CoNLL columns: ", width,
                                 " words in every line, blank lines between sentences")};
  }

  static bool ends_in_tag(const std::string& line) {
    const std::string_view last = split_at_spaces(line).back();
    const auto any = [&](char from, char to) {
      return std::any_of(last.begin(), last.end(), [&](char c) { return c >= from && c <= to; });
    };
    return any('A', 'Z') && !any('a', 'z');
  }

  // A header says that lists stand in cells.
  bool names_lists() const {
    for (const char separator : {'\t', ',', ';'}) {
      int usual = 0;
      const auto cells = split(lines_[0], separator);
      for (const std::string_view role : {"words", "tags"}) {
        const auto names = usual_names(role);
        usual += std::any_of(cells.begin(), cells.end(), [&](std::string_view cell) {
          return std::count(names.begin(), names.end(), to_lowercase(trimmed(cell, " \t\""))) > 0;
        });
      }
      if (cells.size() >= 2 && usual == 2) return true;
    }
    return false;
  }

  struct Fit {
    Dialect dialect;
    double even = 0;  // the part of rows that are equally wide
    size_t width = 0;
  };

  Fit fit(char separator, Quotes quotes) const {
    LineReader reader = LineReader::of(head_);
    size_t bad = 0;
    Fit result;
    Dialect& dialect = result.dialect;
    dialect.format = separator == '\t' && quotes == Quotes::by_line ? "tsv" : "csv";
    dialect.separator = separator;
    dialect.quotes = quotes;
    dialect.rows = first_rows(*separated_rows(reader, separator, quotes), &bad);
    // The sample may end within a quote.
    if (!all_ && bad > 0) --bad;
    result.width = usual_width(dialect.rows);
    size_t even = 0;
    for (const auto& row : dialect.rows) even += row.size() == result.width;
    const size_t count = dialect.rows.size() + bad;
    result.even = count > 0 ? static_cast<double>(even) / static_cast<double>(count) : 0;
    return result;
  }

  // Tabs with quotes by line, unless only quotes over several lines make rows equally wide.
  Fit fit(char separator) const {
    if (separator != '\t') return fit(separator, Quotes::rfc4180);
    Fit lines = fit(separator, Quotes::by_line);
    if (lines.even == 1 || head_.find('"') == head_.npos) return lines;
    Fit quoted = fit(separator, Quotes::rfc4180);
    return quoted.even > lines.even && quoted.width >= 2 ? quoted : lines;
  }

  Dialect separated(char separator) const { return fit(separator).dialect; }

  std::optional<Dialect> best_separated(std::string_view separators) const {
    std::optional<Fit> best;
    for (const char separator : separators) {
      Fit one = fit(separator);
      if (one.width < 2 || !convinces(one)) continue;
      const auto better = [&](const Fit& a, const Fit& b) {
        if (std::abs(a.even - b.even) > 0.02) return a.even > b.even;
        // 37,9;4 under Size;Rooms: the header tells which of the two it is.
        const auto whole = [](const Fit& f) { return f.dialect.rows[0].size() == f.width; };
        if (whole(a) != whole(b)) return whole(a);
        const bool comma = separator == ';';
        const bool a_header = find_header(a.dialect.rows, comma).found,
                   b_header = find_header(b.dialect.rows, false).found;
        return a_header != b_header ? a_header : a.width > b.width;
      };
      if (!best || better(one, *best)) best = std::move(one);
    }
    if (!best) return std::nullopt;
    return std::move(best->dialect);
  }

  // Prose has commas too, and now and then a tab.
  bool convinces(const Fit& fit) const {
    const char separator = fit.dialect.separator;
    if (!fit.dialect.rows.empty() && has_name(fit.dialect.rows[0], learned_)) return true;
    if (wanted_ == 1 && wants_text_ && !names_text(fit.dialect)) return false;
    if (separator == '\t') return wanted_ >= 2 || fit.even >= 0.8;
    if (fit.even < (wanted_ >= 2 ? 0.5 : 0.9)) return false;
    if (wants_numbers_ || find_header(fit.dialect.rows, separator == ';').found) return true;
    if (wanted_ < 2 && fit.dialect.rows.size() < 3) return false;
    size_t spaced = 0, count = 0;
    for (const auto& row : fit.dialect.rows) {
      for (size_t c = 1; c < row.size(); ++c) {
        ++count;
        spaced += row[c].starts_with(' ') && !to_number(row[c]);
      }
    }
    return 2 * spaced <= count;
  }

  // Where only a text is wanted, lines are text unless a header calls one column so: any text may
  // have as many commas in every line.
  static bool names_text(const Dialect& dialect) {
    if (!find_header(dialect.rows, dialect.separator == ';').found) return false;
    const auto names = usual_names("text");
    return std::any_of(dialect.rows[0].begin(), dialect.rows[0].end(), [&](const auto& cell) {
      return std::count(names.begin(), names.end(), to_lowercase(trimmed(cell))) > 0;
    });
  }

  Dialect text(std::string reason) const {
    Dialect dialect{.format = "text", .reason = std::move(reason)};
    if (wanted_ != 2 || !wants_label_ || lines_.empty()) return dialect;
    std::set<std::string_view> labels;
    for (const std::string& line : lines_) {
      const std::string_view whole = trimmed(line);
      labels.insert(whole.substr(0, whole.find(' ')));
    }
    if (lines_.size() < 6 || labels.size() <= lines_.size() / 3) {
      dialect.split = true;
      dialect.reason = "a label, a space and a text a line";
    }
    return dialect;
  }

  const std::string& path_;
  std::string_view head_;
  bool all_, wants_text_ = false, wants_lists_ = false, wants_label_ = false,
             wants_numbers_ = false;
  size_t wanted_ = 0, groups_ = 0;
  std::span<const ColumnNames> learned_;
  std::vector<std::string> lines_;  // the first ones that are not blank
};

// Every path of the first objects, in the order met.
std::vector<std::string> json_paths(std::string_view head) {
  struct Collect : JsonVisitor {
    bool wants(std::string_view path) override {
      if (path.size() < 1000 && paths.size() < 1000 && seen.emplace(path).second) {
        paths.emplace_back(path);
      }
      return true;
    }
    void value(std::string_view path, const JsonValue&) override { valued.emplace(path); }
    void list(std::string_view path, std::span<const JsonValue>) override { valued.emplace(path); }
    std::set<std::string> seen, valued;
    std::vector<std::string> paths;
  } collect;
  LineReader reader = LineReader::of(head);
  size_t rows = 0;
  for (Got got; rows < sample_rows && (got = reader.next()) != Got::end; ++rows) {
    if (got == Got::good) walk_json(reader.text(), collect);
  }
  // An object is not a value; what is in it has paths of its own.
  std::erase_if(collect.paths, [&](const auto& path) { return !collect.valued.count(path); });
  return collect.paths;
}

std::string_view without_lines(std::string_view text, int64_t count) {
  for (; count > 0; --count) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

// How many lines above a table may be none of its rows: sep=; as Excel has it, and comments.
int64_t lines_before(std::string_view head) {
  int64_t count = 0;
  for (; !head.empty(); head = without_lines(head, 1), ++count) {
    const std::string_view line = trimmed(head.substr(0, head.find('\n')), "\r");
    const bool sep = count == 0 && line.size() == 5 && to_lowercase(line).starts_with("sep=");
    if (!sep && !line.starts_with("# ") && line != "#") break;
  }
  return count;
}

std::string separated_reason(const Dialect& dialect, const std::string& why) {
  return say(separator_name(dialect.separator), "-separated",
             dialect.header ? ", with a header: " : ", without a header: ", why);
}

}  // namespace

bool has_name(std::span<const std::string> cells, std::span<const ColumnNames> learned) {
  return std::any_of(learned.begin(), learned.end(), [&](const ColumnNames& of) {
    return std::any_of(of.names.begin(), of.names.end(), [&](const std::string& name) {
      return std::any_of(cells.begin(), cells.end(),
                         [&](const std::string& cell) { return trimmed(cell) == name; });
    });
  });
}

std::span<const std::string> known_formats() { return formats; }
std::span<const std::string> known_headers() { return headers; }

std::unique_ptr<Rows> rows_of(const Dialect& dialect, LineReader& lines) {
  if (dialect.format == "jsonl") return json_rows(lines, dialect.names);
  if (dialect.format == "text") return text_rows(lines, dialect.split, dialect.blank_lines);
  if (dialect.separator == 0) return conll_rows(lines, dialect.format == "conllu");
  for (int64_t i = 0; i < dialect.before; ++i) lines.next();
  return separated_rows(lines, dialect.separator, dialect.quotes);
}

Dialect recognise(const std::string& path, std::string_view head, bool all,
                  std::span<const Role> roles, const std::string& format, const std::string& header,
                  std::span<const ColumnNames> learned) {
  check(std::count(formats.begin(), formats.end(), format) > 0,
        unknown_name("format", format, formats));
  check(std::count(headers.begin(), headers.end(), header) > 0,
        unknown_name("header", header, headers));
  Dialect dialect;
  const int64_t before = lines_before(head);
  if (before > 0) {
    dialect = Recognition(path, without_lines(head, before), all, roles, learned).run(format);
    dialect.before = before;
  }
  // Comments of CoNLL-U are its own, and a heading of a text is text.
  if (dialect.separator == 0) dialect = Recognition(path, head, all, roles, learned).run(format);
  const bool named =
      header == "auto" && !dialect.rows.empty() && has_name(dialect.rows[0], learned);
  const bool has_rows_with_names = dialect.separator != 0;
  if (dialect.format == "jsonl") dialect.names = json_paths(head);
  if (dialect.format == "conllu") {
    dialect.names.assign(conllu_names().begin(), conllu_names().end());
  }
  if (has_rows_with_names) {
    const bool decimal_comma = dialect.separator == ';';
    const HeaderSign sign = named ? HeaderSign{true, "the first row has names it was learned by"}
                                  : find_header(dialect.rows, decimal_comma);
    dialect.header = header == "auto" ? sign.found : header == "yes";
    dialect.reason = separated_reason(dialect, header == "auto" ? sign.reason : "as asked");
  } else {
    check(header != "yes" || dialect.format == "text", path, ": is ", dialect.format,
          ", which has no header; leave --header away");
    LineReader lines = LineReader::of(head);
    dialect.rows = first_rows(*rows_of(dialect, lines));
    dialect.header =
        header == "yes" || (header == "auto" && dialect.format == "text" && !dialect.rows.empty() &&
                            has_name(dialect.rows[0], learned));
  }
  if (dialect.names.empty()) {
    if (dialect.header && !dialect.rows.empty()) {
      for (const std::string& name : dialect.rows[0]) dialect.names.emplace_back(trimmed(name));
    } else {
      dialect.names.resize(usual_width(dialect.rows));
    }
  }
  if (dialect.header && !dialect.rows.empty()) dialect.rows.erase(dialect.rows.begin());
  return dialect;
}

}  // namespace fovea
