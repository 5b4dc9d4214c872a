#include "fovea/task/story_maps.h"

#include <algorithm>

#include "fovea/base/words.h"

namespace fovea {
namespace {

std::vector<std::string> counted(const char* what, int64_t n) {
  std::vector<std::string> names;
  for (int64_t i = 1; i <= n; ++i) names.push_back(what + std::to_string(i));
  return names;
}

// What a Transformer reads: the words, a mark behind each sentence; the newest of them.
MapLabels read_through(const StoryQuestion& asked, int64_t tokens) {
  std::vector<std::string> names;
  for (size_t i = 0; i < asked.sentences; ++i) {
    const Words& words = (*asked.story)[i].words;
    names.insert(names.end(), words.begin(), words.end());
    names.push_back(".");
  }
  names.insert(names.end(), asked.question.begin(), asked.question.end());
  names.erase(names.begin(), names.end() - std::min<int64_t>(tokens, std::ssize(names)));
  return {names, names};
}

}  // namespace

MapLabels story_labels(const Recorder& recorder, const std::string& map, const StoryQuestion& asked,
                       int64_t memory) {
  int64_t rows = 0, columns = 0;
  for (const auto& one : recorder.maps()) {
    if (!one.name.starts_with(map)) continue;
    rows += one.weights.rows.dim(2), columns = one.weights.rows.dim(3);
  }
  if (map.ends_with("slots")) return {{joined(asked.question)}, counted("slot ", columns)};
  if (map.ends_with("self")) return read_through(asked, columns);
  std::vector<std::string> sentences;
  for (size_t i = 0; i < asked.sentences; ++i) sentences.push_back(joined((*asked.story)[i].words));
  const int64_t n = std::ssize(sentences);
  if (memory > 0 && n > memory) sentences.erase(sentences.begin(), sentences.end() - memory);
  if (map.ends_with("gates")) return {sentences, counted("slot ", columns)};
  if (columns > std::ssize(sentences)) sentences.push_back("(nothing)");
  return {counted("hop ", rows), sentences};
}

}  // namespace fovea
