#include "fovea/data/vectors.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/byte_source.h"
#include "fovea/data/line_reader.h"
#include "fovea/data/rows.h"

namespace fovea {
namespace {

constexpr int64_t widest = 65'536, longest_word = 4'096;

// One vector after the other, whatever the form of the file.
class VectorRows {
 public:
  virtual ~VectorRows() = default;
  virtual bool next() = 0;              // false behind the last
  virtual std::string_view word() = 0;  // of the vector that next() came to
  virtual std::span<const float> numbers() = 0;
  virtual int64_t number() const = 0;  // of its line, or of the word
  virtual int64_t width() const = 0;
  virtual std::string place() const = 0;  // "file:17", for errors
};

bool is_whole(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_number(std::string_view text) {
  float x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  return error == std::errc() && end == text.data() + text.size();
}

class TextRows : public VectorRows {
 public:
  explicit TextRows(const std::string& path) : lines_(path) {
    check<ErrorKind::input>(advance(), path, ": holds no word vectors");
    auto fields = split_at_spaces(lines_.text());
    if (fields.size() == 2 && is_whole(fields[0]) && is_whole(fields[1])) {
      check<ErrorKind::input>(advance(), path, ": holds no word vectors behind its first line");
      fields = split_at_spaces(lines_.text());
    }
    check<ErrorKind::input>(fields.size() >= 2, place(),
                            ": needs a word and the numbers of its vector, got '",
                            lines_.text().substr(0, 40), "'");
    width_ = static_cast<int64_t>(fields.size()) - 1;
    check<ErrorKind::input>(width_ <= widest, place(), ": has ", width_,
                            " numbers, more than any vector");
    numbers_.resize(static_cast<size_t>(width_));
    first_ = true;
  }

  bool next() override {
    if (std::exchange(first_, false)) return true;
    return advance();
  }
  int64_t width() const override { return width_; }
  int64_t number() const override { return lines_.number(); }
  std::string place() const override { return say(lines_.path(), ":", lines_.number()); }

  // What stands before the numbers: some files have words with spaces in them.
  std::string_view word() override {
    const std::string_view line = lines_.text();
    const size_t end = line.find_last_not_of(' ') + 1;
    if (std::count(line.begin(), line.begin() + static_cast<int64_t>(end), ' ') == width_ &&
        line.find_first_of("\t\v\f") == std::string_view::npos && line[0] != ' ') {
      return line.substr(0, line.find(' '));
    }
    const auto fields = split_at_spaces(line);
    const auto n = static_cast<int64_t>(fields.size());
    check<ErrorKind::input>(n > width_, place(), ": has ", n - 1,
                            " numbers, the vectors before it have ", width_);
    const std::string_view first = fields[0], last = fields[static_cast<size_t>(n - width_ - 1)];
    // A word of several parts is none that is made of numbers: then the line has too many.
    const bool parts_are_numbers =
        n > width_ + 1 && std::all_of(fields.begin() + 1, fields.end() - width_,
                                      [](std::string_view part) { return is_number(part); });
    check<ErrorKind::input>(!parts_are_numbers, place(), ": has ", n - 1,
                            " numbers, the vectors before it have ", width_);
    return {first.data(), static_cast<size_t>(last.data() + last.size() - first.data())};
  }

  std::span<const float> numbers() override {
    const std::string_view line = lines_.text();
    size_t end = line.find_last_not_of(" \t") + 1;
    for (size_t i = numbers_.size(); i-- > 0;) {
      const size_t begin = line.find_last_of(" \t", end - 1) + 1;
      const std::string_view field = line.substr(begin, end - begin);
      const auto [stop, error] =
          std::from_chars(field.data(), field.data() + field.size(), numbers_[i]);
      const bool good =
          error == std::errc() && stop == field.data() + field.size() && std::isfinite(numbers_[i]);
      check<ErrorKind::input>(good, place(), ": '", field, "' is not a number; a line is a word ",
                              "and the ", width_, " numbers of its vector");
      end = begin == 0 ? 0 : line.find_last_not_of(" \t", begin - 1) + 1;
    }
    return numbers_;
  }

 private:
  bool advance() {
    for (;;) {
      const Got got = lines_.next();
      check<ErrorKind::input>(got != Got::bad, lines_.path(), ":", lines_.last_number(), ": ",
                              lines_.problem());
      if (got == Got::end) return false;
      if (!trimmed(lines_.text()).empty()) return true;
    }
  }

  LineReader lines_;
  int64_t width_ = 0;
  bool first_ = false;
  std::vector<float> numbers_;
};

// Bytes in the order of the file, through a buffer.
class Bytes {
 public:
  explicit Bytes(const std::string& path) : source_(open_bytes(path)), buffer_(1 << 18) {}

  // At least so many bytes ahead, unless the file ends before.
  std::string_view ahead(size_t size) {
    while (end_ - begin_ < size) {
      if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_, begin_ = 0;
      }
      if (buffer_.size() < size) buffer_.resize(size);
      const size_t got = source_->read(std::span(buffer_).subspan(end_));
      if (got == 0) break;
      end_ += got;
    }
    return {buffer_.data() + begin_, end_ - begin_};
  }
  void pass(size_t size) { begin_ += size; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
};

// "words width" of word2vec's binary form; nothing for a file in any other form.
struct BinaryHead {
  int64_t words = 0, width = 0;
  size_t size = 0;  // bytes of the line
};
std::optional<BinaryHead> binary_head(std::string_view head) {
  const size_t end = head.substr(0, 64).find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const auto fields = split_at_spaces(head.substr(0, end));
  if (fields.size() != 2 || !is_whole(fields[0]) || !is_whole(fields[1])) return std::nullopt;
  BinaryHead found;
  found.size = end + 1;
  const auto number = [](std::string_view text, int64_t& to) {
    return std::from_chars(text.data(), text.data() + text.size(), to).ec == std::errc();
  };
  if (!number(fields[0], found.words) || !number(fields[1], found.width)) return std::nullopt;
  if (found.width < 1 || found.width > widest) return std::nullopt;
  // Text has digits behind the first word, float32 numbers are other bytes.
  const std::string_view rest = head.substr(found.size);
  const size_t space = rest.find(' ');
  if (space == std::string_view::npos || space > longest_word) return std::nullopt;
  // Behind a first word that is no ASCII, or where numbers are short, others follow soon.
  const std::string_view row = rest.substr(0, rest.find('\n'));
  const auto cells = split_at_spaces(row);
  const auto width = static_cast<size_t>(found.width);
  const bool cut = row.size() == rest.size();
  if (cells.size() > width || (cut && cells.size() > 2)) {
    const auto last = cells.end() - (cut ? 1 : 0);
    const auto first = cells.size() > width ? cells.end() - found.width : cells.begin() + 1;
    if (first < last && std::all_of(first, last, is_number)) return std::nullopt;
  }
  const std::string_view numbers = rest.substr(space + 1, 4 * static_cast<size_t>(found.width));
  const bool text = std::all_of(numbers.begin(), numbers.end(), [](char c) {
    return (c >= ' ' && c < 127) || c == '\n' || c == '\r' || c == '\t';
  });
  if (text) return std::nullopt;
  return found;
}

class BinaryRows : public VectorRows {
 public:
  BinaryRows(const std::string& path, const BinaryHead& head)
      : path_(path), bytes_(path), head_(head), numbers_(static_cast<size_t>(head.width)) {
    bytes_.ahead(head.size);
    bytes_.pass(head.size);
  }

  bool next() override {
    if (row_ == head_.words) return false;
    ++row_;
    const size_t size = 4 * numbers_.size();
    std::string_view at = bytes_.ahead(longest_word + size + 1);
    const size_t begin = at.empty() || at[0] != '\n' ? 0 : 1;
    const size_t space = at.find(' ', begin);
    check<ErrorKind::input>(
        space != std::string_view::npos && space <= longest_word && at.size() >= space + 1 + size,
        path_, ": ends in its ", row_, ". vector, though its first line ", "promises ", head_.words,
        " of ", head_.width, " numbers");
    word_ = at.substr(begin, space - begin);
    std::memcpy(numbers_.data(), at.data() + space + 1, size);
    bytes_.pass(space + 1 + size);
    return true;
  }
  std::string_view word() override { return word_; }
  std::span<const float> numbers() override {
    static_assert(std::endian::native == std::endian::little, "as word2vec's numbers are");
    check<ErrorKind::input>(std::ranges::all_of(numbers_, [](float x) { return std::isfinite(x); }),
                            place(), ": its vector has what is no number");
    return numbers_;
  }
  int64_t number() const override { return row_; }
  int64_t width() const override { return head_.width; }
  std::string place() const override { return say(path_, ": word ", row_, " '", word_, "'"); }

 private:
  std::string path_;
  Bytes bytes_;
  BinaryHead head_;
  std::vector<float> numbers_;
  std::string word_;
  int64_t row_ = 0;
};

std::unique_ptr<VectorRows> open_vectors(const std::string& path) {
  std::optional<BinaryHead> head;
  {
    Bytes bytes(path);
    head = binary_head(bytes.ahead(64 + longest_word + 4 * 64));
  }
  if (head) return std::make_unique<BinaryRows>(path, *head);
  return std::make_unique<TextRows>(path);
}

}  // namespace

int64_t vectors_width(const std::string& path) { return open_vectors(path)->width(); }

void read_vectors(const std::string& path, const std::function<bool(std::string_view)>& wants,
                  const std::function<bool(std::string_view, std::span<const float>)>& take) {
  const std::unique_ptr<VectorRows> rows = open_vectors(path);
  std::unordered_map<std::string, int64_t> taken;
  while (rows->next()) {
    const std::string_view word = rows->word();
    if (!wants(word)) continue;
    const auto [found, is_new] = taken.emplace(word, rows->number());
    check<ErrorKind::input>(is_new, rows->place(), ": the word '", word,
                            "' has a vector already, in line ", found->second,
                            "; take one of them out");
    if (!take(word, rows->numbers())) return;
  }
}

}  // namespace fovea
