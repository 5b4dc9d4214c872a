// Examples to learn from, read from files: pairs of texts, tagged words, labelled texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

// Half open, in code points of the source; from < 0: not known.
struct Span {
  int32_t from = -1, to = -1;  // of code points, [from, to)
  bool operator==(const Span&) const = default;
};

// A text and what is to be made of it.
struct Pair {
  std::string source, target;  // as they stand in the file
  // For every code point of the target the part of the source that it comes from; empty when not
  // known.
  std::vector<Span> truth{};
};

// A sentence with a tag for each word.
struct Tagged {
  std::vector<std::string> words, tags;  // equally many
  std::string text{};                    // the sentence as it was written; empty when not known
};

// A text of a class.
struct Labelled {
  std::string text, label;  // as they stand in the file
};

// The readers below take any file that RecordReader takes; `summary`, if given, gets what was read.

// Roles source and target; or two parallel files of equally many lines: "a.de,a.en", where lines
// blank in both are passed over and a line blank in one is an Error.
std::vector<Pair> read_pairs(const std::string& path, const ReadOptions& options,
                             ReadSummary* summary = nullptr);

// Roles words, tags and, where there is one, raw: the sentence as it was written (CoNLL-U's comment
// "text"). By itself the tag is the last column of CoNLL and upos of CoNLL-U.
std::vector<Tagged> read_tagged(const std::string& path, const ReadOptions& options,
                                ReadSummary* summary = nullptr);

// Roles label and text; of two columns without names the first is the label unless content says
// otherwise, and of plain lines the label ends at the first space.
std::vector<Labelled> read_labelled(const std::string& path, const ReadOptions& options,
                                    ReadSummary* summary = nullptr);

// Role text, of whatever file; of plain text every line as it stands, the blank ones too.
std::vector<std::string> read_texts(const std::string& path, const ReadOptions& options,
                                    ReadSummary* summary = nullptr);

// The same for files in UTF-8, with nothing to say but the columns: "1,4" for label and text, a
// number or a name of CoNLL-U for the tags.
std::vector<Pair> read_pairs(const std::string& path);
std::vector<Tagged> read_tagged(const std::string& path, const std::string& column);
std::vector<Labelled> read_labelled(const std::string& path, const std::string& columns = "");

}  // namespace fovea
