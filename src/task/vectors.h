// Starting a model from word vectors: the options vectors and tune_vectors.
#pragma once

#include "fovea/data/tokenizer.h"
#include "fovea/task/solver.h"

namespace fovea {

// The most frequent words of the vectors, which stand first in the file, join the vocabulary though
// no example has them: what is asked later may. Adds texts that hold them; none without vectors.
void add_vector_words(const Config& config, std::vector<std::string>& texts);

// Rows of the embedding take the vector of their word, or of the word in lower case; others keep
// their first values.
void start_from_vectors(const Config& config, const Parameters& parameters,
                        const Tokenizer& tokens);

}  // namespace fovea
