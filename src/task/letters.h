// The letters of words, for models that read them without an alphabet.
#pragma once

#include <string>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// Code points, letters_of_word for each word: its first and last, 0 behind its end.
std::vector<int32_t> letters_of(const std::vector<std::string>& words);
// Such rows one below the other, as models have them: int32 [words, letters_of_word].
Tensor letter_rows(const std::vector<int32_t>& letters);

}  // namespace fovea
