#include "fovea/data/aspects.h"

#include "fovea/base/error.h"
#include "fovea/data/rows.h"
#include "fovea/data/text_file.h"

namespace fovea {
namespace {

constexpr std::string_view mark = "$T$";

// A sentence, its phrase and its label, three lines an example.
std::vector<Aspect> read_three_lines(const std::string& path) {
  std::vector<Aspect> all;
  std::string lines[3];
  int64_t filled = 0, first = 0;
  for_each_line(path, [&](std::string_view line, int64_t number) {
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

}  // namespace

Aspect aspect_of(const std::string& where, std::string_view sentence, std::string_view phrase,
                 std::string_view label) {
  phrase = trimmed(phrase);
  check<ErrorKind::input>(!phrase.empty(), where, ": the phrase is blank; name the part of the ",
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
    aspect.begin = sentence.find(phrase);
    check<ErrorKind::input>(aspect.begin != std::string_view::npos, where, ": the phrase '", phrase,
                            "' is not in its sentence '", shortened(sentence),
                            "'; write it as it stands there, or $T$ in its place");
  }
  aspect.end = aspect.begin + phrase.size();
  return aspect;
}

std::vector<Aspect> read_aspects(const std::string& path, const ReadOptions& options,
                                 ReadSummary* summary) {
  LineReader peek(path, options.encoding);
  const std::string head(peek.head(1 << 16));
  const std::string_view first = trimmed(std::string_view(head).substr(0, head.find('\n')));
  const auto tell = [&](const char* format, const char* columns, const std::vector<Aspect>& all) {
    if (summary == nullptr) return;
    summary->path = path;
    summary->format = summary->format_reason = format;
    summary->columns_reason = columns;
    summary->encoding = peek.encoding();
    summary->packing = peek.packing();
    summary->rows = static_cast<int64_t>(all.size());
  };
  if (options.format == "auto" && first.starts_with('<')) {
    std::string text;
    for_each_line(path, [&](std::string_view line, int64_t) { text.append(line) += '\n'; });
    auto all = parse_aspect_xml(path, text);
    tell("XML", "Phrases are aspectTerm and Opinion elements", all);
    return all;
  }
  if (options.format == "auto" && first.find(mark) != std::string_view::npos &&
      first.find('\t') == std::string_view::npos && options.columns.empty()) {
    auto all = read_three_lines(path);
    tell("three lines an example", "They are a sentence with $T$, its phrase and its label", all);
    return all;
  }
  RecordReader records(path, {{"label", Role::Kind::label}, {"text"}, {"phrase"}}, options);
  std::vector<Aspect> all;
  while (records.next()) {
    all.push_back(aspect_of(say(path, ":", records.line()), records.text(1), records.text(2),
                            records.text(0)));
  }
  if (summary != nullptr) *summary = records.summary();
  return all;
}

}  // namespace fovea
