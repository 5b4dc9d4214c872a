// From the features of data/ to the sparse rows that linear models read.
#pragma once

#include <functional>

#include "fovea/base/settings.h"
#include "fovea/data/ngrams.h"
#include "fovea/model/inputs.h"

namespace fovea {

// The options of a linear model that say which n-grams it reads.
NgramOptions ngram_options(const Settings& settings);

// Row i holds values_of(i); asked for on all threads.
SparseRows sparse_rows(int64_t rows,
                       const std::function<std::vector<Ngrams::Value>(int64_t)>& values_of);

}  // namespace fovea
