// The JSON header of a safetensors file. For safetensors.cpp, its tests and its fuzzer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/tensor/safetensors.h"

namespace fovea::safetensors {

// As the file itself has them.
using Entry = Safetensors::Entry;
using Metadata = Safetensors::Metadata;

// What the format allows.
constexpr uint64_t max_header_bytes = 100'000'000;

// All that a header says.
struct Header {
  std::vector<Entry> entries;     // in the order of their bytes, which they fill without a gap
  std::vector<uint32_t> by_name;  // places in `entries`, in the order of their names
  Metadata metadata;              // texts by name
};

// Refuses, with an Error that begins with `where`, every header that does not describe exactly
// `data_bytes` bytes of arrays.
Header read_header(std::string_view json, int64_t data_bytes, const std::string& where);

// The header of these entries in this order, padded with spaces so that the arrays start at a
// multiple of eight bytes. An Error, which begins with `where`, if a text is not UTF-8.
std::string write_header(const std::vector<Entry>& entries, const Metadata& metadata,
                         const std::string& where);

// A name from a file as an error may show it: in quotes, control characters escaped, not too long.
std::string in_quotes(std::string_view text);

}  // namespace fovea::safetensors
