#include "fovea/task/fit/look.h"

#include <algorithm>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/line_reader.h"

namespace fovea {
namespace {

// Sentences of words with tags: short lines of equally many fields, with empty lines between them.
bool looks_like_conll(std::string_view head) {
  std::set<std::string_view> last;
  int64_t tokens = 0, blank = 0, fields = 0, other = 0, run = 0, longest = 0, spaced = 0;
  while (!head.empty()) {
    const size_t end = std::min(head.find('\n'), head.size());
    std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(head.size(), end + 1));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const auto parts = split_at_spaces(line);
    if (parts.empty()) {
      blank += run > 0;
      run = 0;
      continue;
    }
    if (line[0] == '#' && run == 0) continue;  // comments of CoNLL-U
    longest = std::max(longest, ++run);
    ++tokens;
    // A field of several words is text, not a token.
    for (size_t at = line.find('\t'); at != std::string_view::npos; at = line.find('\t', at + 1)) {
      const size_t next = std::min(line.find('\t', at + 1), line.size());
      spaced += line.substr(at + 1, next - at - 1).find(' ') != std::string_view::npos;
    }
    last.insert(parts.back());
    const auto n = static_cast<int64_t>(parts.size());
    if (fields == 0) fields = n;
    other += n != fields;
  }
  return fields >= 2 && fields <= 20 && tokens >= 4 && blank >= 1 && tokens >= 2 * blank &&
         longest <= 1000 && other * 50 <= tokens && spaced * 50 <= tokens &&
         static_cast<int64_t>(last.size()) * 4 <= tokens + 8;  // few tags, each often
}

}  // namespace

Look look_at(const std::string& path, bool task_said) {
  Look look;
  LineReader lines(path);
  const std::string head(lines.head(256 * 1024));
  check(!split_at_spaces(head).empty(), path, ": is empty; nothing can be learned from it");
  look.conll = looks_like_conll(head);
  if (look.conll) return look;
  if (!task_said) look.form = form_of(path, head);
  if (!look.form.task.empty()) return look;
  const std::vector<Role> roles{{"label", Role::Kind::label}, {"text"}};
  look.dialect = recognise(path, head, lines.head_is_all(), roles, "auto", "auto");
  look.columns =
      describe_columns(look.dialect.names, look.dialect.rows, look.dialect.separator == ';');
  return look;
}

bool is_table(const Look& look) {
  const bool columns = look.dialect.header || look.dialect.separator == '\t';
  return look.dialect.format == "jsonl" || (columns && look.columns.size() >= 2);
}

}  // namespace fovea
