#include "fovea/data/line_reader.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr size_t read_size = 64 * 1024;
constexpr auto most = static_cast<size_t>(longest_line);

class Memory : public ByteSource {
 public:
  explicit Memory(std::string_view text) : text_(text) {}
  size_t read(std::span<char> into) override {
    const size_t count = text_.copy(into.data(), into.size());
    text_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view text_;
};

}  // namespace

LineReader::LineReader(const std::string& path, const std::string& encoding, bool prompt)
    : LineReader(path == "-" ? "stdin" : path, open_text(path, encoding, prompt), prompt) {}

LineReader::LineReader(std::string path, TextSource source, bool prompt)
    : path_(std::move(path)), source_(std::move(source)), buffer_(2 * read_size), prompt_(prompt) {}

LineReader LineReader::of(std::string_view text) {
  return LineReader("", {std::make_unique<Memory>(text), "UTF-8", ""}, false);
}

// Keeps what lies from begin_ on, at the front.
bool LineReader::fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    after_ -= begin_;
    first_after_ -= std::min(first_after_, begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < read_size) buffer_.grow(2 * buffer_.size(), end_);
  const size_t count = source_.bytes->read(buffer_.span().subspan(end_, read_size));
  has_zero_ = has_zero_ || std::memchr(buffer_.data() + end_, 0, count) != nullptr;
  end_ += count;
  at_end_ = count == 0;
  return count > 0;
}

std::string_view LineReader::head(size_t size) {
  while (end_ < size && fill() && !prompt_) {
  }
  if (end_ < size && at_end_) return {buffer_.data(), end_};
  const std::string_view all(buffer_.data(), std::min(size, end_));
  const size_t line_break = all.rfind('\n');
  return line_break == std::string_view::npos ? all : all.substr(0, line_break + 1);
}

bool LineReader::has_line() const {
  return std::memchr(buffer_.data() + after_, '\n', end_ - after_) != nullptr;
}

bool LineReader::is_sound(std::string_view line) {
  if (has_zero_ && line.find('\0') != std::string_view::npos) {
    problem_ = "looks like a binary file (it has a zero byte); needs text in UTF-8";
    return false;
  }
  const int64_t bad = first_not_utf8(line);
  if (bad < 0) return true;
  problem_ = source_.encoding.starts_with("UTF-16")
                 ? say("not ", source_.encoding, " text at character ",
                       code_points(line.substr(0, bad)).size() + 1, "; get the file again")
                 : say("not UTF-8 text at byte ", bad + 1,
                       "; convert it (iconv -f ITS-ENCODING -t utf-8) or say its --encoding");
  return false;
}

// The line that begins at `from`, not before begin_: sets after_ and size_, unless it is too long.
Got LineReader::take_line(size_t from) {
  const size_t offset = from - begin_;
  size_t seen = from;
  for (;;) {
    const void* found = std::memchr(buffer_.data() + seen, '\n', end_ - seen);
    if (found != nullptr) {
      size_t to = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data());
      if (to - from > most) return Got::bad;
      after_ = to + 1;
      if (to > from && buffer_[to - 1] == '\r') --to;
      size_ = to - begin_;
      return Got::good;
    }
    if (end_ - from > most) return Got::bad;
    seen = end_ - begin_;
    const bool more = fill();
    from = begin_ + offset;
    seen += begin_;
    if (!more) break;
  }
  if (from == end_) return Got::end;
  after_ = end_;
  size_ = end_ - begin_ - (buffer_[end_ - 1] == '\r' ? 1 : 0);
  return Got::good;
}

// What a line has beyond the longest is counted and not kept.
void LineReader::skip_long_line() {
  size_t length = 0;
  for (;;) {
    const void* found = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
    if (found != nullptr) {
      const auto to = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data());
      length += to - begin_;
      after_ = to + 1;
      break;
    }
    length += end_ - begin_;
    begin_ = after_ = end_;
    if (!fill()) break;
  }
  begin_ = after_;
  size_ = 0;
  problem_ = say("the line has ", length, " bytes, the longest that is read has ", longest_line,
                 "; break it up, or see whether this is the file you meant");
}

Got LineReader::next() {
  begin_ = after_;
  const Got got = take_line(begin_);
  if (got == Got::end) {
    size_ = 0;
    return got;
  }
  number_ = ++last_;
  if (got == Got::bad) {
    skip_long_line();
    return got;
  }
  first_size_ = size_;
  first_after_ = after_;
  return is_sound(text()) ? Got::good : Got::bad;
}

Got LineReader::extend() {
  const size_t old_size = size_, old_after = after_ - begin_;
  // A row may be as long as a line may.
  if (size_ > most) return Got::bad;
  const Got got = take_line(after_);
  if (got == Got::good && is_sound({buffer_.data() + begin_ + old_after, size_ - old_after})) {
    ++last_;
    return Got::good;
  }
  size_ = old_size;
  after_ = begin_ + old_after;
  return got == Got::good ? Got::bad : got;
}

void LineReader::retreat() {
  size_ = first_size_;
  after_ = first_after_;
  last_ = number_;
}

}  // namespace fovea
