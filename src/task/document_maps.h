// What a model of documents looks at: its sentences, and the words of each.
#pragma once

#include "fovea/task/maps.h"

namespace fovea {

// Of the first document of a batch. A word counts as much as it does in its sentence, times what
// the sentence counts for: a weak sentence fades as a whole. sentences: of each token its own.
std::vector<AttentionMap> document_maps(const Recorder& recorder, const std::string& label,
                                        const PlacedTokens& tokens,
                                        const std::vector<int32_t>& sentences);

// The tokens of each sentence.
std::vector<PlacedTokens> by_sentence(const PlacedTokens& tokens,
                                      const std::vector<int32_t>& sentences);

}  // namespace fovea
