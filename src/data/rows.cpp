#include "fovea/data/rows.h"

#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

class SeparatedRows : public Rows {
 public:
  SeparatedRows(LineReader& lines, char separator, Quotes quotes)
      : lines_(lines), separator_(separator), quotes_(quotes) {}

  Got next() override {
    Got got = next_line(lines_);
    if (got != Got::good) return got;
    places_.clear();
    got = cut();
    if (got == Got::bad) lines_.retreat();
    if (got == Got::good) give_cells();
    return got;
  }

 private:
  // Places, not views: the text may move as long as the row grows.
  struct Place {
    size_t from, to;
    bool to_repair;  // has doubled quotes or line breaks to make one character of
  };

  Got cut() {
    size_t at = 0;
    for (;;) {
      const size_t quote = quotes_ == Quotes::rfc4180 ? opening_quote(at) : std::string_view::npos;
      if (quote != std::string_view::npos) {
        if (!take_quoted(quote, at)) return Got::bad;
      } else {
        const void* found = std::memchr(lines_.data() + at, separator_, lines_.size() - at);
        const size_t to =
            found == nullptr ? lines_.size()
                             : static_cast<size_t>(static_cast<const char*>(found) - lines_.data());
        places_.push_back({at, to, false});
        at = to;
      }
      if (at >= lines_.size()) return Got::good;
      ++at;  // the separator
    }
  }

  size_t opening_quote(size_t at) const {
    const std::string_view text = lines_.text();
    while (at < text.size() && is_space(text[at])) ++at;
    return at < text.size() && text[at] == '"' ? at : std::string_view::npos;
  }

  bool is_space(char c) const { return c != separator_ && (c == ' ' || c == '\t'); }

  // From the quote that opens to behind the one that closes, and to the separator or the end.
  bool take_quoted(size_t quote, size_t& at) {
    const int64_t opened = lines_.last_number();
    bool to_repair = false;
    size_t to = quote + 1;
    for (;;) {
      const void* found = std::memchr(lines_.data() + to, '"', lines_.size() - to);
      if (found == nullptr) {
        to = lines_.size();
        const Got got = lines_.extend();
        if (got != Got::good) {
          problem_ = got == Got::end ? unclosed : too_long();
          line_ = opened;
          return false;
        }
        to_repair = true;
        continue;
      }
      to = static_cast<size_t>(static_cast<const char*>(found) - lines_.data());
      if (to + 1 == lines_.size() || lines_.data()[to + 1] != '"') break;
      to_repair = true;
      to += 2;
    }
    places_.push_back({quote + 1, to, to_repair});
    at = to + 1;
    while (at < lines_.size() && is_space(lines_.data()[at])) ++at;
    if (at == lines_.size() || lines_.data()[at] == separator_) return true;
    line_ = lines_.last_number();
    problem_ = say("needs a ", separator_name(separator_),
                   " or the end of the line after a closing quote, got '",
                   code_points(lines_.text().substr(at, 4))[0],
                   "'; double the quotes that belong to the text");
    return false;
  }

  static std::string too_long() {
    return say("the quote that opens here is not closed within ", longest_line, " bytes; close it");
  }

  void give_cells() {
    char* data = lines_.data();
    cells_.resize(places_.size());
    for (size_t i = 0; i < places_.size(); ++i) {
      auto [from, to, to_repair] = places_[i];
      if (quotes_ == Quotes::by_line && to > from + 1 && data[from] == '"' && data[to - 1] == '"' &&
          closes_at(data + from + 1, data + to)) {
        ++from, --to;
        to_repair = std::memchr(data + from, '"', to - from) != nullptr;
      }
      cells_[i] = {data + from, to_repair ? repair(data + from, to - from) : to - from};
    }
  }

  // Whether of the quotes in [at, end) only the last is not doubled.
  static bool closes_at(const char* at, const char* end) {
    for (; at < end; ++at) {
      if (*at != '"') continue;
      if (at + 1 == end) return true;
      if (*++at != '"') return false;
    }
    return false;
  }

  // Doubled quotes become one, \r\n becomes \n, in place; gives the new size.
  static size_t repair(char* text, size_t size) {
    size_t to = 0;
    for (size_t at = 0; at < size; ++at) {
      if (at + 1 < size && text[at] == '"' && text[at + 1] == '"') ++at;
      if (at + 1 < size && text[at] == '\r' && text[at + 1] == '\n') ++at;
      text[to++] = text[at];
    }
    return to;
  }

  static constexpr const char* unclosed =
      "the quote that opens here is never closed; close it, or double quotes that belong to the "
      "text and put the whole text in quotes";

  LineReader& lines_;
  char separator_;
  Quotes quotes_;
  std::vector<Place> places_;
};

class TextRows : public Rows {
 public:
  TextRows(LineReader& lines, bool split, bool blank_lines)
      : lines_(lines), split_(split), blank_lines_(blank_lines) {}

  Got next() override {
    cells_.clear();
    if (const Got got = next_line(lines_, blank_lines_); got != Got::good) return got;
    const std::string_view line = split_ ? trimmed(lines_.text()) : lines_.text();
    const size_t space = split_ ? line.find(' ') : std::string_view::npos;
    cells_.push_back(line.substr(0, space));
    if (space != std::string_view::npos) cells_.push_back(line.substr(space + 1));
    return Got::good;
  }

 private:
  LineReader& lines_;
  bool split_, blank_lines_;
};

}  // namespace

Got Rows::next_line(LineReader& lines, bool blank_lines) {
  Got got;
  do {
    got = lines.next();
    line_ = lines.number();
  } while (got == Got::good && !blank_lines && trimmed(lines.text()).empty());
  return got == Got::bad ? bad(lines.number(), lines.problem()) : got;
}

std::span<const std::string_view> Rows::list(size_t column) {
  list_ = split_at_spaces(cells_[column]);
  return list_;
}

std::unique_ptr<Rows> separated_rows(LineReader& lines, char separator, Quotes quotes) {
  return std::make_unique<SeparatedRows>(lines, separator, quotes);
}

std::unique_ptr<Rows> text_rows(LineReader& lines, bool split, bool blank_lines) {
  return std::make_unique<TextRows>(lines, split, blank_lines);
}

std::string_view trimmed(std::string_view text, std::string_view marks) {
  const auto stays = [&](char c) { return marks.find(c) == std::string_view::npos; };
  if (!text.empty() && stays(text.front()) && stays(text.back())) return text;
  const size_t first = text.find_first_not_of(marks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(marks) - first + 1);
}

std::string separator_name(char separator) {
  switch (separator) {
    case ',':
      return "comma";
    case ';':
      return "semicolon";
    case '\t':
      return "tab";
    case '|':
      return "bar";
    default:
      return say("'", separator, "'");
  }
}

}  // namespace fovea
