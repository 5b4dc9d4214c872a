#include "fovea/data/examples.h"

#include <sys/stat.h>

#include "fovea/base/error.h"
#include "fovea/data/rows.h"

namespace fovea {
namespace {

// The next line; false at the end.
bool take_line(LineReader& lines) {
  const Got got = lines.next();
  check(got != Got::bad, lines.path(), ":", lines.number(), ": ", lines.problem());
  return got == Got::good;
}

std::vector<Pair> read_parallel(const std::string& sources, const std::string& targets,
                                const std::string& encoding) {
  LineReader source(sources, encoding), target(targets, encoding);
  const auto check_counts = [&] {
    while (take_line(source)) {
    }
    while (take_line(target)) {
    }
    check(source.number() == target.number(), "parallel files need equally many lines: ", sources,
          " has ", source.number(), ", ", targets, " has ", target.number());
  };
  std::vector<Pair> pairs;
  for (;;) {
    const bool has_source = take_line(source), has_target = take_line(target);
    if (!has_source || !has_target) {
      check_counts();
      break;
    }
    const bool no_source = trimmed(source.text()).empty(),
               no_target = trimmed(target.text()).empty();
    if (no_source && no_target) continue;
    if (no_source == no_target) {
      pairs.push_back({std::string(source.text()), std::string(target.text())});
      continue;
    }
    const int64_t line = source.number();
    check_counts();
    fail(no_source ? sources : targets, ":", line,
         ": is blank, but the line of the same number in ", no_source ? targets : sources,
         " is not; fill it, or blank both");
  }
  check(!pairs.empty(), sources, " and ", targets, ": have only blank lines; need text");
  return pairs;
}

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
    return read_parallel(path.substr(0, comma), path.substr(comma + 1), options.encoding);
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

std::vector<Pair> read_pairs(const std::string& path) {
  return read_pairs(path, ReadOptions{.encoding = "utf-8"});
}

std::vector<Labelled> read_labelled(const std::string& path, const std::string& columns) {
  return read_labelled(path, ReadOptions{.encoding = "utf-8", .columns = columns});
}

}  // namespace fovea
