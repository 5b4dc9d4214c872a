#include "fovea/tensor/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/tensor/safetensors_header.h"

namespace fovea {
namespace {

using safetensors::in_quotes;
using Bytes = std::span<const std::byte>;

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");
constexpr size_t length_bytes = 8;

float float_of_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

float float_of_f16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t rest = bits & 0x7fffu;
  uint32_t wide;
  if (rest >= 0x7c00) {  // infinity, or not a number
    wide = 0x7f800000 | (rest & 0x3ff) << 13;
  } else if (rest >= 0x0400) {
    wide = (rest << 13) + ((127 - 15) << 23);
  } else {  // zero, or below float16's normal range: a whole number of 2^-24
    wide = std::bit_cast<uint32_t>(static_cast<float>(rest) * 0x1p-24f);
  }
  return std::bit_cast<float>(sign | wide);
}

// Files by other writers need not align their numbers, so these are copied out one at a time.
template <class From, class To, class Convert>
Tensor converted(const Shape& shape, Bytes bytes, Convert convert) {
  Tensor result(shape, dtype_of<To>);
  const std::byte* from = bytes.data();
  for (To& to : result.write<To>()) {
    From value;
    std::memcpy(&value, from, sizeof value);
    to = convert(value);
    from += sizeof value;
  }
  return result;
}

Tensor copied(const Shape& shape, Dtype dtype, Bytes bytes) {
  Tensor result(shape, dtype);
  std::ranges::copy(bytes, result.writable_bytes().begin());
  return result;
}

const char* file_word(Dtype dtype) {
  return dtype == Dtype::f32 ? "F32" : dtype == Dtype::f64 ? "F64" : "I32";
}

// The library puts the dtypes that need the coarsest alignment first.
int place_of(Dtype dtype) { return dtype == Dtype::f64 ? 0 : dtype == Dtype::f32 ? 1 : 2; }

}  // namespace

Safetensors Safetensors::open(const std::string& path) {
  MappedFile file(path);
  Safetensors result = parse(file.bytes(), path);
  result.file_ = std::move(file);
  return result;
}

Safetensors Safetensors::parse(Bytes bytes, const std::string& where) {
  check<ErrorKind::input>(bytes.size() >= length_bytes, where, ": a safetensors file has at least ",
                          length_bytes, " bytes, this one has ", bytes.size());
  uint64_t length;
  std::memcpy(&length, bytes.data(), sizeof length);
  const Bytes rest = bytes.subspan(length_bytes);
  check<ErrorKind::input>(length <= safetensors::max_header_bytes, where, ": claims a header of ",
                          length, " bytes, more than the ", safetensors::max_header_bytes,
                          " a safetensors file may have");
  check<ErrorKind::input>(length <= rest.size(), where, ": claims a header of ", length,
                          " bytes, but only ", rest.size(),
                          " follow: the file is truncated or damaged");

  Safetensors result;
  result.where_ = where;
  result.data_ = rest.subspan(length);
  auto header = safetensors::read_header(
      {reinterpret_cast<const char*>(rest.data()), static_cast<size_t>(length)},
      static_cast<int64_t>(result.data_.size()), where);
  result.entries_ = std::move(header.entries);
  result.by_name_ = std::move(header.by_name);
  result.metadata_ = std::move(header.metadata);
  return result;
}

const std::string* Safetensors::metadata(std::string_view name) const {
  const auto it =
      std::ranges::find(metadata_, name, [](auto& pair) { return std::string_view(pair.first); });
  return it == metadata_.end() ? nullptr : &it->second;
}

const Safetensors::Entry* Safetensors::find(std::string_view name) const {
  const auto name_of = [&](uint32_t i) { return std::string_view(entries_[i].name); };
  const auto it = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return it != by_name_.end() && name_of(*it) == name ? &entries_[*it] : nullptr;
}

Tensor Safetensors::load(std::string_view name) const {
  const Entry* entry = find(name);
  if (!entry) fail<ErrorKind::input>(where_, ": has no tensor ", in_quotes(name));
  return load(*entry);
}

void Safetensors::forget(std::string_view name) const {
  if (const Entry* entry = find(name)) {
    file_.forget(data_.subspan(entry->begin, entry->end - entry->begin));
  }
}

Tensor Safetensors::load(const Entry& entry) const {
  const auto refuse = [&](const auto&... why) {
    fail<ErrorKind::input>(where_, ": tensor ", in_quotes(entry.name), " ", why...);
  };
  if (entry.shape.size() > Shape::max_rank) {
    refuse("has ", entry.shape.size(), " axes, more than the ", Shape::max_rank,
           " that can be loaded");
  }
  const Shape shape{std::span<const int64_t>(entry.shape)};
  const Bytes bytes = data_.subspan(entry.begin, entry.end - entry.begin);
  const auto as_ints = [&]<class From>(From) {
    return converted<From, int32_t>(shape, bytes, [&](From x) {
      if (!std::in_range<int32_t>(x)) {
        refuse("of dtype ", entry.dtype, " holds ", +x, ", which does not fit an int32");
      }
      return static_cast<int32_t>(x);
    });
  };
  const std::string& dtype = entry.dtype;
  if (dtype == "F32") return copied(shape, Dtype::f32, bytes);
  if (dtype == "F64") return copied(shape, Dtype::f64, bytes);
  if (dtype == "I32") return copied(shape, Dtype::i32, bytes);
  if (dtype == "F16") return converted<uint16_t, float>(shape, bytes, float_of_f16);
  if (dtype == "BF16") return converted<uint16_t, float>(shape, bytes, float_of_bf16);
  if (dtype == "I64") return as_ints(int64_t{});
  if (dtype == "I16") return as_ints(int16_t{});
  if (dtype == "I8") return as_ints(int8_t{});
  if (dtype == "U64") return as_ints(uint64_t{});
  if (dtype == "U32") return as_ints(uint32_t{});
  if (dtype == "U16") return as_ints(uint16_t{});
  if (dtype == "U8") return as_ints(uint8_t{});
  if (dtype == "BOOL") {
    return converted<uint8_t, int32_t>(shape, bytes, [](uint8_t x) { return x != 0; });
  }
  fail<ErrorKind::input>(
      where_, ": tensor ", in_quotes(entry.name), " has dtype ", dtype,
      ", which cannot be loaded; floats of 16 bits or more, integers and BOOL can");
}

void save_safetensors(const std::string& path, std::span<const NamedTensor> tensors,
                      const Safetensors::Metadata& metadata) {
  const std::string who = say("cannot write '", path, "'");
  const auto refuse = [&](const auto&... why) { fail<ErrorKind::input>(who, ": ", why...); };
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& named : tensors) {
    if (named.tensor.empty()) refuse("tensor ", in_quotes(named.name), " has no value");
    if (named.name == "__metadata__") refuse("no tensor may have the name \"__metadata__\"");
    order.push_back(&named);
  }
  std::ranges::sort(order, {}, [](const NamedTensor* n) {
    return std::pair(place_of(n->tensor.dtype()), std::string_view(n->name));
  });

  std::vector<Safetensors::Entry> entries;
  std::vector<Bytes> pieces(2);
  int64_t end = 0;
  for (const NamedTensor* n : order) {
    const Shape& shape = n->tensor.shape();
    pieces.push_back(n->tensor.bytes());
    const int64_t begin = std::exchange(end, end + static_cast<int64_t>(pieces.back().size()));
    entries.push_back({.name = n->name,
                       .dtype = file_word(n->tensor.dtype()),
                       .shape = {shape.begin(), shape.end()},
                       .begin = begin,
                       .end = end});
  }
  const std::string header = safetensors::write_header(entries, metadata, who);
  const uint64_t length = header.size();
  if (length > safetensors::max_header_bytes) refuse("its header would have ", length, " bytes");
  // What the reader would refuse, such as a name that comes twice, must not be written either.
  safetensors::read_header(header, end, who);
  pieces[0] = std::as_bytes(std::span(&length, 1));
  pieces[1] = std::as_bytes(std::span(header));
  write_file_atomically(path, pieces);
}

}  // namespace fovea
