#include "fovea/data/aspects.h"

#include <algorithm>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/rows.h"
#include "fovea/data/text_file.h"
#include "fovea/data/tokenizer_words.h"

namespace fovea {
namespace {

constexpr std::string_view mark = "$T$";

// A sentence, its phrase and its label, three lines an example.
std::vector<Aspect> read_three_lines(LineReader& reader) {
  const std::string& path = reader.path();
  std::vector<Aspect> all;
  std::string lines[3];
  int64_t filled = 0, first = 0;
  for_each_line(reader, [&](std::string_view line, int64_t number) {
    if (filled == 0 && trimmed(line).empty()) return;  // blank lines between examples
    if (filled == 0) first = number;
    lines[filled++] = trimmed(line);
    if (filled < 3) return;
    filled = 0;
    const std::string where = say(path, ":", first);
    check<ErrorKind::input>(lines[0].find(mark) != std::string::npos, where,
                            ": has no $T$ where its phrase stands; an example is a sentence with ",
                            "$T$, its phrase and its label, a line each");
    check<ErrorKind::input>(!lines[2].empty(), path, ":", number, ": the label is blank");
    all.push_back(aspect_of(where, lines[0], lines[1], lines[2]));
  });
  check<ErrorKind::input>(filled == 0, path, ":", first, ": the last example has ", filled,
                          filled == 1 ? " line" : " lines",
                          " of three: sentence with $T$, phrase, label");
  check<ErrorKind::input>(!all.empty(), path, ": holds no example");
  return all;
}

// Whether a file that begins so has three lines an example. The first may lack its mark by mistake;
// that of a table stands in the rows, whose cells lie between separators.
bool is_three_lines(std::string_view head) {
  int64_t place = 0;
  bool marked = false;
  for (size_t from = 0; from < head.size();) {
    const size_t to = std::min(head.find('\n', from), head.size());
    const std::string_view line = trimmed(head.substr(from, to - from));
    from = to + 1;
    if (place == 0 && line.empty()) continue;
    const bool has_mark = line.find(mark) != std::string_view::npos;
    if (has_mark && line.find('\t') != std::string_view::npos) return false;
    if (has_mark && place == 0) marked = true;
    if (has_mark && place > 0) return marked;
    if (place == 2 && line.find_first_of(",;|\t{") != std::string_view::npos) return marked;
    if (place == 2 && marked) return true;
    place = (place + 1) % 3;
  }
  return marked;
}

// A letter or a digit of any script.
bool is_of_word(int32_t code_point) {
  const WordClass of = word_class(code_point);
  return of == WordClass::letter || of == WordClass::number || of == WordClass::complex;
}
bool begins_in_word(std::string_view text) {
  return !text.empty() && is_of_word(first_code_point(text).value);
}
bool ends_in_word(std::string_view text) {
  size_t last = text.size();
  while (last > 0 && (static_cast<unsigned char>(text[--last]) & 0xC0) == 0x80) {
  }
  return begins_in_word(text.substr(last));
}

}  // namespace

size_t find_phrase(std::string_view sentence, std::string_view phrase) {
  const bool begins = begins_in_word(phrase), ends = ends_in_word(phrase);
  const size_t first = sentence.find(phrase);
  for (size_t at = first; at != std::string_view::npos; at = sentence.find(phrase, at + 1)) {
    if (begins && ends_in_word(sentence.substr(0, at))) continue;
    if (ends && begins_in_word(sentence.substr(at + phrase.size()))) continue;
    return at;
  }
  return first;
}

Aspect aspect_of(const std::string& where, std::string_view sentence, std::string_view phrase,
                 std::string_view label) {
  phrase = trimmed(phrase);
  check<ErrorKind::input>(!split_at_spaces(phrase).empty(), where,
                          ": the phrase is blank; name the part of the ",
                          "sentence that is asked about");
  Aspect aspect{std::string(sentence), 0, 0, std::string(label)};
  const size_t marked = sentence.find(mark);
  if (marked != std::string_view::npos) {
    aspect.begin = marked;
    for (size_t at = marked; at != std::string::npos;
         at = aspect.text.find(mark, at + phrase.size())) {
      aspect.text.replace(at, mark.size(), phrase);
    }
  } else {
    aspect.begin = find_phrase(sentence, phrase);
    check<ErrorKind::input>(aspect.begin != std::string_view::npos, where, ": the phrase '", phrase,
                            "' is not in its sentence '", shortened(sentence),
                            "'; write it as it stands there, or $T$ in its place");
  }
  aspect.end = aspect.begin + phrase.size();
  return aspect;
}

std::vector<Aspect> read_aspects(const std::string& path, const ReadOptions& options,
                                 ReadSummary* summary) {
  LineReader lines(path, options.encoding, options.prompt);
  const std::string_view head = lines.head(1 << 16);
  const size_t begin = head.find_first_not_of(" \t\r\n");
  const bool is_xml = begin != std::string_view::npos && head[begin] == '<';
  const auto tell = [&](const char* format, const char* columns, const std::vector<Aspect>& all) {
    if (summary == nullptr) return;
    summary->path = lines.path();
    summary->format = summary->format_reason = format;
    summary->columns_reason = columns;
    summary->encoding = lines.encoding();
    summary->packing = lines.packing();
    summary->rows = static_cast<int64_t>(all.size());
  };
  if (options.format == "auto" && is_xml) {
    std::string text;
    for_each_line(lines, [&](std::string_view line, int64_t) { text.append(line) += '\n'; });
    auto all = parse_aspect_xml(lines.path(), text);
    tell("XML", "Phrases are aspectTerm and Opinion elements", all);
    return all;
  }
  if (options.format == "auto" && options.columns.empty() && is_three_lines(head)) {
    auto all = read_three_lines(lines);
    tell("three lines an example", "They are a sentence with $T$, its phrase and its label", all);
    return all;
  }
  RecordReader records(std::move(lines), {{"label", Role::Kind::label}, {"text"}, {"phrase"}},
                       options);
  std::vector<Aspect> all;
  while (records.next()) {
    all.push_back(aspect_of(say(path, ":", records.line()), records.text(1), records.text(2),
                            records.text(0)));
  }
  if (summary != nullptr) *summary = records.summary();
  return all;
}

}  // namespace fovea
