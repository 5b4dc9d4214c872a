// What is doubtful about the data, looked for before anything is learned: nothing is dropped, all
// of it is counted and said.
#pragma once

#include <string>
#include <vector>

#include "fovea/task/config.h"

namespace fovea {

struct Audit {
  // One kind of doubt.
  struct Finding {
    std::string what;                // one sentence with its count
    std::vector<std::string> shown;  // a few of them
  };
  std::vector<Finding> findings;                     // empty: nothing was found
  std::vector<std::string> facts;                    // "7,194 examples to learn from, ..."
  int64_t examples = 0, validations = 0, tests = 0;  // to learn from, to validate and test on
  double mean_words = 0, mean_letters = 0;           // of an input; letters are bytes
  int64_t labels = 0;      // different labels or tags that are learned from; 0: no such task
  bool entities = false;   // tags that mark them
  bool from_text = false;  // a number from a text
  // Of translate, the side that has more: different words that come often enough to be learned, the
  // part of all words that do not, and different letters.
  int64_t known_words = 0, letters = 0;
  double rare_words = 0;
};

// An Error where nothing can be learned: a single label, too few rows.
Audit audit_data(const Config& config);
// How much there is to learn from, and nothing more: no findings, no part but that.
Audit audit_sizes(const Config& config);

}  // namespace fovea
