#include "fovea/task/vote_maps.h"

#include <algorithm>

namespace fovea {

std::vector<double> votes_of_tokens(const Ngrams& ngrams, const FeatureWords& words, size_t tokens,
                                    const std::function<double(int32_t feature)>& vote) {
  std::vector<double> says(tokens, 0);
  for (const Ngrams::Place& place : ngrams.places(words.words)) {
    const double one =
        vote(place.id) * static_cast<double>(place.value) / (place.last - place.first + 1);
    for (int32_t i = place.first; i <= place.last; ++i) {
      const int32_t token = words.tokens.empty() ? i : words.tokens[static_cast<size_t>(i)];
      if (token >= 0 && token < static_cast<int32_t>(tokens))
        says[static_cast<size_t>(token)] += one;
    }
  }
  return says;
}

std::vector<AttentionMap> vote_maps(const std::string& answer, std::span<const double> votes,
                                    const PlacedTokens& tokens, const std::string& above,
                                    const std::string& below) {
  std::vector<AttentionMap> maps;
  for (double sign : {1.0, -1.0}) {
    AttentionMap map;
    map.name = sign > 0 ? above : below;
    map.queries = {answer};
    map.keys = tokens.pieces;
    map.key_places = tokens.places;
    double sum = 1e-12;
    for (double one : votes) sum += std::max(0.0, sign * one);
    for (double one : votes)
      map.weights.push_back(static_cast<float>(std::max(0.0, sign * one) / sum));
    maps.push_back(std::move(map));
  }
  return maps;
}

}  // namespace fovea
