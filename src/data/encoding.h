// Text in whatever encoding a file has it, as UTF-8.
#pragma once

#include <memory>
#include <string>

#include "fovea/data/byte_source.h"

namespace fovea {

// Where text comes from: bytes in UTF-8 without a byte order mark, and what they were before.
// Bytes that are wrong in their encoding come out as bytes that are wrong in UTF-8 (half a
// surrogate pair as its own three bytes), so that whoever checks lines can name the line.
struct TextSource {
  std::unique_ptr<ByteSource> bytes;  // the text, read from start to end
  std::string encoding;               // UTF-8, UTF-8 with BOM, UTF-16LE, UTF-16BE, Windows-1252
  std::string packing;                // as ByteSource has it
};

// `encoding` is auto, utf-8, utf-16le, utf-16be, windows-1252 or latin1 (read as Windows-1252,
// which has letters where Latin-1 has control characters). With auto the first 256 KiB decide: a
// byte order mark; zero bytes at every other place (UTF-16); bytes that are no UTF-8 among text
// that is mostly ASCII (Windows-1252). More valid than broken sequences is UTF-8 that is damaged.
// `prompt`: only what the first read gives is looked at, as for a pipe whose other side waits for
// answers.
TextSource open_text(const std::string& path, const std::string& encoding = "auto",
                     bool prompt = false);

}  // namespace fovea
