#include "fovea/task/fit/suited.h"

#include <filesystem>

#include "fovea/task/fit/candidates.h"
#include "fovea/task/fit/parts.h"

namespace fovea {
namespace {

// A file that is larger is not read twice for it: it has many examples, whatever they are.
bool is_large(const std::string& data) {
  namespace fs = std::filesystem;
  uintmax_t bytes = 0;
  for (size_t from = 0; from <= data.size();) {  // two parallel files have a comma between them
    const size_t to = std::min(data.find(',', from), data.size());
    std::error_code none;
    const auto size = fs::file_size(data.substr(from, to - from), none);
    if (!none) bytes += size;
    from = to + 1;
  }
  return bytes > (uintmax_t{64} << 20);
}

// The candidate of that model which a search would try first.
const Candidate* first_of(const std::vector<Candidate>& all, const std::string& model) {
  for (const Candidate& one : all) {
    if (!one.baseline && one.settings.get("model") == model) return &one;
  }
  return nullptr;
}

bool is_read(const Task& task, const Settings& settings, const std::string& name) {
  for (const OptionGroup& group : options_of(task, settings)) {
    for (const FieldInfo& field : group.fields) {
      if (field.name == name) return true;
    }
  }
  return false;
}

}  // namespace

Suited suited_to_data(const Task& task, const Settings& said) {
  Suited made{said, ""};
  const std::string data = said.get("data");
  const bool knows = task.name == "classify" || task.name == "pair" || task.name == "aspect" ||
                     task.name == "label" || task.name == "translate";
  if (!knows || data.empty() || data == "-" || data.starts_with("builtin:")) return made;
  const Config config = make_config(task, said);
  const std::string vectors = said.get("vectors");
  Audit audit;
  audit.examples = 1'000'000;
  if (!is_large(data)) {
    try {
      audit = audit_sizes(config);
    } catch (const Error&) {  // the task says what is wrong, or reads what a search does not
      return made;
    }
  }
  const std::vector<Candidate> all = candidates(audit, {task.name, vectors, 1'000});
  const Candidate* one = first_of(all, config.model);
  if (!one) return made;
  std::string list;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (said.has(name) || name == "model" || name == "vectors") return;
    Settings with = made.settings;
    with.set(name, value);
    if (!is_read(task, with, name) || config.settings.get(name) == value) return;
    made.settings = with;
    list += say(list.empty() ? "" : ", ", name, " ", value);
  };
  for (const auto& [name, value] : one->settings) add(name, value);
  const bool budget = said.has("time") || said.has("steps") || said.has("epochs");
  if (one->enough > 0 && !budget) {
    const int64_t batch = whole_of("batch", made.settings.get("batch", "32")),
                  steps = std::max<int64_t>(1, (audit.examples + batch - 1) / batch);
    made.settings.set("time", config.settings.get("time", "60s"));  // whichever ends first
    add("epochs", say(std::max<int64_t>(1, one->enough / steps)));
    add("schedule", "linear");
  } else if ((!budget || said.has("time")) && config.schedule == "constant") {
    // A rate that falls does its best at the end.
    add("early_stop", "10");
  }
  if (!list.empty()) {
    made.why = say("suits ", is_large(data) ? "a large file" : say(audit.examples, " examples"),
                   ", unless said otherwise: ", list);
  }
  return made;
}

}  // namespace fovea
