// What a model learns from, in numbers: examples, labels, lengths, unknown tokens.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace fovea {

struct DataReport {
  int64_t train = 0, dev = 0, test = 0;                 // examples; of a language model tokens
  std::string unit = "examples";                        // what train, dev and test count
  std::string split;                                    // how dev and test came to be
  std::vector<std::pair<std::string, int64_t>> labels;  // to learn from, the most frequent first
  std::vector<std::vector<std::string>> twins;    // labels that differ in case and spaces alone
  int64_t shortest = 0, median = 0, longest = 0;  // tokens of an example; 0: not known
  int64_t vocabulary = 0;                         // different tokens, 0 without
  double unknown = -1;                            // part of the tokens of dev; below 0: not known
  std::vector<std::string> files;                 // how each was read
};

// Fills labels and twins from how often each label comes.
void count_labels(DataReport& report, const std::map<std::string, int64_t>& counts);
// Fills shortest, median and longest; no lengths leave them as they are.
void take_lengths(DataReport& report, std::vector<int64_t> lengths);

// For people: at most one line each for labels, twins, and lengths with unknown tokens.
std::vector<std::string> lines_of(const DataReport& report);
// The same for programs.
nlohmann::json to_json(const DataReport& report);

}  // namespace fovea
