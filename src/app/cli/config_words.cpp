#include "fovea/app/cli/config_words.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "fovea/app/cli/verbs.h"
#include "fovea/attention/catalog.h"

namespace fovea::cli {
namespace {

std::string flag_of(std::string name) {
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

template <class F>
auto as_usage(F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

ConfigWords::ConfigWords(CLI::App& verb) {
  add(verb, "");
  verb.add_option("--preset", preset_, "A recipe by name (fovea list); other options override it");
  verb.add_option("--set", sets_, "Any option as KEY=VALUE")->type_name("KEY=VALUE");
}

ConfigWords ConfigWords::of_answers(CLI::App& verb) {
  ConfigWords words;
  words.add(verb, "Answers");
  return words;
}

void ConfigWords::add(CLI::App& verb, const std::string& group) {
  const Config defaults;
  config_fields().each(defaults, [&](const auto& field, const auto& value) {
    if (!group.empty() && field.group != group) return;
    auto word = std::make_unique<Word>(Word{field.name, "", nullptr});
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, bool>) {
      word->option =
          verb.add_flag(flag_of(field.name), word->value, field.help)->group(field.group);
    } else {
      word->option = verb.add_option(flag_of(field.name), word->value, field.help)
                         ->group(field.group)
                         ->type_name(std::is_same_v<Value, std::string> ? "TEXT" : "NUMBER");
    }
    words_.push_back(std::move(word));
  });
}

Settings ConfigWords::settings(const std::string& task) const {
  Settings all;
  if (!preset_.empty()) {
    const Preset& preset = as_usage([&]() -> const Preset& { return find_preset(preset_); });
    if (preset.task != task) {
      throw UsageError(say("preset '", preset_, "' is for the task ", preset.task, ", not ", task));
    }
    all = preset.settings;
  }
  for (const auto& word : words_) {
    if (word->option->count() > 0) all.emplace_back(word->name, word->value);
  }
  for (const std::string& text : sets_) all.push_back(key_and_value(text));
  return all;
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
  return as_usage([&] {
    Config config = make_config(task, settings);
    if (task.name != "regress") {  // whose scores are its own
      if (config.score != "none") find_entry(Entry::Kind::score, config.score);
      find_entry(Entry::Kind::alignment, config.align);
    }
    seconds_of(config.time);
    return config;
  });
}

std::string setting_words(const std::string& key, const std::string& value) {
  bool flag = false;
  const Config defaults;
  config_fields().each(defaults, [&](const auto& field, const auto& now) {
    flag = flag || (field.name == key && std::is_same_v<std::decay_t<decltype(now)>, bool>);
  });
  if (!flag) return flag_of(key) + " " + shell_word(value);
  return value == "true" ? flag_of(key) : "--set " + shell_word(key + "=" + value);
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

}  // namespace fovea::cli
