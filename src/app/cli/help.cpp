#include "fovea/app/cli/help.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "fovea/app/cli/option_table.h"
#include "fovea/base/utf8.h"

namespace fovea::cli {

std::string beside(const std::string& head, const std::string& text, size_t left) {
  constexpr size_t page = 80;
  std::string out = "  " + head;
  size_t at = 2 + code_points(head).size();
  if (at + 2 > left) {
    out += "\n";
    at = 0;
  }
  out += std::string(left - at, ' ');
  at = left;
  for (const std::string_view word : split_at_spaces(text)) {
    const size_t size = code_points(word).size();
    if (at > left && at + 1 + size > page) {
      out += "\n" + std::string(left, ' ');
      at = left;
    }
    if (at > left) out += ' ', ++at;
    out += word;
    at += size;
  }
  return out + "\n";
}

namespace {

std::string program_help(const CLI::App& app) {
  std::string text = "Trains, compares and shows attention on the CPU you have.\n\n";
  for (const CLI::App* verb : app.get_subcommands({})) {
    text += beside("fovea " + verb->get_name(), verb->get_description());
  }
  text += "\n" + beside("fovea help VERB", "What a verb takes; so does --help behind it");
  text += beside("fovea --version", "The version, instruction set and threads");
  return text +
         "\nA first model, in a minute:\n"
         "  fovea train classify --data builtin:sentiment --time 20s --out model\n"
         "  echo 'not a bad film' | fovea predict model\n";
}

}  // namespace

std::string help_of(const CLI::App& program, const CLI::App* verb, bool all) {
  if (verb == nullptr) return program_help(program);
  std::string line = "fovea " + verb->get_name();
  std::string positions, group, text;
  for (const OptionLine& option : option_lines(*verb)) {
    if (option.positional) {
      line += " " + option.name;
      positions += beside(option.name, option.help);
    }
  }
  size_t hidden = 0;
  for (const OptionLine& option : option_lines(*verb)) {
    if (option.positional) continue;
    if (!all && !option.often) {
      ++hidden;
      continue;
    }
    if (option.group != group) {
      group = option.group;
      text += "\n" + group + "\n";
    }
    text += beside(option.name + (option.value.empty() ? "" : " " + option.value), option.help);
  }
  text = line + " [options]\n" + verb->get_description() + "\n\n" + positions + text;
  if (hidden > 0) {
    text += fmt::format("\n{} more with --help-all\n", hidden);
  } else if (!all && (verb->get_name() == "train" || verb->get_name() == "compare") &&
             text.find("\nData\n") == std::string::npos) {
    text += fmt::format("\nfovea {} TASK --help shows the options of a task\n", verb->get_name());
  }
  return text;
}

}  // namespace fovea::cli
