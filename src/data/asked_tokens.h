// Tokens of texts that a model is asked about, which need not come as those that it learned from:
// who learned from tokenised text is asked about raw text too.
#pragma once

#include <algorithm>
#include <optional>

#include "fovea/data/tokenizer.h"
#include "fovea/data/tokenizer_style.h"

namespace fovea {

class AskedTokens {
 public:
  AskedTokens() = default;
  // `as_they_come`: texts are split as each looks; else all as those that were learned from.
  AskedTokens(const Tokenizer& learned, bool as_they_come) : learned_(learned) {
    if (as_they_come && learned.options().kind == "spaces") {
      raw_ = learned.split_as("words", learned.options().rules);
    }
  }

  // What splits this text.
  const Tokenizer& of(std::string_view text) const {
    return raw_ && looks_raw(text, raw_->options().rules) ? *raw_ : *learned_;
  }
  // What splits all texts of a file.
  const Tokenizer& of_all(std::span<const std::string> texts) const {
    if (!raw_) return *learned_;
    const TokenStyle style = detect_tokens(texts);
    return style.tokenised || style.joined == 0 ? *learned_ : *raw_;
  }

 private:
  std::optional<Tokenizer> learned_, raw_;
};

}  // namespace fovea
