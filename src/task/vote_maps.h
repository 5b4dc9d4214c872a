// What a linear model's words say for its answer and against it, as maps that can be drawn.
#pragma once

#include <functional>

#include "fovea/data/feature_words.h"
#include "fovea/data/ngrams.h"
#include "fovea/task/maps.h"

namespace fovea {

// What each of so many tokens says: the sum of what the groups of words and letters that it is part
// of say, shared out evenly. vote(feature): what a feature of value 1 says.
std::vector<double> votes_of_tokens(const Ngrams& ngrams, const FeatureWords& words, size_t tokens,
                                    const std::function<double(int32_t feature)>& vote);

// One map of what is above 0 and one of what is below, each of sum 1, asked for by the answer.
std::vector<AttentionMap> vote_maps(const std::string& answer, std::span<const double> votes,
                                    const PlacedTokens& tokens, const std::string& above = "for",
                                    const std::string& below = "against");

}  // namespace fovea
