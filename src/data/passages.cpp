#include "fovea/data/passages.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/buffer.h"
#include "fovea/data/passage_collector.h"
#include "fovea/data/rows.h"

namespace fovea {
namespace {

enum class Format { squad, cbt, cnn, table };

std::string head_of(const std::string& path, const ReadOptions& options) {
  LineReader reader(path, options.encoding);
  return std::string(reader.head(1 << 16));
}

// "1 " begins CBT's first line, and no tab is in it.
bool begins_cbt(std::string_view head) {
  const std::string_view line = trimmed(head.substr(0, head.find('\n')));
  return line.starts_with("1 ") && line.find('\t') == std::string_view::npos;
}

Format format_of(const std::string& path, const ReadOptions& options) {
  if (std::filesystem::is_directory(path)) return Format::cnn;
  if (path == "-" || options.format != "auto" || !options.columns.empty()) return Format::table;
  const std::string head = head_of(path, options);
  const std::string_view start = trimmed(head, " \t\r\n");
  // A line of JSON lines has neither of these.
  if (start.starts_with('{') && (start.find("\"paragraphs\"") != std::string_view::npos ||
                                 start.substr(1, 200).find("\"data\"") != std::string_view::npos ||
                                 start.substr(1, 40).find("\"version\"") != std::string_view::npos))
    return Format::squad;
  return begins_cbt(start) ? Format::cbt : Format::table;
}

std::string all_of(const std::string& path, const ReadOptions& options, ReadSummary& summary) {
  TextSource source = open_text(path, options.encoding);
  summary.encoding = source.encoding;
  summary.packing = source.packing;
  std::string text;
  Buffer buffer(1 << 16);
  while (const size_t n = source.bytes->read(buffer.span())) text.append(buffer.data(), n);
  return text;
}

std::vector<Role> roles(bool candidates) {
  return {{"passage"},
          {"question"},
          {"answer", Role::Kind::texts},
          {"candidates", Role::Kind::texts, candidates},
          {"start", Role::Kind::texts, false},
          {"is_impossible", Role::Kind::text, false},
          {"id", Role::Kind::text, false}};
}

std::vector<PassageQuestion> read_table(const std::string& path, const ReadOptions& options,
                                        bool cloze, ReadSummary* summary) {
  // Four columns without names are these four.
  const bool four = cloze && path != "-" && options.columns.empty() &&
                    look_into(path, options).summary.columns.size() == 4;
  RecordReader records(path, roles(four), options);
  PassageCollector to(path, options.skip_bad);
  const bool may_be = !records.columns_of(5).empty();
  std::shared_ptr<const std::string> passage;
  bool empty_list = false;
  std::vector<PassageQuestion> all;
  while (records.next()) {
    const std::string where = say("line ", records.line());
    // Questions about one passage stand together.
    if (!passage || *passage != records.text(0)) {
      passage = std::make_shared<const std::string>(records.text(0));
    }
    PassageQuestion q{.id = std::string(records.text(6)),
                      .passage = passage,
                      .question = std::string(records.text(1)),
                      .may_be_unanswered = may_be};
    const std::string_view says = records.text(5);
    const bool impossible = says == "true" || says == "True" || says == "1";
    const auto starts = records.list(4);
    for (size_t i = 0; !impossible && i < records.list(2).size(); ++i) {
      PassageAnswer answer{std::string(records.list(2)[i])};
      // In code points, as SQuAD counts.
      int64_t start = -1;
      if (i < starts.size()) {
        const std::string_view text = starts[i];
        std::from_chars(text.data(), text.data() + text.size(), start);
      }
      size_t at = 0;
      for (int64_t n = 0; n < start && at < q.passage->size(); ++n) {
        at += first_code_point(std::string_view(*q.passage).substr(at)).bytes;
      }
      if (start >= 0) answer.begin = static_cast<int64_t>(at);
      q.answers.push_back(std::move(answer));
    }
    for (const std::string_view one : records.list(3)) q.candidates.emplace_back(one);
    if (q.answers.empty() && !impossible) {
      if (!records.is_list(2)) {
        to.refuse(where,
                  "the answer is empty; an empty list of JSON, or a column is_impossible, says "
                  "that there is none",
                  records.line());
        continue;
      }
      empty_list = true;
    }
    to.add(std::move(q), cloze, where, records.line());
  }
  const int64_t bad = to.summary.bad_rows;
  auto first_bad = to.summary.first_bad;
  to.summary = records.summary();
  to.summary.bad_rows += bad;
  to.summary.first_bad.insert(to.summary.first_bad.end(), first_bad.begin(), first_bad.end());
  if (to.summary.first_bad.size() > 5) to.summary.first_bad.resize(5);
  all = to.finish(summary);
  if (empty_list) {
    for (PassageQuestion& q : all) q.may_be_unanswered = true;
  }
  return all;
}

bool is_inside_word(std::string_view passage, size_t at) {
  const auto part_of_word = [&](size_t i) {
    const auto c = static_cast<unsigned char>(passage[i]);
    return c >= 0x80 || std::isalnum(c);
  };
  return at > 0 && at < passage.size() && part_of_word(at - 1) && part_of_word(at);
}

// The first occurrence that does not begin or end inside a word, else the first; -1 where there is
// none.
int64_t first_whole(std::string_view passage, std::string_view text) {
  const size_t first = passage.find(text);
  for (size_t at = first; at != std::string_view::npos; at = passage.find(text, at + 1)) {
    if (!is_inside_word(passage, at) && !is_inside_word(passage, at + text.size())) {
      return static_cast<int64_t>(at);
    }
  }
  return first == std::string_view::npos ? -1 : static_cast<int64_t>(first);
}

// The occurrence of `text` nearest to `near`; -1 where there is none.
int64_t nearest(std::string_view passage, std::string_view text, int64_t near) {
  int64_t best = -1;
  for (size_t at = passage.find(text); at != std::string_view::npos;
       at = passage.find(text, at + 1)) {
    const auto here = static_cast<int64_t>(at);
    if (best < 0 || std::abs(here - near) < std::abs(best - near)) best = here;
    if (here > near) break;
  }
  return best;
}

}  // namespace

PassageCollector::PassageCollector(std::string path, bool skip_bad) : skip_bad_(skip_bad) {
  summary.path = std::move(path);
}

void PassageCollector::refuse(const std::string& where, const std::string& problem, int64_t line) {
  check<ErrorKind::input>(skip_bad_, summary.path, line > 0 ? say(":", line) : "", ": ",
                          line > 0 ? "" : where + ": ", problem,
                          problem.find(';') == std::string::npos ? "; mend it" : "",
                          ", or leave such questions out with --skip-bad");
  ++summary.bad_rows;
  if (summary.first_bad.size() < 5) summary.first_bad.push_back({line, say(where, ": ", problem)});
}

std::string PassageCollector::problem_of(PassageQuestion& q, bool cloze) {
  if (trimmed(*q.passage, " \t\r\n").empty()) return "the passage is empty";
  if (trimmed(q.question, " \t\r\n").empty()) return "the question is empty";
  if (!q.id.empty() && !ids_.insert(q.id).second) {
    return say("the id '", shortened(q.id), "' came before");
  }
  if (cloze) {
    if (q.answers.empty()) return "a cloze needs an answer";
    if (q.candidates.empty()) q.candidates = candidates_in(*q.passage);
    const std::string wanted = to_lowercase(trimmed(q.answers[0].text));
    const auto found = std::ranges::find_if(
        q.candidates, [&](const std::string& one) { return to_lowercase(one) == wanted; });
    if (found == q.candidates.end()) {
      return say("the answer '", shortened(q.answers[0].text), "' is none of its ",
                 q.candidates.size(), " candidates");
    }
    q.answers[0].text = *found;
    return "";
  }
  for (PassageAnswer& answer : q.answers) {
    const std::string text(trimmed(answer.text, " \t\r\n"));
    if (text.empty()) return "an answer is empty";
    // What is said about the place may be wrong by a few characters.
    const int64_t at =
        answer.begin < 0 ? first_whole(*q.passage, text) : nearest(*q.passage, text, answer.begin);
    if (at < 0) {
      return say("the answer '", shortened(text), "' is not in its passage '",
                 shortened(*q.passage), "'");
    }
    answer = {text, at};
  }
  return "";
}

void PassageCollector::add(PassageQuestion q, bool cloze, const std::string& where, int64_t line) {
  const std::string problem = problem_of(q, cloze);
  if (!problem.empty()) return refuse(where, problem, line);
  all_.push_back(std::move(q));
}

std::vector<PassageQuestion> PassageCollector::finish(ReadSummary* to) {
  check<ErrorKind::input>(!all_.empty() || summary.bad_rows == 0, summary.path, ": all ",
                          summary.bad_rows, " questions are bad, the first: ",
                          summary.first_bad.empty() ? "" : summary.first_bad[0].reason);
  check<ErrorKind::input>(!all_.empty(), summary.path, ": holds no question");
  summary.rows = static_cast<int64_t>(all_.size());
  if (to != nullptr) *to = summary;
  return std::move(all_);
}

bool holds_cloze(const std::string& path, const ReadOptions& options) {
  if (("," + options.columns).find(",candidates=") != std::string::npos) return true;
  const Format format = format_of(path, options);
  if (format != Format::table) return format != Format::squad;
  if (path == "-") return false;
  const auto names = usual_names("candidates");
  const FileContents found = look_into(path, options);
  return std::ranges::any_of(found.summary.columns, [&](const ColumnInfo& column) {
    return std::ranges::find(names, to_lowercase(column.name)) != names.end();
  });
}

namespace {

std::vector<PassageQuestion> read_any(const std::string& path, const ReadOptions& options,
                                      bool cloze, ReadSummary* summary) {
  const Format format = format_of(path, options);
  if (format == Format::table) return read_table(path, options, cloze, summary);
  PassageCollector to(path, options.skip_bad);
  to.summary.encoding = "UTF-8";
  if (format == Format::squad) {
    to.summary.format = "squad";
    to.summary.format_reason = "the JSON of SQuAD";
    to.summary.columns_reason = "Answers stand in their paragraphs";
    check<ErrorKind::input>(!cloze, path, ": is SQuAD's JSON, whose answers are parts of the ",
                            "passage; a model that gives a span reads it, as bidaf does");
    parse_squad(all_of(path, options, to.summary), to);
  } else {
    check<ErrorKind::input>(cloze, path, ": holds clozes, whose answers are candidates; a model ",
                            "that chooses reads it, as attention_sum does");
    to.summary.format = format == Format::cbt ? "cbt" : "cnn";
    to.summary.format_reason =
        format == Format::cbt ? "numbered lines as CBT has them" : "a folder of .question files";
    to.summary.columns_reason = "Questions have a blank";
    format == Format::cbt ? read_cbt(path, to) : read_cnn(path, to);
  }
  return to.finish(summary);
}

}  // namespace

std::vector<PassageQuestion> read_passages(const std::string& path, const ReadOptions& options,
                                           ReadSummary* summary) {
  return read_any(path, options, false, summary);
}

std::vector<PassageQuestion> read_clozes(const std::string& path, const ReadOptions& options,
                                         ReadSummary* summary) {
  return read_any(path, options, true, summary);
}

}  // namespace fovea
