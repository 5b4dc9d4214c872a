// The man page and the completions, from the table of verbs and their options.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "fovea/app/cli/help.h"
#include "fovea/app/cli/option_table.h"
#include "fovea/base/names.h"
#include "fovea/base/words.h"
#include "fovea/task/solver.h"

namespace fovea::cli {
namespace {

struct VerbTable {
  std::string name, help;
  std::vector<OptionLine> options;  // of train and compare those of every task
};

std::vector<VerbTable> verb_tables() {
  std::vector<VerbTable> all;
  for (const Task& task : tasks()) {
    for (const char* which : {"train", "compare"}) {
      CLI::App app;
      int exit_code = 0;
      std::string name = "fovea";
      char* argv[] = {name.data(), nullptr};
      add_verbs(app, {which, task.name}, argv, exit_code);
      for (const CLI::App* verb : app.get_subcommands({})) {
        auto found = std::ranges::find(all, verb->get_name(), &VerbTable::name);
        if (found == all.end()) {
          found = all.insert(all.end(), {verb->get_name(), verb->get_description(), {}});
        }
        for (OptionLine& line : option_lines(*verb)) {
          if (std::ranges::find(found->options, line.name, &OptionLine::name) ==
              found->options.end()) {
            found->options.push_back(std::move(line));
          }
        }
      }
    }
  }
  return all;
}

std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  if (out.starts_with('.') || out.starts_with('\'')) out = "\\&" + out;
  return out;
}

std::string in_quotes(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return "'" + out + "'";
}

std::vector<std::string> flags_of(const VerbTable& verb) {
  std::vector<std::string> all;
  for (const OptionLine& option : verb.options) {
    all.insert(all.end(), option.flags.begin(), option.flags.end());
  }
  return all;
}

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const Task& task : tasks()) names.push_back(task.name);
  return names;
}

// What may stand behind a flag, where only some words may.
std::map<std::string, std::vector<std::string>> values(const std::vector<VerbTable>& verbs) {
  std::map<std::string, std::vector<std::string>> all;
  for (const VerbTable& verb : verbs) {
    for (const OptionLine& option : verb.options) {
      if (option.choices.empty() || option.positional) continue;
      for (const std::string& flag : option.flags) all[flag] = option.choices;
    }
  }
  return all;
}

std::string bash() {
  const auto verbs = verb_tables();
  std::vector<std::string> names;
  for (const VerbTable& verb : verbs) names.push_back(verb.name);
  std::string text =
      "# bash completion of fovea, made by `fovea completion bash`\n"
      "_fovea() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
      "  local verb=\"${COMP_WORDS[1]}\" words=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '" +
      joined(names) +
      " help --help --version' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$before\" in\n";
  for (const auto& [flag, choices] : values(verbs)) {
    text += "    " + flag + ") COMPREPLY=($(compgen -W '" + joined(choices) +
            "' -- \"$word\")); return ;;\n";
  }
  text += "  esac\n  case \"$verb\" in\n";
  for (const VerbTable& verb : verbs) {
    const bool task = verb.name == "train" || verb.name == "compare";
    text += "    " + verb.name + ") words='" + joined(flags_of(verb)) + "'";
    if (task) {
      text += "\n      [ \"$COMP_CWORD\" -eq 2 ] && words='" + joined(task_names()) + "'";
    }
    text += " ;;\n";
  }
  text += "    help) words='" + joined(names) +
          "' ;;\n"
          "  esac\n"
          "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
          "}\n"
          "complete -o default -F _fovea fovea\n";
  return text;
}

std::string zsh() {
  const auto verbs = verb_tables();
  std::string text =
      "#compdef fovea\n# zsh completion of fovea, made by `fovea completion zsh`\n"
      "_fovea() {\n  local -a verbs options\n  verbs=(\n";
  const auto plain = [](std::string help) {
    std::ranges::replace(help, ':', ';');
    std::ranges::replace(help, '[', '(');
    std::ranges::replace(help, ']', ')');
    return help;
  };
  for (const VerbTable& verb : verbs) {
    text += "    " + in_quotes(verb.name + ":" + plain(verb.help)) + "\n";
  }
  text +=
      "  )\n  if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n"
      "  case $words[2] in\n";
  for (const VerbTable& verb : verbs) {
    text += "    " + verb.name + ")\n      options=(\n";
    for (const OptionLine& option : verb.options) {
      for (const std::string& flag : option.flags) {
        const bool no = flag.starts_with("--no-");
        std::string spec = flag + "[" + (no ? "not; " : "") + plain(option.help) + "]";
        if (!option.value.empty()) {
          spec += ":" + plain(option.value) + ":" +
                  (option.choices.empty() ? "_files" : "(" + joined(option.choices) + ")");
        }
        text += "        " + in_quotes(spec) + "\n";
      }
    }
    const bool task = verb.name == "train" || verb.name == "compare";
    text +=
        "      )\n      _arguments '1:verb:' " +
        (task ? in_quotes("2:task:(" + joined(task_names()) + ")") : in_quotes("*:file:_files")) +
        " $options ;;\n";
  }
  return text + "  esac\n}\n_fovea \"$@\"\n";
}

std::string fish() {
  const auto verbs = verb_tables();
  std::string text = "# fish completion of fovea, made by `fovea completion fish`\n";
  for (const VerbTable& verb : verbs) {
    text += "complete -c fovea -n __fish_use_subcommand -f -a " + verb.name + " -d " +
            in_quotes(verb.help) + "\n";
    const std::string under =
        "complete -c fovea -n '__fish_seen_subcommand_from " + verb.name + "' ";
    if (verb.name == "train" || verb.name == "compare") {
      text += under + "-f -a " + in_quotes(joined(task_names())) + "\n";
    }
    for (const OptionLine& option : verb.options) {
      for (const std::string& flag : option.flags) {
        if (!flag.starts_with("--")) continue;
        text += under + "-l " + flag.substr(2);
        if (!option.value.empty()) text += " -r";
        if (!option.choices.empty()) text += " -f -a " + in_quotes(joined(option.choices));
        text += " -d " + in_quotes(option.help) + "\n";
      }
    }
  }
  return text;
}

}  // namespace

std::string completion_of(const std::string& shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  throw UsageError(unknown_name("shell", shell, std::vector<std::string>{"bash", "zsh", "fish"}));
}

std::string man_page() {
  std::string text = ".TH FOVEA 1 \"\" \"fovea " FOVEA_VERSION
                     "\"\n.SH NAME\nfovea \\- trains, compares and shows attention on the CPU\n"
                     ".SH SYNOPSIS\n.B fovea\n.I VERB\n[options]\n.SH DESCRIPTION\n"
                     "Learns from files of examples, answers, measures, compares models under one "
                     "budget and shows what they look at. Results go to stdout, messages to "
                     "stderr; it ends with 0 when done, 1 when something failed and 2 for words "
                     "that it does not understand.\n.SH TASKS\n";
  for (const Task& task : tasks()) {
    text += ".TP\n.B " + roff(task.name) + "\n" + roff(task.title) +
            ". Files: " + roff(task.input) + ".\n";
  }
  text += ".SH VERBS\n";
  for (const VerbTable& verb : verb_tables()) {
    text += ".SS fovea " + verb.name + "\n" + roff(verb.help) + ".\n";
    for (const OptionLine& option : verb.options) {
      text += ".TP\n.B " + roff(option.name);
      if (!option.value.empty()) text += " \\fI" + roff(option.value) + "\\fR";
      text += "\n" + roff(option.help) + "\n";
    }
  }
  text +=
      ".SH ENVIRONMENT\n.TP\n.B FOVEA_THREADS\nhow many threads it uses\n.TP\n.B FOVEA_TARGET\n"
      "the instruction set: sse4, avx2 or avx512\n.TP\n.B FOVEA_EXPLAIN\n"
      "1: say which path each attention took\n";
  return text;
}

void add_shell(CLI::App& app) {
  auto* completion =
      app.add_subcommand("completion", "Print what makes bash, zsh or fish complete its words");
  auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash, zsh or fish")->required();
  completion->callback([shell] { std::fputs(completion_of(*shell).c_str(), stdout); });
  auto* man = app.add_subcommand("man", "Print the page for man");
  man->callback([] { std::fputs(man_page().c_str(), stdout); });
}

}  // namespace fovea::cli
