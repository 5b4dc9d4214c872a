// Passages and questions about them. What a passage answers is a part of it, or one of several
// candidates (a cloze: the question has a blank). Formats, told by content:
//   SQuAD        the JSON of SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018): articles, paragraphs,
//                questions with their answers, `is_impossible` where the paragraph has none
//   cloze files  CBT's (Hill et al. 2016): "1 sentence" ... "21 question with XXXXX<TAB>answer<TAB>
//                <TAB>candidate|candidate|...", a blank line between; and a folder of CNN's and
//                Daily Mail's (Hermann et al. 2015), a `.question` file for each
//   tables       TSV, CSV and JSON lines with the roles passage, question, answer, and candidates
//                of a cloze; several answers or candidates are a list of JSON, or stand between |
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/data/records.h"

namespace fovea {

// An answer as people gave it, and where it begins in its passage.
struct PassageAnswer {
  std::string text;    // a part of the passage, or a candidate
  int64_t begin = -1;  // in bytes; -1: not there, as the answer of a cloze need not be
};

// A question, what it is about, and what is right.
struct PassageQuestion {
  std::string id{};                              // "" where there is none
  std::shared_ptr<const std::string> passage{};  // its questions may share it
  std::string question{};                        // of a cloze: with a blank
  std::vector<PassageAnswer> answers{};   // any of them is right; none: the passage has no answer
  std::vector<std::string> candidates{};  // of a cloze that names them
  bool may_be_unanswered = false;         // the file has questions that no passage answers
};

// Whether the file holds clozes: questions with a blank that are answered by a candidate.
bool holds_cloze(const std::string& path, const ReadOptions& options);

// Questions whose answer is a part of the passage. One whose answer is not is an Error, or left out
// and counted with options.skip_bad, as is one whose id came before; a record without an answer is
// one too, unless it says is_impossible or has an empty list.
std::vector<PassageQuestion> read_passages(const std::string& path, const ReadOptions& options,
                                           ReadSummary* summary = nullptr);
// Questions whose answer is one of the candidates; where a file names none, one of the words of the
// passage, of which those that begin with @entity are the only ones if there are any.
std::vector<PassageQuestion> read_clozes(const std::string& path, const ReadOptions& options,
                                         ReadSummary* summary = nullptr);

// What stands for the blank of a cloze, in the order in which it is looked for.
std::span<const std::string_view> blanks();
// Whether there is one of them in the question.
bool has_blank(std::string_view question);

// The distinct words that a cloze without candidates chooses among, as they stand in the passage.
std::vector<std::string> candidates_in(std::string_view passage);

// builtin:cloze: who did what to whom, every name an @entity that means nothing outside of its
// story; the question says it in other words with a blank in the place of one.
std::vector<PassageQuestion> generate_clozes(int64_t n, Random random);
// builtin:facts: where and when people were born, what they do and where they live, and a question
// about one of them.
std::vector<PassageQuestion> generate_facts(int64_t n, Random random);

}  // namespace fovea
