// Word vectors as word2vec and GloVe write them: a word and its numbers a line, with or without a
// first line "words width". Plain or packed; read once, and only what is asked for is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace fovea {

// Numbers of a vector: told by the first line.
int64_t vectors_width(const std::string& path);

// Calls take(word, numbers) for every line for which wants(word) holds, in the file's order, until
// take gives false. A line with another number of numbers, or what is no number, is an Error with
// file and line.
void read_vectors(const std::string& path, const std::function<bool(std::string_view word)>& wants,
                  const std::function<bool(std::string_view word, std::span<const float>)>& take);

}  // namespace fovea
