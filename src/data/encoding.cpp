#include "fovea/data/encoding.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/base/utf8.h"
#include "fovea/data/buffer.h"

namespace fovea {
namespace {

constexpr size_t sample_size = 256 * 1024;
using namespace std::string_view_literals;

constexpr std::string_view utf8_mark = "\xef\xbb\xbf", le_mark = "\xff\xfe", be_mark = "\xfe\xff";

// The letters that Windows-1252 has at 0x80 to 0x9f; the five places it leaves open stay controls.
constexpr std::array<uint16_t, 32> windows_1252{
    0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8d,   0x017d, 0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178};

// What was looked at already, then the rest.
class HeadFirst : public ByteSource {
 public:
  HeadFirst(Buffer head, size_t from, size_t size, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), at_(from), size_(size), rest_(std::move(rest)) {}

  size_t read(std::span<char> into) override {
    if (at_ == size_) return rest_->read(into);
    const size_t count = std::min(into.size(), size_ - at_);
    std::copy_n(head_.data() + at_, count, into.data());
    at_ += count;
    if (at_ == size_) head_ = Buffer(0);
    return count;
  }

 private:
  Buffer head_;
  size_t at_, size_;
  std::unique_ptr<ByteSource> rest_;
};

class Converting : public ByteSource {
 public:
  explicit Converting(std::unique_ptr<ByteSource> from) : from_(std::move(from)), raw_(1 << 16) {}

  size_t read(std::span<char> into) override {
    while (at_ == text_.size() && !at_end_) {
      text_.clear();
      at_ = 0;
      const size_t count = from_->read(raw_.span());
      at_end_ = count == 0;
      if (at_end_) {
        finish(text_);
      } else {
        convert(std::string_view(raw_.data(), count), text_);
      }
    }
    const size_t count = std::min(into.size(), text_.size() - at_);
    std::copy_n(text_.data() + at_, count, into.data());
    at_ += count;
    return count;
  }

 protected:
  virtual void convert(std::string_view raw, std::string& text) = 0;
  virtual void finish(std::string&) {}

 private:
  std::unique_ptr<ByteSource> from_;
  Buffer raw_;
  std::string text_;
  size_t at_ = 0;
  bool at_end_ = false;
};

class FromWindows1252 : public Converting {
  using Converting::Converting;
  void convert(std::string_view raw, std::string& text) override {
    for (const char c : raw) {
      const auto byte = static_cast<unsigned char>(c);
      append_code_point(text, byte >= 0x80 && byte < 0xa0 ? windows_1252[byte - 0x80] : byte);
    }
  }
};

class FromUtf16 : public Converting {
 public:
  FromUtf16(std::unique_ptr<ByteSource> from, bool big) : Converting(std::move(from)), big_(big) {}

 private:
  void convert(std::string_view raw, std::string& text) override {
    for (const char c : raw) {
      const auto byte = static_cast<unsigned char>(c);
      if (!std::exchange(half_, !half_)) {
        first_ = byte;
      } else {
        take(big_ ? first_ << 8 | byte : byte << 8 | first_, text);
      }
    }
  }
  void take(uint32_t unit, std::string& text) {
    const uint32_t high = std::exchange(high_, 0);
    if (high != 0 && (unit & 0xfc00) == 0xdc00) {
      append_code_point(text, 0x10000 + ((high & 0x3ff) << 10) + (unit & 0x3ff));
      return;
    }
    if (high != 0) append_code_point(text, high);
    if ((unit & 0xfc00) == 0xd800) {
      high_ = unit;
    } else {
      append_code_point(text, unit);
    }
  }
  void finish(std::string& text) override {
    if (high_ != 0) append_code_point(text, high_);
    if (half_) text += '\xff';
  }

  bool big_, half_ = false;
  uint32_t first_ = 0, high_ = 0;
};

bool is_windows_1252(std::string_view head) {
  // Western languages are mostly ASCII; Cyrillic, Greek or Chinese in an old encoding is not, and
  // read so would be rubbish.
  size_t letters = 0, high = 0;
  for (const char c : head) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0x81 || byte == 0x8d || byte == 0x8f || byte == 0x90 || byte == 0x9d) return false;
    if (byte < 0x20 && !(byte >= '\t' && byte <= '\r')) return false;
    high += byte >= 0x80;
    letters += byte >= 0x80 || ((byte | 32) >= 'a' && (byte | 32) <= 'z');
  }
  return 3 * high <= letters;
}

// Broken bytes among more that are right are damage, not another encoding.
bool is_utf8(std::string_view head, bool whole) {
  size_t good = 0, bad = 0;
  for (;;) {
    const int64_t at = first_not_utf8(head);
    const std::string_view before = head.substr(0, at < 0 ? head.size() : at);
    good += std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xc0) == 0xc0; });
    if (at < 0) break;
    // The sample may end within a character.
    if (!whole && head.size() - at < 4) break;
    ++bad;
    head.remove_prefix(at + 1);
  }
  return good >= bad;
}

std::string recognised(std::string_view head, bool whole, const std::string& path) {
  check(!head.starts_with("\xff\xfe\0\0"sv) && !head.starts_with("\0\0\xfe\xff"sv), path,
        ": is UTF-32 text, which is not read; convert it, e.g. iconv -f utf-32 -t utf-8");
  if (head.starts_with(utf8_mark)) return "utf-8";
  if (head.starts_with(le_mark)) return "utf-16le";
  if (head.starts_with(be_mark)) return "utf-16be";
  std::array<size_t, 2> zeros{};
  for (size_t i = 0; i < head.size(); ++i) zeros[i % 2] += head[i] == 0;
  if (zeros[0] == 0 && 8 * zeros[1] > head.size()) return "utf-16le";
  if (zeros[1] == 0 && 8 * zeros[0] > head.size()) return "utf-16be";
  if (zeros[0] + zeros[1] > 0 || is_utf8(head, whole)) return "utf-8";
  return is_windows_1252(head) ? "windows-1252" : "utf-8";
}

}  // namespace

TextSource open_text(const std::string& path, const std::string& encoding, bool prompt) {
  const std::vector<std::string> known{"auto",     "utf-8",        "utf-16le",
                                       "utf-16be", "windows-1252", "latin1"};
  check(std::count(known.begin(), known.end(), encoding) > 0,
        unknown_name("encoding", encoding, known));
  TextSource result;
  auto bytes = open_bytes(path);
  result.packing = bytes->packing();
  Buffer head(1 << 16);
  size_t size = 0;
  bool whole = false;
  do {
    if (size == head.size()) head.grow(2 * size, size);
    const size_t count = bytes->read(head.span().subspan(size));
    size += count;
    whole = count == 0;
  } while (!whole && size < sample_size && !prompt);
  const std::string_view seen(head.data(), size);
  const std::string name = encoding == "auto" ? recognised(seen, whole, path) : encoding;

  size_t mark = 0;
  if (name == "utf-8") {
    mark = seen.starts_with(utf8_mark) ? utf8_mark.size() : 0;
    result.encoding = mark > 0 ? "UTF-8 with BOM" : "UTF-8";
  } else if (name == "utf-16le" || name == "utf-16be") {
    mark = seen.starts_with(name == "utf-16le" ? le_mark : be_mark) ? 2 : 0;
    result.encoding = name == "utf-16le" ? "UTF-16LE" : "UTF-16BE";
  } else {
    result.encoding = "Windows-1252";
  }
  auto plain = std::make_unique<HeadFirst>(std::move(head), mark, size, std::move(bytes));
  if (result.encoding == "Windows-1252") {
    result.bytes = std::make_unique<FromWindows1252>(std::move(plain));
  } else if (result.encoding.starts_with("UTF-16")) {
    result.bytes = std::make_unique<FromUtf16>(std::move(plain), name == "utf-16be");
  } else {
    result.bytes = std::move(plain);
  }
  return result;
}

}  // namespace fovea
