#include "fovea/data/picture_codec.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "fovea/base/error.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS (1 << 15)
// A JPEG may use tables that it never defined: they must be empty, not whatever memory held.
#define STBI_MALLOC(size) std::calloc(1, size)
#define STBI_REALLOC(p, size) std::realloc(p, size)
#define STBI_FREE(p) std::free(p)
#if defined(__clang__)
// Its arithmetic on broken files wraps round and is shifted out, which is harmless.
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <stb/stb_image.h>
#pragma GCC diagnostic pop
#if defined(__clang__)
#pragma clang attribute pop
#endif

namespace fovea {
namespace {

using Bytes = std::span<const unsigned char>;

bool begins(Bytes bytes, std::string_view with) {
  return bytes.size() >= with.size() && std::memcmp(bytes.data(), with.data(), with.size()) == 0;
}
bool is_png(Bytes bytes) { return begins(bytes, "\x89PNG\r\n\x1a\n"); }
bool is_jpeg(Bytes bytes) { return begins(bytes, "\xff\xd8\xff"); }
bool is_bmp(Bytes bytes) { return begins(bytes, "BM"); }

int64_t big_endian(const unsigned char* at, int bytes) {
  int64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
}

// Segment by segment, through the scans: f(marker, content) for each, until it says true; whether
// it did.
template <class F>
bool find_segment(Bytes bytes, const F& f) {
  size_t at = 2;
  while (at + 1 < bytes.size()) {
    const unsigned char marker = bytes[at + 1];
    if (bytes[at] != 0xff || marker == 0xff) {  // inside of a scan, or before a marker
      ++at;
    } else if (marker == 0 || marker == 0x01 || (marker >= 0xd0 && marker <= 0xd9)) {
      if (f(marker, Bytes())) return true;
      at += 2;  // has no length
    } else {
      if (at + 3 >= bytes.size()) return false;
      const auto length =
          static_cast<size_t>(std::max<int64_t>(2, big_endian(bytes.data() + at + 2, 2)));
      if (f(marker, bytes.subspan(at + 2, std::min(length, bytes.size() - at - 2)))) return true;
      at += 2 + length;
    }
  }
  return false;
}

// What stb makes of a file that lacks its end is grey from there on, without a word.
bool jpeg_is_whole(Bytes bytes) {
  return find_segment(bytes, [](unsigned char marker, Bytes) { return marker == 0xd9; });
}

// stb writes past the end of a table of Huffman codes that has more than the 256 there can be.
bool jpeg_tables_fit(Bytes bytes) {
  return !find_segment(bytes, [](unsigned char marker, Bytes tables) {
    if (marker != 0xc4) return false;
    size_t at = 2;  // behind the length; a table is its number, 16 counts, as many values
    while (at + 17 <= tables.size()) {
      size_t codes = 0;
      for (size_t i = 1; i <= 16; ++i) codes += tables[at + i];
      if (codes > 256) return true;
      at += 17 + codes;
    }
    return at < tables.size();  // a table that its segment cuts short
  });
}

// stb refuses large pictures without telling their size.
bool larger_than_stb_reads(Bytes head, PictureSize& size) {
  if (is_png(head) && head.size() >= 24) {
    size = {big_endian(head.data() + 20, 4), big_endian(head.data() + 16, 4), 3};
  } else if (is_bmp(head) && head.size() >= 26 && head[14] >= 40) {
    int32_t wide = 0, high = 0;
    std::memcpy(&wide, head.data() + 18, 4), std::memcpy(&high, head.data() + 22, 4);
    size = {std::abs(int64_t{high}), std::abs(int64_t{wide}), 3};
  } else if (is_jpeg(head)) {
    find_segment(head, [&](unsigned char marker, Bytes frame) {
      const bool starts = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 &&
                          marker != 0xcc && frame.size() >= 7;
      if (starts) size = {big_endian(&frame[3], 2), big_endian(&frame[5], 2), 3};
      return starts;
    });
  }
  return size.height > most_picture_side || size.width > most_picture_side;
}

// Bytes of all IDAT chunks of a PNG.
int64_t packed_bytes(Bytes bytes) {
  int64_t packed = 0;
  for (size_t at = 8; at + 8 <= bytes.size();) {
    const int64_t length = big_endian(bytes.data() + at, 4);
    if (begins(bytes.subspan(at + 4), "IDAT")) packed += length;
    if (begins(bytes.subspan(at + 4), "IEND")) break;
    if (length > static_cast<int64_t>(bytes.size() - at)) break;  // stb says that it is cut short
    at += static_cast<size_t>(length) + 12;
  }
  return packed;
}

// A header may promise a picture that the file is too short for: memory is not taken on its word.
// Deflate makes at most 1032 bytes of one, a JPEG has at least a bit for 64 pixels, a BMP that is
// not packed one for each. Packed pixels that are more than the pixels would unpack to anything.
void check_promise(Bytes bytes, const PictureSize& size, const std::string& name) {
  const int64_t pixels = size.height * size.width, all = static_cast<int64_t>(bytes.size());
  bool kept = true;
  if (is_png(bytes)) {
    constexpr int64_t channels[7] = {1, 1, 3, 1, 2, 1, 4};
    const int64_t depth = bytes[24], kind = bytes[25] < 7 ? channels[bytes[25]] : 1;
    const int64_t raw = size.height * ((size.width * depth * kind + 7) / 8 + 1);
    const int64_t packed = packed_bytes(bytes);
    kept = raw <= 1032 * packed && packed <= raw + raw / 8 + (1 << 16);
  } else if (is_jpeg(bytes)) {
    kept = pixels / 64 <= 8 * all;
  } else {
    kept = pixels / 8 <= all;
  }
  check<ErrorKind::input>(kept, name, ": its header promises ", size.width, " x ", size.height,
                          " pixels, which ", all, " bytes cannot hold; it is damaged or cut short");
}

}  // namespace

bool coded_size(Bytes head, PictureSize& size) {
  if (!is_png(head) && !is_jpeg(head) && !is_bmp(head)) return false;
  int width = 0, height = 0, channels = 0;
  if (larger_than_stb_reads(head, size)) return true;
  if (!stbi_info_from_memory(head.data(), static_cast<int>(head.size()), &width, &height,
                             &channels)) {
    return false;
  }
  size = {height, width, channels <= 2 ? 1 : 3};
  return true;
}

PictureSize checked_coded_size(Bytes bytes, const std::string& name) {
  check<ErrorKind::input>(is_png(bytes) || is_jpeg(bytes) || is_bmp(bytes), name,
                          bytes.empty() ? ": is empty" : ": is no picture that can be read",
                          "; PNG, JPEG, BMP, IDX and NPY can");
  PictureSize size;
  check<ErrorKind::input>(coded_size(bytes, size), name, ": its header cannot be read (",
                          stbi_failure_reason() ? stbi_failure_reason() : "cut short", ")");
  return size;
}

Picture decode_coded(Bytes bytes, const PictureSize& size, const std::string& name) {
  check_promise(bytes, size, name);
  check<ErrorKind::input>(!is_jpeg(bytes) || jpeg_is_whole(bytes), name,
                          ": is a JPEG that is cut short: its end is missing");
  check<ErrorKind::input>(!is_jpeg(bytes) || jpeg_tables_fit(bytes), name,
                          ": is a JPEG whose tables of codes are damaged");
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> pixels(
      stbi_load_from_memory(bytes.data(), static_cast<int>(bytes.size()), &width, &height,
                            &channels, 0),
      stbi_image_free);
  check<ErrorKind::input>(pixels != nullptr, name, ": cannot be decoded (", stbi_failure_reason(),
                          "); it may be damaged or cut short");
  check<ErrorKind::input>(width == size.width && height == size.height, name,
                          ": its header says one size and its pixels another");
  Picture picture{height, width, channels <= 2 ? 1 : 3, {}};
  const int64_t n = picture.height * picture.width;
  const bool clear = channels == 2 || channels == 4;
  picture.pixels.resize(static_cast<size_t>(n * picture.channels));
  const unsigned char* from = pixels.get();
  unsigned char* to = picture.pixels.data();
  for (int64_t i = 0; i < n; ++i, from += channels, to += picture.channels) {
    const int opaque = clear ? from[channels - 1] : 255;
    for (int64_t c = 0; c < picture.channels; ++c) {
      to[c] = static_cast<unsigned char>((from[c] * opaque + 255 * (255 - opaque) + 127) / 255);
    }
  }
  return picture;
}

}  // namespace fovea
