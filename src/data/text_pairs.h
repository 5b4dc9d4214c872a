// Two texts and what holds between them: entailment, duplicates, questions and their answers. Or a
// text and a record of numbers: a note and what was measured.
#pragma once

#include <string>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

struct TextPair {
  std::string first, second, label;  // the texts, and what holds between them
  std::vector<double> numbers{};     // in the place of the second text; NaN: not known
};

// Roles label, a and b of any file that RecordReader takes.
std::vector<TextPair> read_text_pairs(const std::string& path, const ReadOptions& options,
                                      ReadSummary* summary = nullptr);

// Texts with a record beside each.
struct TextRecords {
  std::vector<TextPair> pairs;     // without a second text
  std::vector<std::string> names;  // of the numbers; "column 3" where the file has none
};
// Roles label, a and numbers; an Error where no column has numbers.
TextRecords read_text_records(const std::string& path, const ReadOptions& options,
                              ReadSummary* summary = nullptr);
// Whether a file is such a one: its columns say numbers=, or nothing, and beside a label it has one
// text and numbers that do not just count its rows. Columns that are named as two texts are, are.
bool has_records(const std::string& path, const ReadOptions& options);

// Numbers with commas or spaces between them, `count` of them; "?" is one that is not known. An
// Error that begins with `where` for anything else.
std::vector<double> record_of(const std::string& where, std::string_view text, size_t count);
// And back.
std::string record_text(const std::vector<double>& numbers);

}  // namespace fovea
