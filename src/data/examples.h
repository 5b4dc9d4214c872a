// Examples to learn from, read from files: pairs of texts, tagged words, labelled texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

// Half open, in code points of the source; from < 0: not known.
struct Span {
  int32_t from = -1, to = -1;
  bool operator==(const Span&) const = default;
};

struct Pair {
  std::string source, target;
  // For every code point of the target the part of the source that it comes from; empty when not
  // known.
  std::vector<Span> truth{};
};

struct Tagged {
  std::vector<std::string> words, tags;  // equally many
};

struct Labelled {
  std::string text, label;
};

// `source<TAB>target` lines, or two parallel files of equally many lines: "a.de,a.en". Blank lines
// are passed over (in parallel files: lines blank in both); an empty side is an Error.
std::vector<Pair> read_pairs(const std::string& path);

// CoNLL: columns separated by spaces or tabs, the word first, a blank line between sentences,
// -DOCSTART- passed over; or CoNLL-U, known by ten columns separated by tabs, whose comments,
// multiword ranges (1-2) and empty nodes (1.1) are passed over. `column` holds the tag: "" is the
// last column of CoNLL and upos of CoNLL-U; a number counts from 1; CoNLL-U's columns have names
// (id form lemma upos xpos feats head deprel deps misc).
std::vector<Tagged> read_tagged(const std::string& path, const std::string& column);

// By its name a file is CSV (.csv, also .csv.gz and .csv.xz) of label,text with quotes as RFC 4180
// has them; else `label<TAB>text` lines, where a field that starts and ends with a quote is
// unquoted; without a tab in the whole file, the label ends at the first space of a line. A first
// line that names the columns (label or sentiment; text, sentence or review; in either order) is
// obeyed. `columns`, such as "1,4", says where in wider rows the label and the text are.
std::vector<Labelled> read_labelled(const std::string& path, const std::string& columns = "");

}  // namespace fovea
