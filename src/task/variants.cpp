#include "fovea/task/variants.h"

#include <algorithm>

#include "fovea/data/passages.h"

namespace fovea {
namespace {

// Text and no numbers but the target.
bool holds_text(const std::string& path, const ReadOptions& options) {
  int64_t numbers = 0, texts = 0;
  for (const ColumnInfo& column : look_into(path, options).summary.columns) {
    numbers += column.numeric;
    texts += !column.numeric && column.mean_length > 8;
  }
  return numbers == 1 && texts > 0;
}

// A column of films instead of pictures.
bool holds_films(const std::string& path, const ReadOptions& options) {
  return std::ranges::any_of(look_into(path, options).summary.columns,
                             [](const ColumnInfo& column) { return column.name == "frames"; });
}

}  // namespace

// Step by step: g++ 12 takes a temporary of it for one that is not set.
TaskVariant regress_from_text(std::vector<std::string> files) {
  TaskVariant variant;
  variant.takes = Takes::text;
  variant.gives = Gives::number;
  variant.column = "text";
  variant.is_in = holds_text;
  variant.roles = {{"target", Role::Kind::number}, {"text"}};
  variant.question.name = "text";
  for (const char* name : {"tokens", "lowercase", "min_count", "vocabulary", "longest"}) {
    files.emplace_back(name);
  }
  variant.data_options = std::move(files);
  variant.defaults = {{"tokens", "auto"}, {"dropout", "0.3"}, {"width", "128"}};
  variant.budget = {{"time", "60s"}};
  return variant;
}

// Clozes: the answer is one of several candidates.
TaskVariant read_choices(std::vector<std::string> data) {
  TaskVariant variant;
  variant.takes = Takes::passage;
  variant.gives = Gives::choice;
  variant.column = "candidates";
  variant.is_in = holds_cloze;
  variant.roles = {{"passage"}, {"question"}, {"answer"}, {"candidates"}};
  variant.question.name = "passage";
  variant.data_options = std::move(data);
  variant.defaults = {{"tokens", "auto"}, {"batch", "32"}, {"clip", "10"},
                      {"embed", "64"},    {"width", "64"}, {"rate", "0.002"}};
  variant.budget = {{"time", "60s"}};
  return variant;
}

// Films instead of pictures.
TaskVariant caption_of_frames(std::vector<std::string> options) {
  TaskVariant variant;
  variant.takes = Takes::frames;
  variant.gives = Gives::tokens;
  variant.column = "frames";
  variant.is_in = holds_films;
  variant.roles = {{"frames", Role::Kind::list}, {"caption"}};
  variant.question.name = "frames";
  variant.question.kind = Role::Kind::list;
  variant.data_options = std::move(options);
  variant.defaults = {
      {"tokens", "auto"}, {"batch", "32"}, {"rate", "0.001"}, {"schedule", "cosine"}};
  variant.budget = {{"time", "120s"}};
  return variant;
}

}  // namespace fovea
