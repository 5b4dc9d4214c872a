// Starting a model from word vectors: the options vectors and tune_vectors.
#pragma once

#include "fovea/data/tokenizer.h"
#include "fovea/task/maps.h"
#include "fovea/task/solver.h"

namespace fovea {

// The most frequent words of the vectors, which stand first in the files, join the vocabulary
// though no example has them: what is asked later may. Adds texts that hold them; none without
// vectors.
void add_vector_words(const Config& config, std::vector<std::string>& texts);

// Rows of the embeddings take the vector of their word, or of the word in lower case; others keep
// their first values. Of several sets of vectors each has an embedding of its own.
void start_from_vectors(const Config& config, const Parameters& parameters,
                        const Tokenizer& tokens);

// The sets by the names of their files, without folders and endings; two that are the same then
// have numbers.
std::vector<std::string> vector_set_names(const Config& config);

// Maps of an answer with the share of each set of vectors in the words of texts that were read, in
// the order in which they were: a row for each set. Without several sets they stay as they are.
std::vector<AttentionMap> with_vector_shares(std::vector<AttentionMap> maps,
                                             const Recorder& recorder, const Config& config,
                                             const std::vector<PlacedTokens>& texts);

}  // namespace fovea
