#include "fovea/app/cli/option_table.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "fovea/model/table.h"
#include "fovea/task/solver.h"

namespace fovea::cli {
namespace {

// Of the options that depend on task and model, those that most runs say.
const std::set<std::string> often{
    "--data",    "--dev",   "--test",   "--columns", "--format",  "--skip-bad",  "--tokens",
    "--longest", "--model", "--layers", "--width",   "--heads",   "--embed",     "--dropout",
    "--context", "--score", "--align",  "--time",    "--steps",   "--epochs",    "--rate",
    "--batch",   "--seed",  "--beam",   "--length",  "--letters", "--lowercase", "--init"};

const std::set<std::string> by_field{"Data",     "Model",   "Attention", "Budget",
                                     "Training", "Answers", "Files"};

// Values of options that name something of a table, by the flag.
std::vector<std::string> choices_of(const std::string& flag) {
  if (flag == "--preset") {
    std::vector<std::string> names;
    for (const Preset& preset : presets()) names.push_back(preset.name);
    return names;
  }
  // Of all tasks' fields, once for all options.
  static const auto of_fields = [] {
    std::map<std::string, std::vector<std::string>> all;
    for (const Task& task : tasks()) {
      for (const OptionGroup& group : options_of(task, {})) {
        for (const FieldInfo& field : group.fields) {
          for (const std::string& choice : field.range.choices) {
            auto& to = all[field.name];
            if (std::ranges::find(to, choice) == to.end()) to.push_back(choice);
          }
        }
      }
    }
    return all;
  }();
  std::string name = flag.substr(2);
  std::ranges::replace(name, '-', '_');
  const auto found = of_fields.find(name);
  return found == of_fields.end() ? std::vector<std::string>() : found->second;
}

bool is_often(const CLI::Option& option) {
  return !by_field.contains(option.get_group()) || often.contains("--" + option.get_lnames()[0]);
}

// CLI11 says "INT:INT in [1 - 9]"; fields have said range and default in their help.
void tell_value(const CLI::Option& option, OptionLine& line) {
  line.value = option.get_type_name();
  for (const char* number : {"INT", "UINT", "FLOAT"}) {
    if (!line.value.starts_with(number)) continue;
    const size_t from = line.value.find('['), to = line.value.find(" - "),
                 end = line.value.find(']');
    if (from < to && to < end && end != std::string::npos) {
      line.help += "; from " + line.value.substr(from + 1, to - from - 1) + " to " +
                   line.value.substr(to + 3, end - to - 3);
    }
    line.value = "NUMBER";
    break;
  }
  const std::string usual = option.get_default_str();
  if (!by_field.contains(line.group) && !usual.empty() && usual != "\"\"") {
    line.help += " (" + usual + ")";
  }
}

}  // namespace

bool has_rare_options(const CLI::App& verb) {
  return std::ranges::any_of(verb.get_options(), [](const CLI::Option* option) {
    return !option->get_positional() && !is_often(*option);
  });
}

std::vector<OptionLine> option_lines(const CLI::App& verb) {
  std::vector<OptionLine> lines;
  for (const CLI::Option* option : verb.get_options()) {
    OptionLine line;
    line.help = option->get_description();
    line.group = option->get_group();
    line.positional = option->get_positional();
    const auto names = option->get_lnames();
    if (line.positional) {
      line.name = option->get_name(true);
      std::ranges::transform(line.name, line.name.begin(),
                             [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      if (line.name == "TASK") {
        for (const Task& task : tasks()) line.choices.push_back(task.name);
      }
    } else {
      for (const std::string& name : option->get_snames()) line.flags.push_back("-" + name);
      for (const std::string& name : names) line.flags.push_back("--" + name);
      const bool pair = names.size() == 2 && names[1] == "no-" + names[0];
      for (const std::string& flag : line.flags) {
        line.name += (line.name.empty() ? "" : ", ") + flag;
      }
      if (pair) line.name = "--[no-]" + names[0];
      if (option->get_items_expected_max() > 0) tell_value(*option, line);
      line.choices = choices_of(line.flags.back());
      line.often = is_often(*option);
    }
    lines.push_back(std::move(line));
  }
  std::ranges::stable_sort(
      lines, [](const OptionLine& a, const OptionLine& b) { return a.positional > b.positional; });
  // A group's options stand together, groups in the order in which they first come; what the verb
  // itself takes goes last.
  std::vector<OptionLine> sorted;
  std::vector<std::string> groups;
  for (const OptionLine& line : lines) {
    if (line.group != "Options" && std::ranges::find(groups, line.group) == groups.end()) {
      groups.push_back(line.group);
    }
  }
  groups.insert(groups.begin(), "Options");
  for (const std::string& group : groups) {
    for (const OptionLine& line : lines) {
      if (line.group == group) sorted.push_back(line);
    }
  }
  return sorted;
}

}  // namespace fovea::cli
