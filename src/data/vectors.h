// Word vectors as word2vec and GloVe write them: text, a word and its numbers a line, with or
// without a first line "words width"; or word2vec's binary form, where that first line is followed
// by words and float32 numbers. Told by content, plain or packed. Read once, from start to end, and
// only what is asked for is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace fovea {

// Numbers of a vector: told by the first of them.
int64_t vectors_width(const std::string& path);

// Calls take(word, numbers) for every word for which wants(word) holds, in the file's order, until
// take gives false. A line with another number of numbers, what is no number, and a word that is
// wanted and comes twice, are an Error with file and line (or, of a binary file, the number of the
// word).
void read_vectors(const std::string& path, const std::function<bool(std::string_view word)>& wants,
                  const std::function<bool(std::string_view word, std::span<const float>)>& take);

}  // namespace fovea
