// The tasks of Graves, Wayne, Danihelka, "Neural Turing Machines", 2014: copy, repeat-copy,
// associative recall, dynamic n-grams and priority sort.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "fovea/base/words.h"
#include "fovea/data/algorithms.h"

namespace fovea::algorithm {
namespace {

using O = AlgorithmOptions;

void put(Steps& steps, const std::vector<float>& v) { std::ranges::copy(v, steps.next()); }
void append(std::vector<float>& to, const std::vector<float>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::string draw_vectors(const O& o, int64_t length, Random, Random random) {
  std::vector<std::string> words;
  for (int64_t i = 0; i < length; ++i) words.push_back(random_vector(o.bits, random));
  return joined(words);
}

StepSequence lay_copy(const O& o, const std::string& line) {
  const auto words = words_of(line);
  const auto L = static_cast<int64_t>(words.size());
  check(L > 0, "copy: needs at least one vector");
  Steps steps(o.bits + 1, 2 * L + 1);
  StepSequence s;
  for (const std::string& word : words) {
    const auto v = vector_of("copy", word, o.bits);
    put(steps, v);
    append(s.bits, v);
  }
  steps.mark(o.bits);
  for (int64_t i = 0; i < L; ++i) s.asked.push_back(L + 1 + i);
  s.steps = std::move(steps.all);
  return s;
}

// "1011 0110 x3": the vectors, three times; the end is an answer too.
std::string draw_repeat(const O& o, int64_t length, Random shape, Random random) {
  return draw_vectors(o, length, shape, random) + " x" +
         std::to_string(1 + shape.below(static_cast<uint64_t>(o.most)));
}
StepSequence lay_repeat(const O& o, const std::string& line) {
  auto words = words_of(line);
  check(words.size() >= 2 && words.back().starts_with('x'),
        "repeat-copy: needs vectors and how often, as in '1011 0110 x3', got '", line, "'");
  const int64_t times = number_in("repeat-copy", words.back().substr(1), 1000);
  check(times >= 1, "repeat-copy: needs at least one repeat");
  words.pop_back();
  const auto L = static_cast<int64_t>(words.size());
  Steps steps(o.bits + 2, L + 1 + L * times + 1);
  StepSequence s;
  std::vector<std::vector<float>> vectors;
  for (const std::string& word : words) {
    vectors.push_back(vector_of("repeat-copy", word, o.bits));
    put(steps, vectors.back());
  }
  float* mark = steps.next();
  mark[o.bits] = 1;
  // Mean 0 and deviation 1 over the repeats that are trained.
  const double n = static_cast<double>(o.most);
  const double deviation = std::sqrt((n * n - 1) / 12);
  mark[o.bits + 1] =
      static_cast<float>((static_cast<double>(times) - (n + 1) / 2) / std::max(1.0, deviation));
  for (int64_t k = 0; k < times * L; ++k) append(s.bits, vectors[k % L]), s.bits.push_back(0);
  s.bits.resize(s.bits.size() + static_cast<size_t>(o.bits), 0);
  s.bits.push_back(1);
  for (int64_t i = 0; i <= times * L; ++i) s.asked.push_back(L + 1 + i);
  s.steps = std::move(steps.all);
  return s;
}

// Items of three vectors: "a a a | b b b | c c c ? b b b" asks for what comes after b.
constexpr int64_t item_size = 3;
std::string draw_recall(const O& o, int64_t length, Random, Random random) {
  std::vector<std::string> items;
  for (int64_t i = 0; i < length; ++i) {
    std::vector<std::string> item;
    for (int64_t k = 0; k < item_size; ++k) item.push_back(random_vector(o.bits, random));
    items.push_back(joined(item));
  }
  std::string line;
  for (const std::string& item : items) line += (line.empty() ? "" : " | ") + item;
  const uint64_t asked = length > 1 ? random.below(static_cast<uint64_t>(length - 1)) : 0;
  return line + " ? " + items[asked];
}
StepSequence lay_recall(const O& o, const std::string& line) {
  std::vector<std::vector<std::string>> items(1);
  size_t known = 0;  // items before the question
  for (const std::string& word : words_of(line)) {
    if (word != "|" && word != "?") {
      items.back().push_back(word);
      continue;
    }
    if (word == "?") known = items.size();
    items.emplace_back();
  }
  bool whole = known >= 2 && items.size() == known + 1;
  for (const auto& item : items) whole &= static_cast<int64_t>(item.size()) == item_size;
  check(whole, "recall: needs at least two items of ", item_size,
        " vectors, as in 'a a a | b b b ? a a a', got '", line, "'");
  const auto found =
      std::find(items.begin(), items.begin() + static_cast<int64_t>(known) - 1, items.back());
  check(found != items.begin() + static_cast<int64_t>(known) - 1,
        "recall: what is asked for is none of the items that another one follows");
  const auto n = static_cast<int64_t>(known);
  Steps steps(o.bits + 2, n * (1 + item_size) + 2 + 2 * item_size);
  for (int64_t i = 0; i <= n; ++i) {
    steps.mark(i < n ? o.bits : o.bits + 1);
    for (const std::string& word : items[i]) put(steps, vector_of("recall", word, o.bits));
  }
  steps.mark(o.bits + 1);
  StepSequence s;
  for (int64_t k = 0; k < item_size; ++k) {
    s.asked.push_back(steps.at + k);
    append(s.bits, vector_of("recall", (*(found + 1))[k], o.bits));
  }
  s.steps = std::move(steps.all);
  return s;
}

// Bits of a random 6-gram table: how likely a 1 is depends on the five bits before.
constexpr int64_t context = 5;
std::string draw_ngram(const O&, int64_t length, Random, Random random) {
  double table[1 << context];
  // Beta(1/2, 1/2) is the squared sine of a uniform angle.
  for (double& p : table) p = std::pow(std::sin(random.uniform() * std::numbers::pi / 2), 2);
  std::string bits;
  size_t before = 0;
  for (int64_t i = 0; i < length; ++i) {
    const double p = i < context ? 0.5 : table[before];
    const bool one = random.uniform() < p;
    bits += one ? '1' : '0';
    before = (before << 1 | (one ? 1 : 0)) & ((1 << context) - 1);
  }
  return bits;
}
StepSequence lay_ngram(const O&, const std::string& line) {
  const auto words = words_of(line);
  check(words.size() == 1 && words[0].size() > static_cast<size_t>(context) &&
            words[0].find_first_not_of("01") == std::string::npos,
        "n-gram: needs one word of more than ", context, " bits, got '", line, "'");
  const std::string& bits = words[0];
  const auto n = static_cast<int64_t>(bits.size());
  Steps steps(2, n);
  StepSequence s;
  double counts[1 << context][2] = {};
  size_t before = 0;
  for (int64_t i = 0; i < n; ++i) {
    const size_t bit = bits[i] == '1';
    if (i >= context) {  // the step before is asked
      double* seen = counts[before];
      s.asked.push_back(i - 1);
      s.bits.push_back(static_cast<float>(bit));
      s.known.push_back(static_cast<float>((seen[1] + 0.5) / (seen[0] + seen[1] + 1)));
      ++seen[bit];
    }
    steps.mark(static_cast<int64_t>(bit));
    before = (before << 1 | bit) & ((1 << context) - 1);
  }
  s.steps = std::move(steps.all);
  return s;
}

// "1011:0.25 0110:-0.75": vectors with priorities; the first four fifths of them, highest first.
std::string draw_sort(const O& o, int64_t length, Random, Random random) {
  std::ostringstream line;
  for (int64_t i = 0; i < length; ++i) {
    line << (i > 0 ? " " : "") << random_vector(o.bits, random) << ':' << 2 * random.uniform() - 1;
  }
  return line.str();
}
StepSequence lay_sort(const O& o, const std::string& line) {
  struct Item {
    std::vector<float> v;
    double priority;
  };
  std::vector<Item> items;
  for (const std::string& word : words_of(line)) {
    const auto colon = word.find(':');
    check(colon != std::string::npos,
          "sort: needs vectors with priorities such as 1011:0.25, got '", word, "'");
    char* end = nullptr;
    const std::string number = word.substr(colon + 1);
    const double priority = std::strtod(number.c_str(), &end);
    check(!number.empty() && *end == 0 && std::isfinite(static_cast<float>(priority)), "sort: '",
          number, "' is not a priority");
    items.push_back({vector_of("sort", word.substr(0, colon), o.bits), priority});
  }
  const auto L = static_cast<int64_t>(items.size()), wanted = std::max<int64_t>(1, L * 4 / 5);
  check(L > 0, "sort: needs at least one vector");
  Steps steps(o.bits + 2, L + 1 + wanted);
  for (const Item& item : items) {
    float* to = steps.next();
    std::ranges::copy(item.v, to);
    to[o.bits] = static_cast<float>(item.priority);
  }
  steps.mark(o.bits + 1);
  std::ranges::stable_sort(items, std::greater(), &Item::priority);
  StepSequence s;
  for (int64_t i = 0; i < wanted; ++i) {
    append(s.bits, items[i].v);
    s.asked.push_back(L + 1 + i);
  }
  s.steps = std::move(steps.all);
  return s;
}

}  // namespace

std::vector<Algorithm> of_bits() {
  const auto plus1 = [](const O& o) { return o.bits + 1; };
  const auto plus2 = [](const O& o) { return o.bits + 2; };
  const auto same = [](const O& o) { return o.bits; };
  const auto one = [](const O&) { return int64_t{1}; };
  const auto two = [](const O&) { return int64_t{2}; };
  return {{"copy",
           "vectors of bits, to be written again",
           true,
           plus1,
           same,
           draw_vectors,
           lay_copy,
           nullptr,
           "vectors",
           "1-20",
           "10,20,40,80,120",
           {"bits"}},
          {"repeat-copy",
           "the same several times, and then an end mark",
           true,
           plus2,
           plus1,
           draw_repeat,
           lay_repeat,
           nullptr,
           "vectors",
           "1-10",
           "5,10,20",
           {"bits", "repeats"}},
          {"recall",
           "items of three vectors: which one came after this?",
           true,
           plus2,
           same,
           draw_recall,
           lay_recall,
           nullptr,
           "items",
           "2-6",
           "2,4,6,10,15",
           {"bits"}},
          {"n-gram", "the next bit of a random 6-gram, learned on the way", true, two, one,
           draw_ngram, lay_ngram, nullptr, "bits", "200", "200"},
          {"sort",
           "vectors by their priorities, the first four fifths",
           true,
           plus2,
           same,
           draw_sort,
           lay_sort,
           nullptr,
           "vectors",
           "20",
           "20",
           {"bits"}}};
}

}  // namespace fovea::algorithm
