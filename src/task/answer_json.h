// Answers as JSON, an object for each input, and as rows of a table.
#pragma once

#include "fovea/model/inputs.h"
#include "fovea/task/answer.h"

namespace fovea {

// {"line": 7, "answer": ..., ...}; of an input without an answer {"line": 7, "error": "..."}; of a
// blank one, which has no predictions, the answer is null. With several answers the best is there
// and all of them are under "answers". Written out as it goes: for a small tagger a tree of JSON
// values would cost as much as the answer.
void append_json(std::string& to, const Answered& answered, Gives gives, int64_t line);

// Columns with a tab between them: for labels a row each token, else one each answer. The names
// first; `labels` are those of a model that gives one label.
std::vector<std::string> answer_columns(Gives gives, const std::vector<std::string>& labels);
std::vector<std::vector<std::string>> answer_rows(const Answered& answered, Gives gives,
                                                  int64_t line,
                                                  const std::vector<std::string>& labels);

}  // namespace fovea
