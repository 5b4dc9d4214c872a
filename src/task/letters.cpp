#include "fovea/task/letters.h"

#include <cstdlib>

#include "fovea/base/utf8.h"
#include "fovea/model/inputs.h"

namespace fovea {

std::vector<int32_t> letters_of(const std::vector<std::string>& words) {
  constexpr int64_t n = letters_of_word;
  std::vector<int32_t> all;
  for (const std::string& word : words) {
    std::vector<int32_t> of;
    for (std::string_view letter : code_points(word))
      of.push_back(std::abs(first_code_point(letter).value));
    if (std::ssize(of) > n) of.erase(of.begin() + n / 2, of.end() - (n - n / 2));
    of.resize(n);
    all.insert(all.end(), of.begin(), of.end());
  }
  return all;
}

Tensor letter_rows(const std::vector<int32_t>& letters) {
  return Tensor::of({std::ssize(letters) / letters_of_word, letters_of_word}, letters);
}

}  // namespace fovea
