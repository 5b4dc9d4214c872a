// Sequences whose answer a simple program gives: what memories are tried on. A problem is a line of
// text, "1011 0110" to be copied; an algorithm draws such lines, and lays one out as steps with the
// answer that is wanted, whoever wrote it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct AlgorithmOptions {
  int64_t bits = 8;      // of a vector
  int64_t symbols = 32;  // that there are
  int64_t most = 10;     // repeats
};

// One problem, step by step.
struct StepSequence {
  std::vector<float> steps;        // [T, inputs]
  std::vector<int64_t> asked;      // steps whose answer is wanted
  std::vector<float> bits{};       // [asked, outputs]: what is wanted, 0 or 1,
  std::vector<int32_t> symbols{};  // or which symbol
  std::vector<float> known{};      // n-gram: the probability of a 1 that the best estimator gives
};

// A kind of problem: how its lines are drawn, and how one becomes steps.
struct Algorithm {
  std::string name, help;  // "copy", as in builtin:copy, and what is wanted, for a list of them
  bool in_bits;            // answers are bits; else symbols
  // Columns of a step, in and out.
  int64_t (*inputs)(const AlgorithmOptions&);
  int64_t (*outputs)(const AlgorithmOptions&);
  // A problem of that length. Problems that draw the same `shape` have equally many steps and
  // answers.
  std::string (*draw)(const AlgorithmOptions&, int64_t length, Random shape, Random random);
  // A line that is no such problem is an Error.
  StepSequence (*lay)(const AlgorithmOptions&, const std::string& line);
  std::string (*symbol)(int64_t symbol);  // how an answer writes it
  std::string unit;                       // of a length
  std::string lengths, measured;          // to train and to test on, if no others are said
  std::vector<std::string> options{};     // that it reads: of bits, symbols, repeats
};
// All that are built in.
const std::vector<Algorithm>& algorithms();
// An unknown name is an Error that suggests the nearest.
const Algorithm& find_algorithm(std::string_view name);

// Problems of equally many steps and answers, side by side.
struct StepBatch {
  Tensor steps;  // [T, B, inputs]
  Tensor
      asked;  // int32 [n]: rows t B + b whose answer is wanted, the k-th of each sequence together
  Tensor bits{};     // [n, outputs]
  Tensor symbols{};  // int32 [n]
  Tensor known{};    // [n]
};
// The problems of some lines. Having no line is an Error, as are problems of unequally many steps
// or answers.
StepBatch batch_of(const Algorithm& of, const AlgorithmOptions& o,
                   std::span<const std::string> lines);

// Lengths as an option says them: "1-20", or "8,16,32".
std::vector<int64_t> lengths_of(const std::string& option, const std::string& text);

// A row of bits as text, 0110: what is above a half is a 1.
std::string text_of_bits(std::span<const float> row);

namespace algorithm {

// What the files of algorithms share: the words of a line, at spaces.
std::vector<std::string> words_of(const std::string& line);
// Bits of a vector written as 0110; a word that is not such a one is an Error that begins with
// `name`. Then one that is drawn, as it is written.
std::vector<float> vector_of(const std::string& name, const std::string& word, int64_t bits);
std::string random_vector(int64_t bits, Random& random);
// The number that a word is; an Error that begins with `name` unless it is from 0 to below - 1.
int64_t number_in(const std::string& name, const std::string& word, int64_t below);

// The parts of algorithms().
std::vector<Algorithm> of_bits();       // vectors of bits: Graves, Wayne, Danihelka 2014
std::vector<Algorithm> of_symbols();    // transductions: Grefenstette et al. 2015
std::vector<Algorithm> of_languages();  // counting languages: Joulin, Mikolov 2015
std::vector<Algorithm> of_cells();      // random access: Kurach, Andrychowicz, Sutskever 2016

// Steps that are filled in one after the other.
struct Steps {
  Steps(int64_t width, int64_t count) : inputs(width), all(static_cast<size_t>(width * count)) {}
  // The next step, of zeros, to be written to.
  float* next() { return all.data() + inputs * at++; }
  // A step that is 0 but for a 1 in that column.
  void mark(int64_t column) { next()[column] = 1; }
  int64_t inputs, at = 0;  // columns of a step, and the number of the step that is next
  std::vector<float> all;  // [count, inputs]
};

}  // namespace algorithm
}  // namespace fovea
