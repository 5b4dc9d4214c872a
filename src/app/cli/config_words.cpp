#include "fovea/app/cli/config_words.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <sstream>

#include "fovea/app/cli/verbs.h"

namespace fovea::cli {
namespace {

std::string flag_of(std::string name) {
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

std::string name_of_flag(std::string flag) {
  flag = flag.substr(0, flag.find('='));
  if (flag.starts_with("--no-")) flag = "--" + flag.substr(5);
  flag.erase(0, std::min<size_t>(2, flag.size()));
  std::ranges::replace(flag, '-', '_');
  return flag;
}

// What it is when nothing is said cannot be said: no limit.
bool no_limit(const FieldInfo& field) { return field.range.least > 0; }

// The task that the words name, or null.
const Task* task_in(const std::vector<std::string>& words) {
  for (const Task& task : tasks()) {
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i] == task.name && !words[i - 1].starts_with("--")) return &task;
    }
  }
  return nullptr;
}

// What the words say about options, before anyone knows which options there are: --key value,
// --key=value, --set key=value and --preset name. What --vary and --choice list counts as chosen,
// so that their options are known.
Settings rough_settings(const Task& task, const std::vector<std::string>& words) {
  Settings said;
  const auto pair = [&](const std::string& text) {
    const auto at = text.find('=');
    if (at == std::string::npos) return;
    std::string key = text.substr(0, at);
    std::ranges::replace(key, '-', '_');
    said.set(key, text.substr(at + 1));
  };
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) continue;
    const bool joined = words[i].find('=') != std::string::npos;
    const bool alone = i + 1 == words.size() || words[i + 1].starts_with("--");  // as a flag is
    std::string name = name_of_flag(words[i]);
    const bool off = alone && !joined && name.starts_with("no_");
    if (off) name = name.substr(3);
    const std::string value = joined  ? words[i].substr(words[i].find('=') + 1)
                              : off   ? "false"
                              : alone ? "true"
                                      : words[i + 1];
    if (name == "set") {
      pair(value);
    } else if (name == "preset") {
      for (const Preset& preset : presets()) {
        if (preset.name == value && preset.task == task.name) {
          Settings all = preset.settings;
          all.set(said);
          said = all;
        }
      }
    } else {
      said.set(name, value);
    }
  }
  return said;
}

// What --vary and --choice choose, one after the other: "score=dot,additive" is two choices of a
// --vary and "score=dot,align=entmax" one of a --choice.
std::vector<Settings> rough_choices(const std::vector<std::string>& words) {
  std::vector<Settings> all{{}};
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != "--vary" && words[i] != "--choice") continue;
    std::string key;
    std::istringstream parts(words[i + 1]);
    for (std::string part; std::getline(parts, part, ',');) {
      const auto at = part.find('=');
      if (at != std::string::npos) key = part.substr(0, at);
      std::ranges::replace(key, '-', '_');
      const std::string value = at == std::string::npos ? part : part.substr(at + 1);
      if (words[i] == "--vary" || all.size() == 1) all.push_back({});
      all.back().set(key, value);
    }
  }
  return all;
}

// The options that count for one of the choices at least, where the words choose something that
// exists; else those of the task.
std::vector<OptionGroup> options_in(const Task& task, const std::vector<std::string>& words) {
  std::vector<OptionGroup> all;
  for (const Settings& choice : rough_choices(words)) {
    Settings said = rough_settings(task, words);
    said.set(choice);
    std::vector<OptionGroup> groups;
    try {
      groups = options_of(task, with_inferred(task, said));
    } catch (const Error&) {
      groups = options_of(task, {});  // what is wrong is said when the words have been parsed
    }
    for (OptionGroup& group : groups) {
      auto found = std::ranges::find(all, group.title, &OptionGroup::title);
      if (found == all.end()) found = all.insert(all.end(), {group.title, {}});
      for (FieldInfo& field : group.fields) {
        if (std::ranges::find(found->fields, field.name, &FieldInfo::name) == found->fields.end()) {
          found->fields.push_back(std::move(field));
        }
      }
    }
  }
  return all;
}

// Nobody said these options of a preset, so nobody is refused for them: without those that no
// choice reads.
Settings without_unread(const Task& task, Settings all, const Settings& said,
                        const std::vector<Settings>& choices) {
  for (;;) {  // what is left out may have been why another option counted
    std::set<std::string> read;
    try {
      read = read_by_any(task, all, choices);
    } catch (const Error&) {
      return all;  // what is wrong is said when the config is made
    }
    Settings left;
    for (const auto& [name, text] : all) {
      if (said.has(name) || read.contains(name)) left.set(name, text);
    }
    if (left.size() == all.size()) return all;
    all = std::move(left);
  }
}

}  // namespace

ConfigWords::ConfigWords(CLI::App& verb, const std::vector<std::string>& words) {
  if (const Task* task = task_in(words)) {
    for (const OptionGroup& group : options_in(*task, words)) add(verb, group.title, group.fields);
  }
  verb.add_option("--preset", preset_, "A recipe by name (fovea list); other options override it");
  verb.add_option("--set", sets_, "Any option as KEY=VALUE")->type_name("KEY=VALUE");
}

ConfigWords ConfigWords::of_answers(CLI::App& verb) {
  ConfigWords words;
  words.add(verb, "Answers", answer_fields().infos());
  return words;
}

void ConfigWords::add_reading(CLI::App& verb) {
  std::vector<FieldInfo> fields = data_fields().infos();
  std::erase_if(fields, [](const FieldInfo& field) {
    return std::ranges::find(reading_options(), field.name) == reading_options().end();
  });
  add(verb, "Files", fields);
}

void ConfigWords::add(CLI::App& verb, const std::string& title,
                      const std::vector<FieldInfo>& fields) {
  for (const FieldInfo& field : fields) {
    auto word = std::make_unique<Word>(Word{field.name, "", nullptr});
    CLI::Option* option = nullptr;
    const std::string flag = flag_of(field.name), range = field.range.text();
    std::string help = field.help;
    if (field.kind == FieldInfo::Kind::flag) {
      option = verb.add_flag(flag + ",!--no-" + flag.substr(2), word->value,
                             help + (field.fallback == "true" ? " (on)" : ""));
    } else {
      if (!range.empty()) help += "; " + range;
      if (!field.fallback.empty() && !(field.fallback == "0" && no_limit(field))) {
        help += " (" + field.fallback + ")";
      }
      option = verb.add_option(flag, word->value, help)
                   ->type_name(field.kind == FieldInfo::Kind::text ? "TEXT" : "NUMBER");
    }
    word->option = option->group(title);
    words_.push_back(std::move(word));
  }
}

Settings ConfigWords::said() const {
  Settings said;
  for (const auto& word : words_) {
    if (word->option->count() > 0) said.set(word->name, word->value);
  }
  for (const std::string& text : sets_) {
    const auto [name, value] = key_and_value(text);
    said.set(name, value);
  }
  return said;
}

Settings ConfigWords::with_preset(const std::string& task) const {
  if (preset_.empty()) return said();
  const Preset& preset = as_usage([&]() -> const Preset& { return find_preset(preset_); });
  if (preset.task != task) {
    throw UsageError(say("preset '", preset_, "' is for the task ", preset.task, ", not ", task));
  }
  Settings all = preset.settings;
  all.set(said());
  return all;
}

Settings ConfigWords::settings(const std::string& task,
                               const std::vector<Settings>& choices) const {
  Settings all = with_preset(task);
  if (preset_.empty()) return all;
  return without_unread(find_task(task), std::move(all), said(),
                        choices.empty() ? std::vector<Settings>{{}} : choices);
}

std::set<std::string> read_by_any(const Task& task, const Settings& all,
                                  const std::vector<Settings>& choices) {
  std::set<std::string> read;
  for (const Settings& choice : choices) {
    Settings now = all;
    now.set(choice);
    for (const OptionGroup& group : options_of(task, with_inferred(task, now))) {
      for (const FieldInfo& field : group.fields) read.insert(field.name);
    }
  }
  return read;
}

void add_task(CLI::App& verb, std::string& task) {
  std::string all;
  for (const Task& known : tasks()) {
    all += (all.empty() ? "" : &known == &tasks().back() ? " or " : ", ") + known.name;
  }
  verb.add_option("task", task, "What to learn: " + all)->required();
}

const Task& task_named(const std::string& name) {
  return as_usage([&]() -> const Task& { return find_task(name); });
}

Config config_of(const Task& task, const Settings& settings) {
  return as_usage([&] { return make_config(task, settings); });
}

std::unique_ptr<Solver> solver_of(const std::string& folder, const ConfigWords& answers) {
  const Settings said = answers.settings();
  const Config config = load_config(folder);
  as_usage([&] { check_answer_options(config, said); });
  return open_solver(folder, said);
}

void print_notes(Solver& solver) {
  for (const std::string& note : solver.take_notes()) fmt::print(stderr, "{}\n", note);
}

std::string setting_words(const std::string& key, const std::string& value) {
  // Only flags are true or false.
  if (value == "true") return flag_of(key);
  if (value == "false") return "--no-" + flag_of(key).substr(2);
  return flag_of(key) + " " + shell_word(value);
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::pair<std::string, std::string> key_and_value(const std::string& text) {
  const auto at = text.find('=');
  if (at == std::string::npos || at == 0) {
    throw UsageError(say("needs KEY=VALUE, got '", text, "'"));
  }
  std::string key = text.substr(0, at);
  std::ranges::replace(key, '-', '_');
  return {key, text.substr(at + 1)};
}

std::string not_read_here(const std::vector<std::string>& words, const std::string& flag) {
  const Task* task = task_in(words);
  if (!task) return "";
  const std::string name = name_of_flag(flag);
  if (!option_exists(name)) return "";
  Settings said = rough_settings(*task, words);
  Settings chosen;  // what decides, and the option itself
  for (const char* key :
       {"model", "attention", "synthesizer", "score", "align", "query", "optimizer", "schedule"}) {
    if (said.has(key)) chosen.set(key, said.get(key));
  }
  chosen.set(name, said.get(name));
  for (const Settings& settings : {chosen, said}) {  // any other option may decide as well
    try {
      make_config(*task, settings);
    } catch (const Error& error) {
      return error.what();
    }
  }
  return "";
}

}  // namespace fovea::cli
