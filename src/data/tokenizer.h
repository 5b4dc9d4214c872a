// Text to numbers and back: characters, words, or pieces that sentencepiece learns.
//
// Case is kept, but is not decisive (fold_case; words and spaces). A form of a word, such as
// Terrible or TERRIBLE, has an id of its own when it comes three times in what was learned from (or
// min_count times, where that is more), or when it is the most frequent form of its word. All other
// forms have the id of the word in lower case, or, where that has none, of its most frequent form.
// So TERRIBLE is terrible to a model that only saw that, merkel is Merkel, and Apple stays another
// word than apple where the data shows enough of both. A run of ! ? or . follows the same rule:
// !!!! is ! until it is frequent. Learning counts words by that rule and answering looks them up by
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/partings.h"
#include "fovea/data/tokenizer_words.h"
#include "fovea/data/vocabulary.h"

namespace fovea {

struct TokenizerOptions {
  // auto (spaces where detect_tokens says so, else words), words (and signs, by Unicode's rules),
  // spaces (what lies between Unicode spaces: for text that is tokenised already), chars, bytes,
  // bpe:N, unigram:N (pieces)
  std::string kind = "words";
  bool lowercase = false;  // all in lower case, by Unicode
  int64_t min_count = 1;   // chars and words that come less often are unknown
  int64_t max_size = 0;    // most ids of chars and words, the four below included; 0: no limit
  bool fold_case = true;   // words and spaces: rare forms of a word are that word, see above
  WordRules rules{};       // words: what is split; spaces: how raw text would have to be
  Partings partings{};     // words: what is split otherwise; see learn_partings()
};

// A token and its place in the text as it was given: bytes [begin, end) and code points
// [char_begin, char_end). A byte that is not UTF-8 counts as a code point.
struct Token {
  std::string_view text;         // of the given text
  int64_t begin, end;            // bytes from the text's start
  int64_t char_begin, char_end;  // code points from the text's start
};

// A value: copies share what was learned, which never changes.
class Tokenizer {
 public:
  // Ids that every tokenizer has.
  static constexpr int32_t pad = 0, unknown = 1, begin = 2, end = 3;

  // The same texts give the same ids everywhere: the most frequent first, equally frequent ones by
  // their bytes.
  static Tokenizer learn(const TokenizerOptions& options, std::span<const std::string> texts);

  // Without begin and end.
  std::vector<int32_t> encode(std::string_view text) const;
  // Of many texts, on all threads.
  std::vector<std::vector<int32_t>> encode(std::span<const std::string> texts) const;
  // Leaves pad, begin and end out. Words are joined as people write them (tokenizer_join.h), spaces
  // with a space; what was unknown is "<unk>" (chars: U+FFFD).
  std::string decode(std::span<const int32_t> ids) const;
  // What each id of encode(text) is as a person reads it; of an unknown word the word itself.
  std::vector<std::string> pieces(std::string_view text) const;
  // Where each id of encode(text) is from: in order, none reaching into another; a piece that is
  // only a space of sentencepiece's making is empty. Bytes of one character share its place in
  // characters. The tokens look into `text`, which must outlive them.
  std::vector<Token> pieces_with_places(std::string_view text) const;
  // What an id is as a person reads it; an Error where there is no such id.
  std::string piece(int32_t id) const;
  // How many ids there are, the four above included.
  int64_t size() const;
  // As it was learned with.
  const TokenizerOptions& options() const;

  // The same ids for texts that come otherwise, of words or spaces: "words" for raw text where
  // tokenised text was learned, split by the rules that one shows (detect_tokens); "spaces" the
  // other way round.
  Tokenizer split_as(const std::string& kind, const WordRules& rules = {}) const;

  // The same ids, of words or spaces, for raw text that is split as these sentences have it where
  // the rules have it otherwise.
  Tokenizer learn_partings(std::span<const Partings::Sentence> sentences) const;

  // folder/name.json, and folder/name.model (sentencepiece's own file) for pieces.
  void save(const std::string& folder, const std::string& name) const;
  // What save() left there.
  static Tokenizer load(const std::string& folder, const std::string& name);

  // What a kind of tokens does; one class each.
  class Method;

 private:
  Tokenizer(TokenizerOptions options, std::shared_ptr<const Method> method);
  bool lowers_first() const;

  TokenizerOptions options_;
  std::shared_ptr<const Method> method_;
};

}  // namespace fovea
