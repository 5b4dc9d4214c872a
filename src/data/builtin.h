// Examples that our own code makes, the same for the same random stream on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/data/aspects.h"
#include "fovea/data/examples.h"
#include "fovea/data/text_pairs.h"

namespace fovea {

// Dates as people write them -> ISO: "Thursday, 5th of March 1998" -> "1998-03-05". Slashes are
// month/day/year, dots day.month.year, two-digit years 1970 to 2069. The truth gives for each digit
// of year, month and day the part of the source that writes it; for dashes nothing.
std::vector<Pair> generate_dates(int64_t n, Random random);

// 3 to 20 letters or words, and the same backwards.
std::vector<Pair> generate_reverse(int64_t n, Random random);

// Sentences of a small grammar with parts of speech; words such as "can", "watch" and "saw" have
// more than one, which only the words around them tell.
std::vector<Tagged> generate_tags(int64_t n, Random random);

// Opinions, positive or negative, with negation, "but" and intensifiers, so that the words without
// their order do not tell.
std::vector<Labelled> generate_sentiment(int64_t n, Random random);

// What is said of two things in a sentence, never the same, and which of them is asked about: the
// sentence alone does not tell.
std::vector<Aspect> generate_aspects(int64_t n, Random random);

// Questions, each with four texts of which one answers it: "yes" or "no".
std::vector<TextPair> generate_answers(int64_t n, Random random);

}  // namespace fovea
