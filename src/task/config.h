// Everything that can be said about a run. Options are declared where their part is declared (data
// and answers here, training in train/options.h, each model's and mechanism's in its own files);
// which of them count depends on the task, the model and the mechanisms that are chosen, and
// whatever does not count is refused.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fovea/base/fields.h"
#include "fovea/data/picture_batch.h"
#include "fovea/data/records.h"
#include "fovea/model/inputs.h"
#include "fovea/train/options.h"

namespace fovea {

struct DataOptions : PictureOptions {
  std::string data;       // a file, - (stdin), two parallel files "a,b", or builtin:NAME
  std::string dev, test;  // files of the same format; empty: parts of `data`
  // Shares of `data` that are set apart where no file is named.
  double dev_part = 0.1, test_part = 0.1;
  int64_t examples = 0;       // built-in data: how many; 0: as many as suit it
  std::string tokens;         // as TokenizerOptions::kind has it
  std::string target_tokens;  // of translate's target; empty: as `tokens`
  bool lowercase = false;     // all text, by Unicode
  int64_t min_count = 1;      // rarer tokens are unknown
  int64_t vocabulary = 0;     // most tokens; 0: all
  int64_t longest = 400;      // longer examples, in tokens, are not learned from
  // How files are read: see ReadOptions.
  std::string columns, format = "auto", header = "auto", encoding = "auto";
  bool skip_bad = false;
  std::vector<ColumnNames> learned{};  // no option: the model's own table had these
  int64_t context = 256;               // lm: tokens of a window of text
  std::string tasks;                   // qa: only those, as 1,4-10
  int64_t hashed = 0;                  // qa: vectors, not learned, for words that are not known
  std::string lengths, test_lengths;   // algorithm: of the problems; empty: as suits them
  int64_t bits = 8, symbols = 32, repeats = 10;
  int64_t curriculum = 0;         // algorithm: epochs until all lengths are in use
  int64_t side = 32;              // of built-in pictures
  int64_t letters_of_text = 500;  // of built-in documents
  bool directed = false;     // graph: who is named second looks at the first, and not the other way
  std::string neighbours;    // graph: how many each layer looks at, drawn; "": all
  std::string bleu = "13a";  // words that BLEU counts: 13a, or none where they are spaced already
};
// All of them, with their ranges; a task reads some.
const Fields<DataOptions>& data_fields();
// The fields that say how files are read.
ReadOptions read_options(const DataOptions& options);
// Those of its fields that say how a file is read: whoever measures on another file may say others.
const std::vector<std::string>& reading_options();

// How a trained model answers: they may change after training.
struct AnswerOptions {
  int64_t beam = 1;           // answers followed at once; 1 is greedy
  double length_penalty = 1;  // above 0 favours longer answers
  int64_t length = 200;       // lm: tokens that continue a prompt
  // Of drawing: temperature 0 takes the likeliest; top_p leaves the likeliest tokens that make up
  // this share of the probability.
  double temperature = 1, top_p = 1;
  int64_t top_k = 0;            // draw from so many likeliest tokens; 0: all
  int64_t longest_answer = 30;  // read: tokens of an answer that is a part of the passage
  double no_answer = 0;         // read: added to the score of there being none
  std::string passage{};        // read: a file that all questions are about
};
// All of them, with their ranges; a task reads some.
const Fields<AnswerOptions>& answer_fields();

struct Task;

// A run as config.json keeps it.
struct Config : DataOptions, TrainOptions, AnswerOptions {
  std::string task, model;  // by their names
  // Every option that counts, with its value.
  Settings settings;
};

// The options that count, in groups for people to read; the first value of each is what the task,
// the model and the data suggest.
struct OptionGroup {
  std::string title;              // for people
  std::vector<FieldInfo> fields;  // each with its first value
};
// Of a task, given what has been said so far: the model, say.
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

// The options of config.json, by name; and back, all of them checked.
nlohmann::json to_json(const Config& config);
Config config_from_json(const std::string& task, const nlohmann::json& options);

// A recipe that users can name: settings for a task that are known to reach a result.
struct Preset {
  std::string name, task, help;  // how it is asked for, whose it is, and what it reaches
  Settings settings;             // that are said before the user's own
};
// In the order that lists have them.
const std::vector<Preset>& presets();
// An unknown one is an Error that suggests the nearest.
const Preset& find_preset(std::string_view name);

}  // namespace fovea
