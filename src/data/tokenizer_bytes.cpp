// Bytes as tokens: any text, no vocabulary to learn, nothing unknown.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "fovea/data/tokenizer_method.h"

namespace fovea {
namespace {

constexpr auto special_count = static_cast<int32_t>(special_pieces.size());

class Bytes : public Tokenizer::Method {
 public:
  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int32_t> ids;
    for (const unsigned char byte : text) ids.push_back(byte + special_count);
    return ids;
  }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) {
      if (id >= special_count) text += static_cast<char>(id - special_count);
    }
    return text;
  }
  std::vector<std::string> pieces(std::string_view text) const override {
    std::vector<std::string> all;
    for (const int32_t id : encode(text)) all.push_back(piece(id));
    return all;
  }
  std::vector<ByteRange> ranges(std::string_view text) const override {
    std::vector<ByteRange> all;
    for (int64_t i = 0; i < static_cast<int64_t>(text.size()); ++i) all.push_back({i, i + 1});
    return all;
  }
  std::string piece(int32_t id) const override {
    if (id < special_count) return special_pieces[id];
    const int byte = id - special_count;
    return byte >= ' ' && byte < 127 ? std::string(1, static_cast<char>(byte))
                                     : fmt::format("<{:02x}>", byte);
  }
  int64_t size() const override { return 256 + special_count; }
  void save(nlohmann::json&, const std::string&) const override {}
};

}  // namespace

std::shared_ptr<const Tokenizer::Method> make_bytes() { return std::make_shared<Bytes>(); }

}  // namespace fovea
