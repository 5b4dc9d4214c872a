// Everything that can be said about a run. Options are declared where their part is declared (data
// and answers here, training in train/options.h, each model's and mechanism's in its own files);
// which of them count depends on the task, the model and the mechanisms that are chosen, and
// whatever does not count is refused.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fovea/base/fields.h"
#include "fovea/model/inputs.h"
#include "fovea/train/options.h"

namespace fovea {

struct DataOptions {
  std::string data;       // a file, two parallel files "a,b", or builtin:NAME
  std::string dev, test;  // files of the same format; empty: parts of `data`
  double dev_part = 0.1, test_part = 0.1;
  int64_t examples = 0;       // built-in data: how many; 0: as many as suit it
  std::string tokens;         // chars, words, bpe:N, unigram:N
  std::string target_tokens;  // of translate's target; empty: as `tokens`
  bool lowercase = false;
  int64_t min_count = 1;     // rarer tokens are unknown
  int64_t vocabulary = 0;    // most tokens; 0: all
  int64_t longest = 400;     // longer examples, in tokens, are not learned from
  std::string column;        // CoNLL: which holds the tags
  int64_t context = 256;     // lm: tokens of a window of text
  std::string bleu = "13a";  // words that BLEU counts: 13a, or none where they are spaced already
};
const Fields<DataOptions>& data_fields();

struct AnswerOptions {
  int64_t beam = 1;
  double length_penalty = 1;
  int64_t length = 200;  // lm: tokens that continue a prompt
  double temperature = 1, top_p = 1;
  int64_t top_k = 0;
};
const Fields<AnswerOptions>& answer_fields();

struct Task;

// A run as config.json keeps it.
struct Config : DataOptions, TrainOptions, AnswerOptions {
  std::string task, model;
  // Every option that counts, with its value.
  Settings settings;
};

// The options that count, in groups for people to read; the first value of each is what the task,
// the model and the data suggest.
struct OptionGroup {
  std::string title;
  std::vector<FieldInfo> fields;
};
std::vector<OptionGroup> options_of(const Task& task, const Settings& said);

// The task's defaults, then the model's, then those of its built-in data, then what was said. An
// option that does not count, or a value that it cannot have, is an Error that says what can be.
Config make_config(const Task& task, const Settings& said);
// The same run with other values, all of them checked.
Config changed(const Config& config, const Settings& said);

// Of what was said for several choices at once, that which this choice reads: all that the choice
// itself says must be read, the rest is left out where it is not.
Settings read_by_choice(const Task& task, const Settings& for_all, const Settings& choice);

// Whether any model, mechanism, task or training reads an option of that name.
bool option_exists(std::string_view name);

// Options that a run may change when it goes on: how long, how fast, how often it is saved.
const std::vector<std::string>& resumable_options();

nlohmann::json to_json(const Config& config);
Config config_from_json(const std::string& task, const nlohmann::json& options);

// A recipe that users can name: settings for a task that are known to reach a result.
struct Preset {
  std::string name, task, help;
  Settings settings;
};
const std::vector<Preset>& presets();
const Preset& find_preset(std::string_view name);

}  // namespace fovea
