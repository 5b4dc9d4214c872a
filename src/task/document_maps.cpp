#include "fovea/task/document_maps.h"

#include "fovea/base/error.h"

namespace fovea {

std::vector<AttentionMap> document_maps(const Recorder& recorder, const std::string& label,
                                        const PlacedTokens& tokens,
                                        const std::vector<int32_t>& sentences) {
  const Tensor *words = nullptr, *weights = nullptr;  // [sentences, 1, 1, T] and [1, 1, 1, S]
  for (const auto& map : recorder.maps()) {
    if (map.name == "attention/0") words = &map.weights.rows;
    if (map.name == "attention/1") weights = &map.weights.rows;
  }
  if (words == nullptr || words->empty() || weights == nullptr || weights->empty()) return {};
  AttentionMap of_words{"words", {label}, tokens.pieces, {}},
      of_sentences{"sentences", {label}, {}, {}};
  of_words.key_places = tokens.places;
  int64_t sentence = -1, place = 0;
  for (size_t i = 0; i < tokens.pieces.size(); ++i) {
    if (i == 0 || sentences[i] != sentences[i - 1]) {
      ++sentence, place = 0;
      of_sentences.keys.push_back(say(sentence + 1, ": ", tokens.pieces[i]));
      of_sentences.weights.push_back(weights->read()[static_cast<size_t>(sentence)]);
      of_words.groups.push_back({i, of_sentences.weights.back()});
    }
    const float weight = words->read()[static_cast<size_t>(sentence * words->dim(3) + place++)];
    of_words.weights.push_back(weight * of_sentences.weights.back());
  }
  return {of_sentences, of_words};
}

std::vector<PlacedTokens> by_sentence(const PlacedTokens& tokens,
                                      const std::vector<int32_t>& sentences) {
  std::vector<PlacedTokens> all;
  for (size_t i = 0; i < tokens.pieces.size(); ++i) {
    if (i == 0 || sentences[i] != sentences[i - 1]) all.emplace_back();
    all.back().pieces.push_back(tokens.pieces[i]);
    all.back().places.push_back(tokens.places[i]);
  }
  return all;
}

}  // namespace fovea
