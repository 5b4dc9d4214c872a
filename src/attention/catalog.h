// Every mechanism, in one table: the command line, the tests, the benchmarks and the page of
// mechanisms are all made from it.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention/align.h"
#include "fovea/attention/contract.h"
#include "fovea/attention/position/positions.h"
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
  int64_t d_q = 0, d_k = 0, d_v = 0;  // features of queries, keys and values
  int64_t heads = 8;                  // of multi-head attention
  int64_t hops = 2;                   // of multi-hop attention
  int64_t width = 64;                 // hidden features of additive scores
  std::string act = "tanh";           // tanh, sigmoid, relu
  double beta = 1;                    // sharpness of the cosine score: its first value
  double h = 1;                       // width of the kernel: its first value
  int64_t longest = 512;              // keys that a location score serves
  double alpha = 1.5;                 // of entmax
  int64_t reach = 10;                 // D of local alignments
};
const Fields<MechanismOptions>& mechanism_fields();

// A whole mechanism, from queries, keys and values to contexts.
using Mechanism = std::function<AttentionOutput(const AttentionInputs&)>;

struct Entry {
  enum class Kind { score, alignment, position, query };
  std::string id;  // as in the literature's tables: "G6", "A5"
  std::string name;
  Kind kind;
  std::string title, paper, equation;
  std::vector<std::string> options{};  // which of the fields it reads
  std::vector<Law> laws{};
  // What it is made of: the part that models choose, by kind, ...
  std::function<Score(Scope, const MechanismOptions&)> score{};
  std::function<Alignment(Scope, const MechanismOptions&)> alignment{};
  // The pattern that an alignment brings with it, for queries that stand at `at` [B, Tq, H].
  std::function<Pattern(const MechanismOptions&, const Tensor& at)> pattern{};
  std::function<Positions(Scope, const MechanismOptions&)> positions{};
  // ... or a mechanism that is more than a choice of parts.
  std::function<Mechanism(Scope, const MechanismOptions&)> whole{};
};
std::string name_of(Entry::Kind kind);

// The entry as a mechanism that can be run; what it leaves open is the scaled product and softmax.
Mechanism make_mechanism(const Entry& entry, Scope s, const MechanismOptions& options);

// Where the queries of a whole sequence stand, for Entry::pattern: 0, 1, 2, ... [B, Tq, H].
Tensor query_places(int64_t B, int64_t Tq, int64_t H);

const std::vector<Entry>& catalog();
// Words may be joined with - or _. Unknown names are an error that suggests the nearest.
const Entry& find_entry(Entry::Kind kind, std::string_view name);

}  // namespace fovea
