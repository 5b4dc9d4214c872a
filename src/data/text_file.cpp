#include "fovea/data/text_file.h"

#include <array>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/byte_source.h"

namespace fovea {
namespace {

// Puts lines together from the pieces that the file comes in.
class Lines {
 public:
  Lines(const std::string& path, const LineFunction& f) : path_(path), f_(f) {}

  void add(std::string_view piece) {
    check(piece.find('\0') == std::string_view::npos, path_, ":", number_,
          ": looks like a binary file (it has a zero byte); needs text in UTF-8");
    for (size_t at = 0; at < piece.size();) {
      const size_t found = piece.find('\n', at);
      const bool whole = found != std::string_view::npos;
      const std::string_view part = piece.substr(at, whole ? found - at : found);
      length_ += static_cast<int64_t>(part.size());
      // The rest of a line that is too long is only counted.
      if (length_ <= longest_line) begin_ += part;
      if (whole) end_line();
      at = whole ? found + 1 : piece.size();
    }
  }

  void finish() {
    if (length_ > 0) end_line();
  }

 private:
  void end_line() {
    check(length_ <= longest_line, path_, ":", number_, ": the line has ", length_,
          " bytes, the longest that is read has ", longest_line,
          "; break it up, or see whether this is the file you meant");
    std::string_view line = begin_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const int64_t bad = first_not_utf8(line);
    check(bad < 0, path_, ":", number_, ": not UTF-8 text at byte ", bad + 1,
          "; convert it, e.g. iconv -f latin1 -t utf-8");
    if (number_ == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    f_(line, number_++);
    begin_.clear();
    length_ = 0;
  }

  const std::string& path_;
  const LineFunction& f_;
  std::string begin_;  // of the line that is under way
  int64_t length_ = 0, number_ = 1;
};

}  // namespace

void for_each_line(const std::string& path, const LineFunction& f) {
  const auto source = open_bytes(path);
  Lines lines(path, f);
  std::array<char, 1 << 16> buffer;
  while (const size_t count = source->read(buffer)) {
    lines.add(std::string_view(buffer.data(), count));
  }
  lines.finish();
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  for_each_line(path, [&](std::string_view line, int64_t) { lines.emplace_back(line); });
  check(!lines.empty(), path, ": is empty; needs at least one line of text");
  return lines;
}

}  // namespace fovea
