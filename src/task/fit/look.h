// What the beginning of a file tells, and what a table of that kind is for.
#pragma once

#include <string>
#include <vector>

#include "fovea/data/dialect.h"
#include "fovea/task/fit/forms.h"
#include "fovea/task/fit/inference.h"

namespace fovea {

struct Look {
  // Of a table or plain text; left empty where the file is CoNLL or of a form that is known.
  Dialect dialect;
  std::vector<ColumnInfo> columns;
  bool conll = false;  // words below each other
  FoundForm form;      // without a task: none that is known, or none was looked for
};

// Where the task is said, forms that tell another are not looked for.
Look look_at(const std::string& path, bool task_said);

// Rows whose columns have names, or tabs between them: what no line of a plain text looks like.
bool is_table(const Look& look);

// Of a table: label and text, two texts, numbers, or a task that the names of its columns tell.
void infer_table(const std::string& path, const Look& look, FitData& data);

}  // namespace fovea
