// fovea list: tasks and presets, and every mechanism of the catalogue.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "fovea/app/cli/verbs.h"
#include "fovea/attention/catalog.h"
#include "fovea/base/utf8.h"
#include "fovea/task/solver.h"

namespace fovea::cli {
namespace {

const char* title_of(Entry::Kind kind) {
  switch (kind) {
    case Entry::Kind::score:
      return "Scores";
    case Entry::Kind::alignment:
      return "Alignments";
    case Entry::Kind::position:
      return "Positions";
    case Entry::Kind::query:
      return "Queries";
    case Entry::Kind::feature:
      return "Several inputs";
    case Entry::Kind::efficient:
      return "Attention of a sequence to itself (--attention)";
  }
  return "";
}

std::string option_text(const Entry& entry) {
  const AttentionOptions defaults;
  std::string text;
  for (const std::string& name : entry.options) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name,
                        attention_fields().get(defaults, name));
  }
  return text;
}

void print_json() {
  nlohmann::json list = nlohmann::json::array();
  for (const Entry& entry : catalog()) {
    nlohmann::json options = nlohmann::json::array(), laws = nlohmann::json::array();
    for (const auto& field : attention_fields().list()) {
      if (std::ranges::find(entry.options, field.name) == entry.options.end()) continue;
      options.push_back({{"name", field.name},
                         {"default", attention_fields().get({}, field.name)},
                         {"help", field.help}});
    }
    for (Law law : entry.laws) laws.push_back(name_of(law));
    nlohmann::json row{
        {"id", entry.id},       {"name", entry.name},   {"kind", name_of(entry.kind)},
        {"title", entry.title}, {"paper", entry.paper}, {"equation", entry.equation},
        {"options", options},   {"laws", laws}};
    if (!entry.cost.empty()) {
      row["class"] = entry.family, row["cost"] = entry.cost, row["causal"] = entry.causal;
    }
    list.push_back(std::move(row));
  }
  fmt::print("{}\n", list.dump(2));
}

// One entry's line in 80 columns: what does not fit goes on below, two columns further in.
template <class... Parts>
void print_line(fmt::format_string<Parts...> format, Parts&&... parts) {
  constexpr size_t width = 80;
  std::string line = fmt::format(format, std::forward<Parts>(parts)...);
  const size_t indent = std::min(line.find_first_not_of(' '), width / 2);
  while (static_cast<size_t>(count_code_points(line)) > width) {
    size_t end = 0, columns = 0, cut = 0;
    for (std::string_view point : code_points(line)) {
      if (columns++ > width) break;
      if (point == " " && columns > indent + 3) cut = end;
      end += point.size();
    }
    if (cut == 0) break;  // one long word
    fmt::print("{}\n", line.substr(0, cut));
    const size_t rest = line.find_first_not_of(' ', cut);
    if (rest == std::string::npos) return;
    line = std::string(indent + 2, ' ') + line.substr(rest);
  }
  fmt::print("{}\n", line);
}

// Tasks, their built-in data and the recipes.
void print_tasks() {
  fmt::print("Tasks\n");
  for (const Task& task : tasks()) {
    print_line("  {:<18} {}", task.name, task.title);
    print_line("      data: {}", task.input);
    for (const Builtin& builtin : task.builtin) {
      print_line("      builtin:{}: {}", builtin.name, builtin.help);
    }
  }
  fmt::print("\nModels\n");
  for (const ModelEntry& entry : models()) {
    std::string for_tasks;
    for (const Task& task : tasks()) {
      const bool also =
          task.also && task.also->takes == entry.takes && task.also->gives == entry.gives;
      if (!also && (task.takes != entry.takes || task.gives != entry.gives)) continue;
      for_tasks += (for_tasks.empty() ? "" : ", ") + task.name;
    }
    print_line("  {:<18} {}: {}", entry.name, for_tasks, entry.title);
    print_line("      {}", entry.equation);
    if (!entry.paper.empty()) print_line("      {}", entry.paper);
  }
  fmt::print("\nPresets\n");
  for (const Preset& preset : presets()) {
    print_line("  {:<21} {}: {}", preset.name, preset.task, preset.help);
  }
  fmt::print("\n");
}

void print_text() {
  print_tasks();
  std::string kind;
  for (const Entry& entry : catalog()) {
    if (kind != title_of(entry.kind)) {
      fmt::print("{}{}\n", kind.empty() ? "" : "\n", title_of(entry.kind));
      kind = title_of(entry.kind);
    }
    const std::string options = option_text(entry);
    print_line("  {:<18} {:<4} {}", entry.name, entry.id, entry.title);
    if (!entry.cost.empty()) print_line("      {}; cost {}", entry.family, entry.cost);
    print_line("      {}", entry.equation);
    print_line("      {}{}{}", entry.paper, options.empty() ? "" : "; ", options);
  }
}

// The page docs/mechanisms.md.
void print_markdown() {
  fmt::print("# Mechanisms\n\nMade from the catalogue by `fovea list --markdown`.\n");
  for (auto kind : {Entry::Kind::score, Entry::Kind::alignment, Entry::Kind::position,
                    Entry::Kind::query, Entry::Kind::feature, Entry::Kind::efficient}) {
    fmt::print(
        "\n## {}\n\n| name | what | equation | paper | options | laws "
        "|\n|---|---|---|---|---|---|\n",
        title_of(kind));
    for (const Entry& entry : catalog()) {
      if (entry.kind != kind) continue;
      std::string laws;
      for (Law law : entry.laws)
        laws += fmt::format("{}{}", laws.empty() ? "" : ", ", name_of(law));
      std::string equation;
      for (char c : entry.equation) {
        if (c == '|') equation += '\\';  // else it would end the cell
        equation += c;
      }
      const std::string cost =
          entry.cost.empty() ? "" : fmt::format("; {}, {}", entry.family, entry.cost);
      fmt::print("| `{}` | {} {}{} | {} | {} | {} | {} |\n", entry.name, entry.id, entry.title,
                 cost, equation, entry.paper, option_text(entry), laws);
    }
  }
}

}  // namespace

void add_list(CLI::App& app) {
  auto* verb = app.add_subcommand(
      "list", "Tasks, built-in data, presets, and every mechanism with its equation");
  auto form = std::make_shared<std::pair<bool, bool>>(false, false);
  verb->add_flag("--json", form->first, "Print as JSON");
  verb->add_flag("--markdown", form->second, "Print the page docs/mechanisms.md");
  verb->callback([form] {
    form->first ? print_json() : form->second ? print_markdown() : print_text();
  });
}

}  // namespace fovea::cli
