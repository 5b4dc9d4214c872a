// Text to numbers and back: characters, words, or pieces that sentencepiece learns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/vocabulary.h"

namespace fovea {

struct TokenizerOptions {
  std::string kind =
      "words";  // chars, words (split at Unicode spaces), bytes, bpe:N, unigram:N (pieces)
  bool lowercase = false;  // by Unicode, before anything else
  int64_t min_count = 1;   // chars and words that come less often are unknown
  int64_t max_size = 0;    // most ids of chars and words, the four below included; 0: no limit
};

// A value: copies share what was learned, which never changes.
class Tokenizer {
 public:
  static constexpr int32_t pad = 0, unknown = 1, begin = 2, end = 3;

  // The same texts give the same ids everywhere: the most frequent first, equally frequent ones by
  // their bytes.
  static Tokenizer learn(const TokenizerOptions& options, std::span<const std::string> texts);

  // Without begin and end.
  std::vector<int32_t> encode(std::string_view text) const;
  // Leaves pad, begin and end out. Words are joined with a space; what was unknown is "<unk>"
  // (chars: U+FFFD).
  std::string decode(std::span<const int32_t> ids) const;
  // What each id of encode(text) is as a person reads it; of an unknown word the word itself.
  std::vector<std::string> pieces(std::string_view text) const;
  std::string piece(int32_t id) const;
  int64_t size() const;
  const TokenizerOptions& options() const;

  // folder/name.json, and folder/name.model (sentencepiece's own file) for pieces.
  void save(const std::string& folder, const std::string& name) const;
  static Tokenizer load(const std::string& folder, const std::string& name);

  // What a kind of tokens does; one class each.
  class Method;

 private:
  Tokenizer(TokenizerOptions options, std::shared_ptr<const Method> method);

  TokenizerOptions options_;
  std::shared_ptr<const Method> method_;
};

}  // namespace fovea
