// Words with their tags, from CoNLL columns, CoNLL-U, and whatever else has both.
#include "fovea/data/examples.h"

namespace fovea {

std::vector<Tagged> read_tagged(const std::string& path, const ReadOptions& options,
                                ReadSummary* summary) {
  RecordReader records(
      path,
      {{"words", Role::Kind::list}, {"tags", Role::Kind::list}, {"raw", Role::Kind::text, false}},
      options);
  std::vector<Tagged> sentences;
  while (records.next()) {
    const auto words = records.list(0), tags = records.list(1);
    sentences.push_back(
        {{words.begin(), words.end()}, {tags.begin(), tags.end()}, std::string(records.text(2))});
  }
  if (summary != nullptr) *summary = records.summary();
  return sentences;
}

std::vector<Tagged> read_tagged(const std::string& path, const std::string& column) {
  return read_tagged(path, ReadOptions{.encoding = "utf-8", .columns = column});
}

}  // namespace fovea
