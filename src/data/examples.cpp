#include "fovea/data/examples.h"

#include <sys/stat.h>

#include "fovea/base/error.h"
#include "fovea/data/rows.h"

namespace fovea {
namespace {

// Two files side by side, a line of each at a time.
class ParallelLines {
 public:
  ParallelLines(const std::string& sources, const std::string& targets, const ReadOptions& options)
      : source_(sources, options.encoding),
        target_(targets, options.encoding),
        skip_bad_(options.skip_bad) {
    summary_.path = sources + "," + targets;
    summary_.format = "text";
    summary_.format_reason = "two parallel files, a text a line";
    summary_.encoding = source_.encoding() == target_.encoding()
                            ? source_.encoding()
                            : source_.encoding() + " and " + target_.encoding();
    summary_.packing = source_.packing();
    summary_.columns_reason = say("source is ", sources, ", target is ", targets);
  }

  std::vector<Pair> read() {
    std::vector<Pair> pairs;
    for (;;) {
      const Got source = source_.next(), target = target_.next();
      if (source == Got::end || target == Got::end) break;
      if (source == Got::bad || target == Got::bad) {
        refuse(source == Got::bad ? source_ : target_,
               source == Got::bad ? source_.problem() : target_.problem());
        continue;
      }
      const bool no_source = trimmed(source_.text()).empty(),
                 no_target = trimmed(target_.text()).empty();
      if (no_source && no_target) continue;
      if (no_source == no_target) {
        pairs.push_back({std::string(source_.text()), std::string(target_.text())});
        continue;
      }
      const LineReader &blank = no_source ? source_ : target_,
                       &other = no_source ? target_ : source_;
      const int64_t line = blank.number();
      if (!skip_bad_) check_counts();
      refuse(blank,
             say("is blank, but the line of the same number in ", other.path(),
                 " is not; fill it, or blank both"),
             line);
    }
    check_counts();
    check(!pairs.empty(), source_.path(), " and ", target_.path(),
          ": have only blank lines; need text");
    summary_.rows = static_cast<int64_t>(pairs.size());
    return pairs;
  }
  const ReadSummary& summary() const { return summary_; }

 private:
  void refuse(const LineReader& where, const std::string& problem, int64_t line = 0) {
    if (line == 0) line = where.number();
    check(skip_bad_, where.path(), ":", line, ": ", problem);
    ++summary_.bad_rows;
    if (summary_.first_bad.size() < 5) summary_.first_bad.push_back({line, problem});
  }
  void check_counts() {
    while (source_.next() != Got::end) {
    }
    while (target_.next() != Got::end) {
    }
    check(source_.number() == target_.number(),
          "parallel files need equally many lines: ", source_.path(), " has ", source_.number(),
          ", ", target_.path(), " has ", target_.number());
  }

  LineReader source_, target_;
  bool skip_bad_;
  ReadSummary summary_;
};

bool is_there(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0;
}

}  // namespace

std::vector<Pair> read_pairs(const std::string& path, const ReadOptions& options,
                             ReadSummary* summary) {
  const size_t comma = path.find(',');
  if (comma != std::string::npos && !is_there(path)) {
    check(path.find(',', comma + 1) == std::string::npos,
          "two parallel files are named with one comma between them, got '", path, "'");
    ParallelLines lines(path.substr(0, comma), path.substr(comma + 1), options);
    std::vector<Pair> pairs = lines.read();
    if (summary != nullptr) *summary = lines.summary();
    return pairs;
  }
  RecordReader records(path, {{"source"}, {"target"}}, options);
  std::vector<Pair> pairs;
  while (records.next()) {
    pairs.push_back({std::string(records.text(0)), std::string(records.text(1))});
  }
  if (summary != nullptr) *summary = records.summary();
  return pairs;
}

std::vector<Labelled> read_labelled(const std::string& path, const ReadOptions& options,
                                    ReadSummary* summary) {
  RecordReader records(path, {{"label", Role::Kind::label}, {"text"}}, options);
  std::vector<Labelled> examples;
  while (records.next()) {
    examples.push_back({std::string(records.text(1)), std::string(records.text(0))});
  }
  if (summary != nullptr) *summary = records.summary();
  return examples;
}

std::vector<std::string> read_texts(const std::string& path, const ReadOptions& options,
                                    ReadSummary* summary) {
  ReadOptions as_it_stands = options;
  as_it_stands.verbatim = true;
  RecordReader records(path, {{"text"}}, as_it_stands);
  std::vector<std::string> texts;
  while (records.next()) texts.emplace_back(records.text(0));
  if (summary != nullptr) *summary = records.summary();
  return texts;
}

std::vector<Pair> read_pairs(const std::string& path) {
  return read_pairs(path, ReadOptions{.encoding = "utf-8"});
}

std::vector<Labelled> read_labelled(const std::string& path, const std::string& columns) {
  return read_labelled(path, ReadOptions{.encoding = "utf-8", .columns = columns});
}

}  // namespace fovea
