// The options of a run as words of a verb: --score additive, --input-feeding, --set width=512. Only
// those that count for the task, the model and the mechanisms that the words name.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fovea/task/solver.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fovea::cli {

class ConfigWords {
 public:
  // Adds an option for every field that counts, in groups, and --preset and --set. What counts is
  // told by all the words of the command line, which are looked through before they are parsed.
  ConfigWords(CLI::App& verb, const std::vector<std::string>& words);
  // Adds the options that say how a trained model answers, as --beam.
  static ConfigWords of_answers(CLI::App& verb);
  // Adds the options that say how files are read, as --columns.
  void add_reading(CLI::App& verb);
  // What was said, in order: the preset's settings, the options, then --set. What the preset says
  // and the rest leaves unread in every one of `choices` (none: of one run) is left out. A preset
  // of another task is a UsageError.
  Settings settings(const std::string& task = "", const std::vector<Settings>& choices = {}) const;
  // The same with all that the preset says.
  Settings with_preset(const std::string& task) const;

 private:
  ConfigWords() = default;
  Settings said() const;
  void add(CLI::App& verb, const std::string& title, const std::vector<FieldInfo>& fields);
  struct Word {
    std::string name, value;
    const CLI::Option* option;
  };
  std::vector<std::unique_ptr<Word>> words_;
  std::string preset_;
  std::vector<std::string> sets_;
};

// Names of the options that one of the choices reads at least, where `all` is said for each.
std::set<std::string> read_by_any(const Task& task, const Settings& all,
                                  const std::vector<Settings>& choices);
// Adds the first word of a verb: which task, of all there are.
void add_task(CLI::App& verb, std::string& task);
// make_config and find_task, with whatever they find wrong said as wrong usage.
const Task& task_named(const std::string& name);
Config config_of(const Task& task, const Settings& settings);
// On stderr, what the solver noticed: how files were read and texts split.
void print_notes(Solver& solver);
// open_solver, with options that say nothing about its answers said as wrong usage.
std::unique_ptr<Solver> solver_of(const std::string& folder, const ConfigWords& answers);
// A word as a shell takes it: in quotes where it needs them.
std::string shell_word(const std::string& text);
// A setting as the words of a verb that say it: "--score-width 8", "--lowercase".
std::string setting_words(const std::string& key, const std::string& value);
// "key=value" in its parts.
std::pair<std::string, std::string> key_and_value(const std::string& text);
// Why an option that exists somewhere is not one here; empty when there is none of that name.
std::string not_read_here(const std::vector<std::string>& words, const std::string& flag);

}  // namespace fovea::cli
