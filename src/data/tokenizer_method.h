// What a kind of tokens does, behind Tokenizer.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>

#include "fovea/data/tokenizer.h"

namespace fovea {

// Bytes [begin, end) of a text.
struct ByteRange {
  int64_t begin, end;  // counted from the text's start
};

// One kind of tokens, with what it learned.
class Tokenizer::Method {
 public:
  virtual ~Method() = default;

  // Whether texts are to come in lower case where the options ask for it; else it sees to that.
  virtual bool wants_lowercase() const { return true; }

  virtual std::vector<int32_t> encode(std::string_view text) const = 0;  // without begin and end
  virtual std::string decode(std::span<const int32_t> ids) const = 0;    // no pad, begin, end
  // What each id of encode(text) is as a person reads it.
  virtual std::vector<std::string> pieces(std::string_view text) const = 0;
  // Where in the text each id of encode(text) is from: in order, none reaching into another.
  virtual std::vector<ByteRange> ranges(std::string_view text) const = 0;
  virtual std::string piece(int32_t id) const = 0;  // id in [0, size())
  // How many ids there are, the four special ones included.
  virtual int64_t size() const = 0;

  // Adds to `about`, which becomes path.json, what it needs to be made again, and writes what does
  // not fit there to files whose names begin with `path`.
  virtual void save(nlohmann::json& about, const std::string& path) const = 0;

  // The same numbers under other options; null when these mean nothing to it.
  virtual std::shared_ptr<const Method> with(const TokenizerOptions&) const { return nullptr; }
};

// By id: Tokenizer::pad, unknown, begin, end.
inline constexpr std::array<const char*, 4> special_pieces{"<pad>", "<unk>", "<s>", "</s>"};

// Whole units of text with an id each: characters or words.
std::shared_ptr<const Tokenizer::Method> learn_units(const TokenizerOptions& options,
                                                     std::span<const std::string> texts);
std::shared_ptr<const Tokenizer::Method> load_units(const TokenizerOptions& options,
                                                    const nlohmann::json& about,
                                                    const std::string& path);

// The 256 bytes as they are: nothing to learn.
std::shared_ptr<const Tokenizer::Method> make_bytes();

// Pieces of words that sentencepiece learns.
std::shared_ptr<const Tokenizer::Method> learn_pieces(const TokenizerOptions& options,
                                                      std::span<const std::string> texts);
std::shared_ptr<const Tokenizer::Method> load_pieces(const nlohmann::json& about,
                                                     const std::string& path);

// "bpe:8000" is {"bpe", 8000}; a kind without a number has 0 pieces. An Error for all else.
struct TokenKind {
  std::string name;  // words, spaces, chars, bytes, bpe or unigram
  int64_t pieces;    // how many sentencepiece is to learn
};
// Of TokenizerOptions::kind.
TokenKind parse_kind(const std::string& kind);

}  // namespace fovea
