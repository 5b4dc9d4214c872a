// Any bytes at all must be read or refused with an Error, and what is read must hold together.
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "fovea/base/error.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/safetensors_header.h"

namespace {

using fovea::Safetensors;

void need(bool ok) {
  if (!ok) std::abort();
}

void read_all(const std::string& bytes) {
  try {
    const auto file = Safetensors::parse(std::as_bytes(std::span(bytes)), "fuzz");
    int64_t filled = 0;
    for (const auto& entry : file.entries()) {
      need(entry.begin == filled && entry.end >= filled && file.has(entry.name));
      filled = entry.end;
      try {
        const auto tensor = file.load(entry.name);
        need(tensor.elements() <= static_cast<int64_t>(bytes.size()));
      } catch (const fovea::Error&) {
      }
    }
    const std::vector entries(file.entries().begin(), file.entries().end());
    const std::string again = fovea::safetensors::write_header(entries, file.metadata(), "again");
    const auto header = fovea::safetensors::read_header(again, filled, "again");
    need(header.entries == entries && header.metadata == file.metadata());
  } catch (const fovea::Error& error) {
    const std::string_view text = error.what();
    need(text.starts_with("fuzz: ") && text.size() < 800);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read_all(bytes);
  // The same as a header, up to its last brace, and what follows it: a mutation that changes the
  // header's length would otherwise hardly ever get past the length check.
  const uint64_t length = bytes.rfind('}') + 1;
  read_all(std::string(reinterpret_cast<const char*>(&length), 8) + bytes);
  return 0;
}
