// Bytes as text of 64 letters (RFC 4648), for pictures inside of pages and JSON.
#pragma once

#include <string>
#include <string_view>

namespace fovea {

// The text of some bytes, with its padding.
std::string base64_of(std::string_view bytes);
// The bytes again; anything that is no such text is an Error.
std::string bytes_of_base64(std::string_view text);

}  // namespace fovea
