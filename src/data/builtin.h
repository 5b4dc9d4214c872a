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

// Records of numbers with a note that says which of them counts: "high" or "low".
TextRecords generate_records(int64_t n, Random random);

// Nested lists of digits under MIN, MAX, MED (the median, rounded down) and SM (the sum modulo 10),
// of so many tokens; the label is the value. A node is an operator with probability 1/4, has 2 to
// 10 parts, and is at most 10 deep.
std::vector<Labelled> generate_listops(int64_t n, int64_t shortest, int64_t longest, Random random);

// Pictures of side x side greys as a line of letters, from '.' (nothing) over 1 to f. Two dots and
// three dashed paths: whether one path leads from dot to dot.
std::vector<Labelled> generate_pathfinder(int64_t n, int64_t side, Random random);
// The same form: which shape is there, at any place, in any size and brightness.
std::vector<Labelled> generate_shapes(int64_t n, int64_t side, Random random);

// Two texts of so many letters: whether they are about the same thing, which few words tell.
std::vector<TextPair> generate_documents(int64_t n, int64_t length, Random random);

}  // namespace fovea
