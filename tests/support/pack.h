// Texts as files hold them: packed, and in other encodings.
#pragma once

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

#include "fovea/base/error.h"

namespace fovea::test {

inline std::string gzip(const std::string& text) {
  z_stream stream{};
  check(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib");
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  check(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string xz(const std::string& text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  check(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                reinterpret_cast<uint8_t*>(packed.data()), &size,
                                packed.size()) == LZMA_OK,
        "liblzma");
  packed.resize(size);
  return packed;
}

inline std::string zstd(const std::string& text) {
  ZSTD_CCtx* stream = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(stream, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const size_t size =
      ZSTD_compress2(stream, packed.data(), packed.size(), text.data(), text.size());
  ZSTD_freeCCtx(stream);
  check(!ZSTD_isError(size), "zstd");
  packed.resize(size);
  return packed;
}

inline std::string utf16(const std::u16string& text, bool big, bool mark) {
  std::string bytes;
  const auto add = [&](char16_t unit) {
    const char low = static_cast<char>(unit & 255), high = static_cast<char>(unit >> 8);
    bytes += big ? high : low;
    bytes += big ? low : high;
  };
  if (mark) add(u'\ufeff');
  for (const char16_t unit : text) add(unit);
  return bytes;
}

}  // namespace fovea::test
