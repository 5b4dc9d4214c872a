#include "fovea/task/fit/parts.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "fovea/base/words.h"
#include "fovea/data/aspects.h"
#include "fovea/data/examples.h"
#include "fovea/data/split.h"
#include "fovea/data/table.h"
#include "fovea/data/text_pairs.h"
#include "fovea/task/solver.h"

namespace fovea {
namespace {

std::vector<FitExample> read(const Config& config, const std::string& path, FitParts& parts) {
  std::vector<FitExample> all;
  if (path.starts_with("builtin:")) return all;  // our own data needs no audit
  const ReadOptions options = read_options(config);
  ReadSummary summary;
  if (config.task == "classify") {
    for (Labelled& e : read_labelled(path, options, &summary)) {
      all.push_back({std::move(e.text), std::move(e.label)});
    }
  } else if (config.task == "label") {
    for (const Tagged& e : read_tagged(path, options, &summary)) {
      all.push_back({joined(e.words), joined(e.tags)});
    }
  } else if (config.task == "pair" && has_records(config.data, options)) {
    for (const auto& e : read_text_records(path, options, &summary).pairs) {
      all.push_back({e.first + "\t" + record_text(e.numbers), e.label, e.first});
    }
  } else if (config.task == "pair") {
    for (TextPair& e : read_text_pairs(path, options, &summary)) {
      all.push_back({e.first + "\t" + e.second, std::move(e.label), e.first});
    }
  } else if (config.task == "aspect") {
    for (Aspect& e : read_aspects(path, options, &summary)) {
      all.push_back({e.text + "\t" + std::string(e.phrase()), std::move(e.label), e.text});
    }
  } else if (config.task == "translate") {
    for (Pair& e : read_pairs(path, options, &summary)) {
      all.push_back({std::move(e.source), std::move(e.target)});
    }
  } else if (config.task == "regress" && reads_text(config)) {
    RecordReader records(path, {{"target", Role::Kind::number}, {"text"}}, options);
    while (records.next()) {
      all.push_back(
          {std::string(records.text(1)), say(records.number(0)), "", {records.number(0)}});
    }
    summary = records.summary();
  } else if (config.task == "regress") {
    for (auto& row : read_numbers(path, options, &summary).rows) {
      std::string input;
      for (size_t i = 0; i + 1 < row.size(); ++i) input += say(i ? "," : "", row[i]);
      const std::string answer = say(row.back());
      all.push_back({input, answer, "", std::move(row)});
    }
  } else {
    for (std::string& line : read_texts(path, options, &summary)) {
      all.push_back({std::move(line), ""});
    }
  }
  parts.files.push_back(std::move(summary));
  return all;
}

// Each part that has no file of its own takes an example away, and one is to be left.
void check_enough(const Config& config, const std::vector<FitExample>& all) {
  const size_t least = 1 + size_t{config.dev.empty()} + size_t{config.test.empty()};
  if (all.size() >= least) return;
  if (config.task != "lm" && config.task != "mlm") {
    fail(config.data, ": has ", all.size(), all.size() == 1 ? " example" : " examples",
         ", and to learn from some and measure on others takes at least ", least,
         "; give more, or files with --dev and --test");
  }
  size_t bytes = 0;
  for (const FitExample& line : all) bytes += line.input.size();
  fail(config.data, ": all its text, ", bytes, " bytes, stands in ",
       all.size() == 1 ? "one line" : say(all.size(), " lines"),
       ", and lines are what is held out to measure on; break it into lines, such as one for each ",
       "sentence, or give files with --dev and --test");
}

// What a text ends with, so many of its lines; one stays.
std::vector<FitExample> take_end(std::vector<FitExample>& from, double lines) {
  const auto most = static_cast<int64_t>(from.size()) - 1;
  const auto count = std::min(std::max<int64_t>(1, std::llround(lines)), most);
  std::vector<FitExample> end(std::make_move_iterator(from.end() - count),
                              std::make_move_iterator(from.end()));
  from.resize(from.size() - static_cast<size_t>(count));
  return end;
}

}  // namespace

bool reads_text(const Config& config) { return says_role(config.columns, "text"); }

bool can_be_audited(const Config& config) {
  for (const char* task :
       {"classify", "label", "pair", "aspect", "translate", "regress", "lm", "mlm"}) {
    if (config.task == task) return !config.data.starts_with("builtin:");
  }
  return false;
}

std::vector<FitExample> read_to_learn(const Config& config) {
  FitParts parts;
  return read(config, config.data, parts);
}

FitParts read_fit_parts(const Config& config) {
  FitParts parts;
  parts.train = read(config, config.data, parts);
  if (config.data.starts_with("builtin:")) return parts;
  check_enough(config, parts.train);
  if (config.task == "lm") {  // a text is cut, the end of it first
    const auto whole = static_cast<double>(parts.train.size());
    const auto held_out = [&](const std::string& file, double part) {
      return file.empty() ? take_end(parts.train, whole * part) : read(config, file, parts);
    };
    parts.test = held_out(config.test, config.test_part);
    parts.dev = held_out(config.dev, config.dev_part);
    return parts;
  }
  const auto held_out = [&](const std::string& file, double part, const char* name) {
    const auto key = [](const FitExample& e) { return e.together; };
    return file.empty() ? take_part(parts.train, part, name, key) : read(config, file, parts);
  };
  parts.dev = held_out(config.dev, config.dev_part, "dev");
  parts.test = held_out(config.test, config.test_part, "test");
  return parts;
}

}  // namespace fovea
