// Every mechanism, in one table: the command line, the tests, the benchmarks and the page of
// mechanisms are all made from it.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention/align.h"
#include "fovea/attention/contract.h"
#include "fovea/base/fields.h"
#include "fovea/nn/scope.h"

namespace fovea {

// What a mechanism promises; tests/conformance_test.cpp holds every entry to its list.
enum class Law {
  rows_sum_to_one,    // the weights of a query that may look at something
  causal,             // under a causal pattern a later key changes no earlier context
  permutation,        // keys and values in another order give the same contexts
  padding,            // keys beyond the lengths change nothing
  nothing_is_zero,    // a query that may look at nothing: zero context, finite gradients
  steps_equal_whole,  // one query at a time gives what all at once do
};
std::string name_of(Law law);

// What the parts of a mechanism can be told. Sizes come from the data; the rest are options.
struct MechanismOptions {
  int64_t d_q = 0, d_k = 0;  // features of queries and keys
  int64_t width = 64;        // hidden features of additive scores
  std::string act = "tanh";  // tanh, sigmoid, relu
  double beta = 1;           // sharpness of the cosine score: its first value
  double h = 1;              // width of the kernel: its first value
  int64_t longest = 512;     // keys that a location score serves
  double alpha = 1.5;        // of entmax
  int64_t reach = 10;        // D of local alignments
};
const Fields<MechanismOptions>& mechanism_fields();

struct Entry {
  enum class Kind { score, alignment };
  std::string id;  // as in the literature's tables: "G6", "A5"
  std::string name;
  Kind kind;
  std::string title, paper, equation;
  std::vector<std::string> options;  // which of the fields it reads
  std::vector<Law> laws;
  // One of these, by kind.
  std::function<Score(Scope, const MechanismOptions&)> score{};
  std::function<Alignment(Scope, const MechanismOptions&)> alignment{};
  // Alignments that are a softmax under a pattern.
  std::function<Pattern(const MechanismOptions&)> pattern{};
};

const std::vector<Entry>& catalog();
// Unknown names are an error that suggests the nearest.
const Entry& find_entry(Entry::Kind kind, std::string_view name);

}  // namespace fovea
