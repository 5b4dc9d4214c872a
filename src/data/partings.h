// What a corpus parts, or keeps whole, otherwise than the rules for words (tokenizer_words.h) do:
// dont is do nt, b/c is one word, 375mm is two. Learned from sentences that are known both as they
// were written and as words, as CoNLL-U has them. Capital and small letters of ASCII are the same
// to it, and so are all digits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

class Partings {
 public:
  // One to learn from.
  struct Sentence {
    std::string_view text;               // as it was written
    std::span<const std::string> words;  // in order
  };
  // Appends the words that the rules find.
  using Split = std::function<void(std::string_view, std::vector<std::string_view>&)>;

  // What most of the sentences have otherwise than `split`. One whose words are not those of its
  // text, but for spaces, teaches nothing: du as de le.
  static Partings learn(std::span<const Sentence> sentences, const Split& split);

  // Parts and joins what stands together in a text, the longest run first.
  void apply(std::vector<std::string_view>& words) const;

  // How many there are.
  size_t size() const { return ends_.size(); }

  // {"dont": [2, 4], "b/c": [3]}: where the words end, in bytes.
  nlohmann::json json() const;
  // An Error where it is not what json() gives.
  static Partings from_json(const nlohmann::json& json);

 private:
  using Ends = std::vector<int32_t>;
  std::map<std::string, Ends, std::less<>> ends_;
  size_t longest_ = 0;  // bytes
};

}  // namespace fovea
