// Two texts and what holds between them: entailment, duplicates, questions and their answers.
#pragma once

#include <string>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

struct TextPair {
  std::string first, second, label;
};

// Roles label, a and b of any file that RecordReader takes.
std::vector<TextPair> read_text_pairs(const std::string& path, const ReadOptions& options,
                                      ReadSummary* summary = nullptr);

}  // namespace fovea
