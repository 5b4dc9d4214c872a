// What `predict` is asked: lines of stdin or of a file, or the records of a table.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/data/records.h"
#include "fovea/task/solver.h"

namespace fovea::cli {

struct Question {
  std::string path;
  int64_t line = 0;
  std::string text, error;  // error: why there is no text

  // A blank line has no answer, and is no mistake.
  bool is_asked() const {
    return error.empty() && text.find_first_not_of(" \t\r") != std::string::npos;
  }
};

class Questions {
 public:
  // Lines as they come; where the settings say columns, or a format, or a file names its columns,
  // records with the part that the task is asked with.
  Questions(const Solver& solver, const std::string& path, const Settings& said);

  // Appends the next one, and before it those that cannot be read; false behind the last.
  bool next(std::vector<Question>& to);
  // Whether a further one is there already.
  bool has_line() const;

 private:
  std::optional<LineReader> lines_;
  std::optional<RecordReader> records_;
  bool numbers_ = false, two_texts_ = false;
  bool takes_json_ = true;  // or it was said that lines are not read as JSON
  std::shared_ptr<std::vector<Question>> bad_;
};

}  // namespace fovea::cli
