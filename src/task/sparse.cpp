#include "fovea/task/sparse.h"

#include "fovea/base/parallel.h"
#include "fovea/base/utf8.h"
#include "fovea/model/linear/classifier.h"

namespace fovea {

Ngrams learn_ngrams(const Settings& settings, size_t bytes, int64_t texts,
                    const std::function<std::vector<std::string>(int64_t)>& words_of) {
  const LinearModelOptions o = linear_model_fields().read(settings);
  NgramOptions options{.words = o.ngram_words, .letters = o.ngram_letters, .least = o.ngram_least};
  // Groups of letters help where there is little to learn from, and cost most where there is much.
  if (options.letters < 0) options.letters = bytes < 8'000'000 ? 5 : 0;
  return Ngrams::learn(options, texts, words_of);
}

std::vector<std::string> lower_words(const Tokenizer& tokens, const std::string& text) {
  std::vector<std::string> all;
  for (const Token& token : tokens.pieces_with_places(text)) {
    all.push_back(to_lowercase(token.text));
  }
  return all;
}

SparseRows sparse_rows(int64_t rows,
                       const std::function<std::vector<Ngrams::Value>(int64_t)>& values_of) {
  std::vector<std::vector<Ngrams::Value>> all(static_cast<size_t>(rows));
  parallel_for(rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) all[static_cast<size_t>(i)] = values_of(i);
  });
  int64_t elements = 0;
  for (const auto& row : all) elements += static_cast<int64_t>(row.size());
  check(elements < int64_t{1} << 31, "linear model: ", elements,
        " features in all texts are too many; give a smaller ngram_letters");
  SparseRows made{Tensor({rows + 1}, Dtype::i32), Tensor({elements}, Dtype::i32),
                  Tensor({elements})};
  auto offsets = made.offsets.write<int32_t>();
  auto ids = made.ids.write<int32_t>();
  auto values = made.values.write();
  size_t at = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    offsets[i] = static_cast<int32_t>(at);
    for (const auto& one : all[i]) ids[at] = one.id, values[at++] = one.value;
    all[i] = {};
  }
  offsets[all.size()] = static_cast<int32_t>(at);
  return made;
}

}  // namespace fovea
