#include "fovea/data/algorithms.h"

#include <charconv>
#include <sstream>

#include "fovea/base/fields.h"

namespace fovea {
namespace algorithm {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<float> vector_of(const std::string& name, const std::string& word, int64_t bits) {
  check(static_cast<int64_t>(word.size()) == bits &&
            word.find_first_not_of("01") == std::string::npos,
        name, ": needs vectors of ", bits, " bits such as ", std::string(bits, '0'), ", got '",
        word, "'");
  std::vector<float> v;
  for (char c : word) v.push_back(c == '1' ? 1.0f : 0.0f);
  return v;
}

std::string random_vector(int64_t bits, Random& random) {
  std::string word;
  for (int64_t i = 0; i < bits; ++i) word += random.below(2) ? '1' : '0';
  return word;
}

int64_t number_in(const std::string& name, const std::string& word, int64_t below) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  check(error == std::errc() && end == word.data() + word.size() && number >= 0 && number < below,
        name, ": needs numbers from 0 to ", below - 1, ", got '", word, "'");
  return number;
}

}  // namespace algorithm

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> all = [] {
    std::vector<Algorithm> list;
    for (auto part : {algorithm::of_bits, algorithm::of_symbols, algorithm::of_languages,
                      algorithm::of_cells}) {
      for (Algorithm& one : part()) list.push_back(std::move(one));
    }
    return list;
  }();
  return all;
}

const Algorithm& find_algorithm(std::string_view name) {
  std::vector<std::string> known;
  for (const Algorithm& one : algorithms()) {
    if (one.name == name) return one;
    known.push_back(one.name);
  }
  fail(unknown_name("algorithm", name, known));
}

StepBatch batch_of(const Algorithm& of, const AlgorithmOptions& o,
                   std::span<const std::string> lines) {
  check(!lines.empty(), of.name, ": needs at least one problem");
  std::vector<StepSequence> laid;
  for (const std::string& line : lines) laid.push_back(of.lay(o, line));
  const StepSequence& first = laid[0];
  const auto B = static_cast<int64_t>(laid.size());
  const int64_t in = of.inputs(o), out = of.outputs(o);
  const int64_t T = static_cast<int64_t>(first.steps.size()) / in;
  const auto asked = static_cast<int64_t>(first.asked.size());
  StepBatch batch{Tensor({T, B, in}), Tensor({asked * B}, Dtype::i32)};
  if (of.in_bits) {
    batch.bits = Tensor({asked * B, out});
  } else {
    batch.symbols = Tensor({asked * B}, Dtype::i32);
  }
  if (!first.known.empty()) batch.known = Tensor({asked * B});
  auto steps = batch.steps.write();
  auto rows = batch.asked.write<int32_t>();
  for (int64_t b = 0; b < B; ++b) {
    const StepSequence& one = laid[b];
    check(one.steps.size() == first.steps.size() && one.asked.size() == first.asked.size(), of.name,
          ": problems of a batch need equally many steps and answers");
    for (int64_t t = 0; t < T; ++t)
      std::copy_n(one.steps.begin() + t * in, in, steps.begin() + (t * B + b) * in);
    for (int64_t i = 0; i < asked; ++i) {
      rows[i * B + b] = static_cast<int32_t>(one.asked[i] * B + b);
      if (of.in_bits) {
        std::copy_n(one.bits.begin() + i * out, out,
                    batch.bits.write().begin() + (i * B + b) * out);
      } else {
        batch.symbols.write<int32_t>()[i * B + b] = one.symbols[i];
      }
      if (!one.known.empty()) batch.known.write()[i * B + b] = one.known[i];
    }
  }
  return batch;
}

std::vector<int64_t> lengths_of(const std::string& option, const std::string& text) {
  std::vector<int64_t> lengths;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    const auto dash = part.find('-');
    const int64_t from = whole_of(option, part.substr(0, dash));
    const int64_t to = dash == std::string::npos ? from : whole_of(option, part.substr(dash + 1));
    check(from >= 1 && to >= from && to <= 100'000, option,
          ": needs lengths such as 1-20 or 8,16,32, got '", text, "'");
    for (int64_t n = from; n <= to; ++n) lengths.push_back(n);
  }
  check(!lengths.empty(), option, ": needs lengths such as 1-20 or 8,16,32, got '", text, "'");
  std::ranges::sort(lengths);
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

std::string text_of_bits(std::span<const float> row) {
  std::string text;
  for (float x : row) text += x > 0.5f ? '1' : '0';
  return text;
}

}  // namespace fovea
