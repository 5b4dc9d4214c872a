// Whatever bytes a text has: words are found, lie where they say, are those of ICU, and learning,
// numbering, joining and asking how it was tokenised end well.
#include <cstdlib>
#include <string>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/tokenizer.h"
#include "fovea/data/tokenizer_join.h"
#include "fovea/data/tokenizer_style.h"

namespace {

using namespace fovea;
using Views = std::vector<std::string_view>;

void need(bool ok) {
  if (!ok) std::abort();
}

void check_words(const std::string& text, const WordRules& rules) {
  Views words, by_icu;
  split_words(text, rules, words);
  split_words_by_icu(text, rules, by_icu);
  need(words == by_icu);
  const char* last = text.data();
  for (const std::string_view word : words) {
    need(!word.empty() && word.data() >= last);
    last = word.data() + word.size();
  }
  need(last <= text.data() + text.size());
  need(join_words(words).size() >= (words.empty() ? 0 : words.size()));
}

void check_places(const Tokenizer& tokenizer, const std::string& text) {
  const auto tokens = tokenizer.pieces_with_places(text);
  need(tokens.size() == tokenizer.encode(text).size());
  need(tokens.size() == tokenizer.pieces(text).size());
  const int64_t chars = count_code_points(text);
  int64_t last = 0;
  for (const Token& t : tokens) {
    need(last <= t.begin && t.begin <= t.end && t.end <= static_cast<int64_t>(text.size()));
    need(0 <= t.char_begin && t.char_begin <= t.char_end && t.char_end <= chars);
    last = t.end;
  }
}

const Tokenizer& learned(const char* kind, bool lowercase) {
  static const std::vector<std::string> texts{"the cat saw the dog, and a dog saw a cat",
                                              "Straße!"};
  return *new Tokenizer(Tokenizer::learn({.kind = kind, .lowercase = lowercase}, texts));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_words(text, {});
  check_words(text, {.clitics = true, .compounds = true});
  static const Tokenizer* const all[] = {&learned("words", true),  &learned("spaces", false),
                                         &learned("chars", false), &learned("bytes", true),
                                         &learned("bpe:30", true), &learned("unigram:30", false)};
  for (const Tokenizer* tokenizer : all) check_places(*tokenizer, text);
  const std::vector<std::string> texts{text, "a , b ."};
  need(detect_tokens(texts).reason().size() < 300);
  try {
    const auto own = Tokenizer::learn({.kind = "words"}, texts);
    check_places(own, text);
    for (const int32_t id : own.encode(text)) need(id != Tokenizer::unknown);
  } catch (const Error& error) {
    need(std::string_view(error.what()).find("is not UTF-8") != std::string_view::npos);
  }
  return 0;
}
