// From the features of data/ to the sparse rows that linear models read.
#pragma once

#include <functional>

#include "fovea/base/settings.h"
#include "fovea/data/ngrams.h"
#include "fovea/data/tokenizer.h"
#include "fovea/model/inputs.h"

namespace fovea {

// Whether the chosen model reads n-grams.
inline bool reads_ngrams(const Settings& settings) { return settings.has("ngram_words"); }

// Those that the chosen model's options ask for, of texts that have so many bytes together.
// words_of(i): of text i, as Ngrams::learn() takes them.
Ngrams learn_ngrams(const Settings& settings, size_t bytes, int64_t texts,
                    const std::function<std::vector<std::string>(int64_t)>& words_of);

// Its tokens in lower case, as many as encode(text) gives. All of them, whatever `longest` is:
// n-grams cost little.
std::vector<std::string> lower_words(const Tokenizer& tokens, const std::string& text);

// Row i holds values_of(i); asked for on all threads.
SparseRows sparse_rows(int64_t rows,
                       const std::function<std::vector<Ngrams::Value>(int64_t)>& values_of);

}  // namespace fovea
