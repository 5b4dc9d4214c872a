#include "fovea/data/text_pairs.h"

namespace fovea {

std::vector<TextPair> read_text_pairs(const std::string& path, const ReadOptions& options,
                                      ReadSummary* summary) {
  RecordReader records(path, {{"label", Role::Kind::label}, {"a"}, {"b"}}, options);
  std::vector<TextPair> all;
  while (records.next()) {
    all.push_back(
        {std::string(records.text(1)), std::string(records.text(2)), std::string(records.text(0))});
  }
  if (summary != nullptr) *summary = records.summary();
  return all;
}

}  // namespace fovea
