#include "fovea/report/arrays.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_text.h"
#include "fovea/base/utf8.h"
#include "fovea/tensor/safetensors.h"

namespace fovea {
namespace {

template <class Int>
void append(std::string& bytes, Int value) {
  for (size_t i = 0; i < sizeof(Int); ++i) {
    bytes += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  }
}

// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, version 1.0.
std::string npy(const std::string& type, const std::string& shape, std::string_view values) {
  std::string header =
      say("{'descr': '", type, "', 'fortran_order': False, 'shape': (", shape, "), }");
  const size_t before = 10, unpadded = before + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  append(bytes, static_cast<uint16_t>(header.size()));
  return bytes + header + std::string(values);
}

std::string npy(const AttentionMap& map) {
  const std::string_view values(reinterpret_cast<const char*>(map.weights.data()),
                                map.weights.size() * sizeof(float));
  return npy("<f4", say(map.queries.size(), ", ", map.keys.size()), values);
}

// NumPy's texts all have the length of the longest, in code points of four bytes.
std::string npy(const std::vector<std::string>& words) {
  int64_t longest = 1;
  for (const std::string& word : words) longest = std::max(longest, count_code_points(word));
  std::string values;
  for (const std::string& word : words) {
    int64_t count = 0;
    for (std::string_view point : code_points(word)) {
      const int32_t value = first_code_point(point).value;
      append(values, static_cast<uint32_t>(value < 0 ? 0xFFFD : value));
      ++count;
    }
    for (; count < longest; ++count) append(values, uint32_t{0});
  }
  return npy(say("<U", longest), say(words.size(), ","), values);
}

// A ZIP archive whose files are stored as they are.
class Zip {
 public:
  void add(const std::string& name, const std::string& bytes) {
    check(bytes.size() < std::numeric_limits<uint32_t>::max() - 1000 &&
              bytes_.size() + bytes.size() < std::numeric_limits<uint32_t>::max() - 1000,
          "npz: holds less than 4 GB; choose fewer maps, or a shorter text");
    const auto sum = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
    std::string about;
    append(about, uint16_t{20});       // version that is needed
    append(about, uint16_t{1 << 11});  // the name is UTF-8
    append(about, uint16_t{0});        // stored
    append(about, uint16_t{0});
    append(about, uint16_t{(1 << 5) | 1});  // 1 January 1980: the same bytes every day
    append(about, sum);
    append(about, static_cast<uint32_t>(bytes.size()));
    append(about, static_cast<uint32_t>(bytes.size()));
    append(about, static_cast<uint16_t>(name.size()));
    append(about, uint16_t{0});
    directory_ += std::string("PK\x01\x02", 4);
    append(directory_, uint16_t{20});
    directory_ += about;
    directory_.append(10, '\0');
    append(directory_, static_cast<uint32_t>(bytes_.size()));
    directory_ += name;
    bytes_ += std::string("PK\x03\x04", 4) + about + name + bytes;
    ++files_;
  }
  std::string finish() {
    std::string end("PK\x05\x06\0\0\0\0", 8);
    append(end, files_);
    append(end, files_);
    append(end, static_cast<uint32_t>(directory_.size()));
    append(end, static_cast<uint32_t>(bytes_.size()));
    append(end, uint16_t{0});
    return bytes_ + directory_ + end;
  }

 private:
  std::string bytes_, directory_;
  uint16_t files_ = 0;
};

}  // namespace

void save_npz(const std::string& path, const Drawing& drawing) {
  check(drawing.maps.size() < 20'000, "npz: holds fewer than 20,000 maps, got ",
        drawing.maps.size());
  Zip zip;
  for (const AttentionMap& map : drawing.maps) {
    zip.add(map.name + ".npy", npy(map));
    zip.add(map.name + "/queries.npy", npy(map.queries));
    zip.add(map.name + "/keys.npy", npy(map.keys));
  }
  const std::string bytes = zip.finish();
  write_file_atomically(path, std::as_bytes(std::span(bytes)));
}

void save_maps(const std::string& path, const Drawing& drawing) {
  std::vector<NamedTensor> tensors;
  Safetensors::Metadata metadata;
  for (const AttentionMap& map : drawing.maps) {
    const Shape shape{static_cast<int64_t>(map.queries.size()),
                      static_cast<int64_t>(map.keys.size())};
    tensors.push_back({map.name, Tensor::of(shape, map.weights)});
    metadata.emplace_back(map.name + "/queries", json_text(nlohmann::json(map.queries)));
    metadata.emplace_back(map.name + "/keys", json_text(nlohmann::json(map.keys)));
  }
  save_safetensors(path, tensors, metadata);
}

}  // namespace fovea
