// The bytes of one try as a file, and what an Error about it must be like.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fovea/base/error.h"

namespace fovea::fuzz {

inline void need(bool ok) {
  if (!ok) std::abort();
}

// The path of a file of these bytes, until the next call.
inline std::string file_of(const uint8_t* data, size_t size) {
  static const int file = memfd_create("fuzz", 0);
  need(file >= 0 && ftruncate(file, 0) == 0);
  need(pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  return "/proc/self/fd/" + std::to_string(file);
}

// Whether there was none; one names the file and is no longer than a person reads.
template <class F>
bool allow_error(const F& read) {
  try {
    read();
  } catch (const Error& error) {
    const std::string_view text = error.what();
    need(text.find("/proc/self/fd/") != std::string_view::npos && text.size() < 4000);
    return false;
  }
  return true;
}

}  // namespace fovea::fuzz
