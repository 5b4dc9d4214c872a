#include "fovea/tensor/safetensors_header.h"

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "fovea/base/error.h"

namespace fovea::safetensors {
namespace {

using Json = nlohmann::json;

constexpr size_t max_axes = 64;  // as many as numpy and PyTorch can have

struct Kind {
  std::string_view name;
  int bits;
};
constexpr std::array kinds = {
    Kind{"F32", 32},    Kind{"F64", 64},        Kind{"I32", 32},        Kind{"F16", 16},
    Kind{"BF16", 16},   Kind{"I64", 64},        Kind{"I16", 16},        Kind{"I8", 8},
    Kind{"U64", 64},    Kind{"U32", 32},        Kind{"U16", 16},        Kind{"U8", 8},
    Kind{"BOOL", 8},    Kind{"C64", 64},        Kind{"F8_E5M2", 8},     Kind{"F8_E4M3", 8},
    Kind{"F8_E8M0", 8}, Kind{"F8_E4M3FNUZ", 8}, Kind{"F8_E5M2FNUZ", 8}, Kind{"F6_E2M3", 6},
    Kind{"F6_E3M2", 6}, Kind{"F4", 4},
};

// Receives the JSON piece by piece, because a parsed document would no longer show that a name came
// twice, and would hold whatever nesting a hostile file has.
class Reader {
 public:
  Reader(Header& header, const std::string& where) : header_(header), where_(where) {}

  bool start_object(size_t) {
    if (place_ == Place::document) return go(Place::tensors);
    if (place_ != Place::tensors) return unexpected("an object");
    if (name_ == "__metadata__") {
      check<ErrorKind::input>(!metadata_seen_, where_, ": the header has \"__metadata__\" twice");
      metadata_seen_ = true;
      return go(Place::metadata);
    }
    header_.entries.push_back({.name = name_, .dtype = {}, .shape = {}, .begin = -1, .end = -1});
    has_dtype_ = has_shape_ = has_offsets_ = false;
    return go(Place::tensor);
  }

  bool key(std::string& name) {
    if (place_ != Place::tensor) {
      name_ = name;
      return true;
    }
    bool& has = name == "dtype"          ? has_dtype_
                : name == "shape"        ? has_shape_
                : name == "data_offsets" ? has_offsets_
                                         : unknown(name);
    need(!has, "has its ", name, " twice");
    has = true;
    field_ = name;
    return true;
  }

  bool end_object() {
    if (place_ == Place::tensor) {
      need(has_dtype_, "has no dtype");
      need(has_shape_, "has no shape");
      need(has_offsets_, "has no data_offsets");
    }
    return go(Place::tensors);
  }

  bool start_array(size_t) {
    if (place_ != Place::tensor || field_ == "dtype") return unexpected("a list");
    numbers_.clear();
    return go(Place::list);
  }

  bool end_array() {
    if (field_ == "shape") {
      header_.entries.back().shape = numbers_;
    } else {
      need(numbers_.size() == 2, "needs two data_offsets, got ", numbers_.size());
      header_.entries.back().begin = numbers_[0];
      header_.entries.back().end = numbers_[1];
    }
    return go(Place::tensor);
  }

  bool string(std::string& text) {
    if (place_ == Place::metadata) {
      header_.metadata.emplace_back(name_, text);
    } else if (place_ == Place::tensor && field_ == "dtype") {
      header_.entries.back().dtype = text;
    } else {
      unexpected("a text");
    }
    return true;
  }

  bool number_unsigned(uint64_t number) {
    if (place_ != Place::list || !std::in_range<int64_t>(number)) return unexpected(say(number));
    need(numbers_.size() < max_axes, "has more than ", max_axes, " numbers in its ", field_);
    numbers_.push_back(static_cast<int64_t>(number));
    return true;
  }
  // Only called for numbers with a minus sign.
  bool number_integer(int64_t number) { return unexpected(number ? say(number) : "-0"); }
  bool number_float(double, const std::string& text) { return unexpected(text.substr(0, 40)); }
  bool boolean(bool value) { return unexpected(value ? "true" : "false"); }
  bool null() { return unexpected("null"); }
  bool binary(Json::binary_t&) { return unexpected("binary data"); }

  // The library's text has its own name in front and what it read, of any length, at the end.
  bool parse_error(size_t place, const std::string&, const Json::exception& error) {
    const std::string_view what = error.what();
    const size_t begin = what.find("syntax error");
    const auto why = begin == what.npos ? "a number is too large"
                                        : what.substr(begin, what.find(';', begin) - begin);
    fail<ErrorKind::input>(where_, ": the header is not valid JSON at its byte ", place, ": ", why);
  }

 private:
  enum class Place { document, tensors, metadata, tensor, list };

  bool go(Place place) {
    place_ = place;
    return true;
  }

  template <class... Parts>
  [[noreturn]] void refuse_tensor(const Parts&... why) const {
    fail<ErrorKind::input>(where_, ": tensor ", in_quotes(header_.entries.back().name), " ",
                           why...);
  }
  template <class... Parts>
  void need(bool ok, const Parts&... why) const {
    if (!ok) refuse_tensor(why...);
  }
  [[noreturn]] bool& unknown(std::string_view field) const {
    refuse_tensor("has an unknown field ", in_quotes(field));
  }

  [[noreturn]] bool unexpected(std::string_view got) const {
    switch (place_) {
      case Place::tensors:
        fail<ErrorKind::input>(where_, ": ", in_quotes(name_),
                               " in the header needs an object, got ", got);
      case Place::metadata:
        fail<ErrorKind::input>(where_, ": ", in_quotes(name_),
                               " in the metadata needs a text, got ", got);
      case Place::tensor:
        refuse_tensor("needs ", field_ == "dtype" ? "a text" : "a list of whole numbers",
                      " as its ", field_, ", got ", got);
      case Place::document:  // read_header has seen that this begins an object
      case Place::list:
        break;
    }
    refuse_tensor("needs whole numbers from 0 to 2^63 - 1 in its ", field_, ", got ", got);
  }

  Header& header_;
  const std::string& where_;
  Place place_ = Place::document;
  std::string name_, field_;  // the last key, outside a tensor's object and inside one
  std::vector<int64_t> numbers_;
  bool metadata_seen_ = false, has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
};

// By sorting: a hostile file could choose names that a hash table is slow with.
template <class List, class Name>
void check_unique(const List& list, Name name, const std::string& who) {
  std::vector<std::string_view> names;
  for (const auto& item : list) names.push_back(std::invoke(name, item));
  std::ranges::sort(names);
  const auto twin = std::ranges::adjacent_find(names);
  if (twin != names.end()) fail<ErrorKind::input>(who, in_quotes(*twin), " twice");
}

// Nothing if the bits do not fit an int64. Zeros count as ones, so that no product of some of the
// axes can overflow later either.
std::optional<int64_t> bits_of(const std::vector<int64_t>& shape, int element_bits) {
  int64_t bits = element_bits;
  for (int64_t dim : shape) {
    if (__builtin_mul_overflow(bits, std::max<int64_t>(dim, 1), &bits)) return {};
  }
  return std::ranges::count(shape, 0) ? 0 : bits;
}

void check_entry(const Entry& entry, int64_t data_bytes, const std::string& where) {
  const auto refuse = [&](const auto&... why) {
    fail<ErrorKind::input>(where, ": tensor ", in_quotes(entry.name), " ", why...);
  };
  const auto kind = std::ranges::find(kinds, entry.dtype, &Kind::name);
  if (kind == kinds.end()) refuse("has an unknown dtype ", in_quotes(entry.dtype));
  const auto bits = bits_of(entry.shape, kind->bits);
  if (!bits) refuse("has a shape whose sizes multiply to more than 2^63 bits");
  if (*bits % 8 != 0) refuse("has ", *bits, " bits, which do not fill whole bytes");
  if (entry.end < entry.begin) {
    refuse("ends at byte ", entry.end, ", before its start at ", entry.begin);
  }
  if (entry.end > data_bytes) {
    refuse("needs bytes up to ", entry.end, ", but only ", data_bytes,
           " follow the header: the file is truncated or damaged");
  }
  if (entry.end - entry.begin != *bits / 8) {
    refuse("needs ", *bits / 8, " bytes for its dtype and shape, but its offsets give it ",
           entry.end - entry.begin);
  }
}

// The arrays must fill the data without a gap: no byte belongs to two of them or to none.
void check_cover(const std::vector<Entry>& entries, int64_t data_bytes, const std::string& where) {
  int64_t filled = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != filled) {
      fail<ErrorKind::input>(where, ": tensor ", in_quotes(entry.name), " starts at byte ",
                             entry.begin, ", but the one before it ends at ", filled,
                             entry.begin < filled ? ": they overlap" : ": there is a hole");
    }
    filled = entry.end;
  }
  check<ErrorKind::input>(filled == data_bytes, where, ": ", data_bytes - filled,
                          " bytes after the last tensor belong to none");
}

}  // namespace

Header read_header(std::string_view json, int64_t data_bytes, const std::string& where) {
  check<ErrorKind::input>(json.starts_with('{'), where, ": the header does not begin with '{'");
  // The JSON library takes a zero byte for the end and would ignore what follows it.
  check<ErrorKind::input>(json.find('\0') == json.npos, where,
                          ": the header has a zero byte in it");
  Header header;
  Reader reader(header, where);
  Json::sax_parse(json.begin(), json.end(), &reader);

  auto& entries = header.entries;
  check_unique(entries, &Entry::name, where + ": the header has tensor ");
  check_unique(header.metadata, &Metadata::value_type::first, where + ": the metadata has ");
  for (const Entry& entry : entries) check_entry(entry, data_bytes, where);
  std::ranges::stable_sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  check_cover(entries, data_bytes, where);

  header.by_name.resize(entries.size());
  std::iota(header.by_name.begin(), header.by_name.end(), 0u);
  std::ranges::sort(header.by_name, {},
                    [&](uint32_t i) { return std::string_view(entries[i].name); });
  return header;
}

std::string write_header(const std::vector<Entry>& entries, const Metadata& metadata,
                         const std::string& where) {
  // By hand, since the order of the keys is part of the byte-for-byte promise.
  const auto text = [&](const std::string& s) {
    try {
      return Json(s).dump();
    } catch (const Json::exception&) {
      fail<ErrorKind::input>(where, ": ", in_quotes(s), " is not UTF-8");
    }
  };
  std::string json = "{";
  if (!metadata.empty()) {
    json += "\"__metadata__\":{";
    for (const auto& [name, value] : metadata) json += text(name) + ":" + text(value) + ",";
    json.back() = '}';
  }
  for (const Entry& e : entries) {
    if (json.size() > 1) json += ',';
    json += text(e.name) + ":{\"dtype\":" + text(e.dtype) + ",\"shape\":" + Json(e.shape).dump() +
            ",\"data_offsets\":" + Json({e.begin, e.end}).dump() + "}";
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  return json;
}

std::string in_quotes(std::string_view text) {
  constexpr size_t shown = 80;
  std::string_view start = text.substr(0, shown);
  // A character that was cut in two becomes the replacement mark.
  std::string result = Json(start).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (start.size() < text.size()) result += "...";
  return result;
}

}  // namespace fovea::safetensors
