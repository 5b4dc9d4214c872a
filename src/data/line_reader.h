// Lines of text, pulled one at a time out of one buffer: what every reader of records stands on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fovea/data/buffer.h"
#include "fovea/data/encoding.h"

namespace fovea {

// Longer lines are taken for a mistake (a file without line breaks, a binary file). A graph of some
// ten thousand nodes is a line of JSON, and long.
inline constexpr int64_t longest_line = int64_t{8} << 20;

// What came: nothing more, a good line or row, or a bad one, of which problem() tells.
enum class Got { end, good, bad };

class LineReader {
 public:
  explicit LineReader(const std::string& path, const std::string& encoding = "auto",
                      bool prompt = false);
  // Of text that is there already and outlives the reader.
  static LineReader of(std::string_view text);

  // What the text begins with, as UTF-8: whole lines of at most `size` bytes if there are any, and
  // everything when the file is shorter (then head_is_all()). Only before the first next().
  std::string_view head(size_t size);
  // Whether head() gave the whole file.
  bool head_is_all() const { return at_end_; }
  // Whether the next line has been read already, to its break: next() then waits for nothing.
  bool has_line() const;

  // The next line. A bad one (above longest_line, not UTF-8, with a zero byte) is passed over.
  Got next();
  // Makes the text one line longer, the line break in between, for a quote that goes on; when this
  // is not `good`, the text is as before.
  Got extend();
  // Gives up all lines that were added: the next one is the line after the first.
  void retreat();

  // The line without its break (\n or \r\n), until the next call; it may be changed in place.
  char* data() { return buffer_.data() + begin_; }
  size_t size() const { return size_; }
  std::string_view text() const { return {buffer_.data() + begin_, size_}; }
  // Of the line, or the first of several, counted from 1; and of the last.
  int64_t number() const { return number_; }
  int64_t last_number() const { return last_; }
  // "not UTF-8 text at byte 9; convert it, ..."
  const std::string& problem() const { return problem_; }

  // Of the file: as it was asked for, and as TextSource has them.
  const std::string& path() const { return path_; }
  const std::string& encoding() const { return source_.encoding; }
  const std::string& packing() const { return source_.packing; }

 private:
  LineReader(std::string path, TextSource source, bool prompt);
  bool fill();
  Got take_line(size_t from);
  void skip_long_line();
  bool is_sound(std::string_view line);

  std::string path_;
  TextSource source_;
  Buffer buffer_;
  // The line lies at [begin_, begin_ + size_); after_ is behind its break, end_ behind what is
  // read.
  size_t begin_ = 0, size_ = 0, after_ = 0, end_ = 0;
  size_t first_size_ = 0, first_after_ = 0;
  int64_t number_ = 0, last_ = 0;
  bool at_end_ = false, has_zero_ = false;
  bool prompt_;
  std::string problem_;
};

}  // namespace fovea
