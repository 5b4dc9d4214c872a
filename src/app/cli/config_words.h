// The options of Config as words of a verb: --score additive, --input-feeding, --set width=512.
#pragma once

#include <memory>
#include <string>

#include "fovea/task/solver.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fovea::cli {

class ConfigWords {
 public:
  // Adds an option for every field, in groups, and --preset and --set.
  explicit ConfigWords(CLI::App& verb);
  // Adds the options that say how a trained model answers, as --beam.
  static ConfigWords of_answers(CLI::App& verb);
  // What was said, in order: the preset's settings, the options, then --set. A preset of another
  // task is a UsageError.
  Settings settings(const std::string& task = "") const;

 private:
  ConfigWords() = default;
  void add(CLI::App& verb, const std::string& group);
  struct Word {
    std::string name, value;
    const CLI::Option* option;
  };
  std::vector<std::unique_ptr<Word>> words_;
  std::string preset_;
  std::vector<std::string> sets_;
};

// Adds the first word of a verb: which task, of all there are.
void add_task(CLI::App& verb, std::string& task);
// make_config and find_task, with whatever they find wrong said as wrong usage.
const Task& task_named(const std::string& name);
Config config_of(const Task& task, const Settings& settings);
// A word as a shell takes it: in quotes where it needs them.
std::string shell_word(const std::string& text);
// A setting as the words of a verb that say it: "--score-width 8", "--lowercase".
std::string setting_words(const std::string& key, const std::string& value);
// "key=value" in its parts.
std::pair<std::string, std::string> key_and_value(const std::string& text);

}  // namespace fovea::cli
