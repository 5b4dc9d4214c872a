// What the readers of passages have in common: which questions are good ones.
#pragma once

#include <unordered_set>

#include "fovea/data/passages.h"

namespace fovea {

class PassageCollector {
 public:
  PassageCollector(std::string path, bool skip_bad);

  // Finds where the answers stand; refuses a question without words, whose id came before, or whose
  // answer is not in its passage (of a cloze: none of its candidates). `where` names it: "line 7".
  void add(PassageQuestion question, bool cloze, const std::string& where, int64_t line = 0);
  // An Error of this problem; with skip_bad, it is counted.
  void refuse(const std::string& where, const std::string& problem, int64_t line = 0);

  // What is told about the file; the rows are counted here.
  ReadSummary summary{};
  // All that were good; an Error when none was.
  std::vector<PassageQuestion> finish(ReadSummary* to);

 private:
  std::string problem_of(PassageQuestion& question, bool cloze);

  bool skip_bad_;
  std::vector<PassageQuestion> all_;
  std::unordered_set<std::string> ids_;
};

// SQuAD's JSON.
void parse_squad(std::string_view text, PassageCollector& to);
// CBT's lines, and a folder of CNN's files.
void read_cbt(const std::string& path, PassageCollector& to);
void read_cnn(const std::string& folder, PassageCollector& to);

}  // namespace fovea
