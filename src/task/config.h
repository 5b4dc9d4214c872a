// Everything that can be said about a run: what to learn from, the model, the training. Fields are
// listed once; the command line, config.json and the documentation come from that list.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fovea/base/fields.h"
#include "fovea/model/named_attention.h"
#include "fovea/model/recurrent_encoder.h"
#include "fovea/model/transformer_options.h"
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

struct ModelOptions {
  std::string model = "rnn";
  std::string init;  // folder of an mlm model whose encoder this one starts from
  std::string cell = "gru";
  int64_t layers = 1, embed = 128, width = 256;
  bool bidirectional = true;
  double dropout = 0;
  std::string score = "additive", align = "softmax";
  std::string summary = "last";
  bool input_feeding = false;
  int64_t letters = 64;
  // Of Transformers.
  int64_t heads = 4, key_heads = 0, hidden = 0;
  std::string norm = "pre", activation = "gelu", position = "sinusoidal";
  double attention_dropout = 0;
  bool tied = true, shared = false, recompute = false;
  // Of scores and alignments: MechanismOptions.
  int64_t score_width = 64, longest_keys = 512, reach = 10;
  std::string act = "tanh";
  double beta = 1, kernel_width = 1, alpha = 1.5;
  // When answering.
  int64_t beam = 1;
  double length_penalty = 1;
  int64_t length = 200;  // lm: tokens that continue a prompt
  double temperature = 1, top_p = 1;
  int64_t top_k = 0;
};

struct Config : DataOptions, ModelOptions, TrainOptions {
  std::string task;
};

const Fields<Config>& config_fields();

nlohmann::json to_json(const Config& config);
// Fields that the JSON does not have keep their values; an unknown one is an Error.
void from_json(const nlohmann::json& json, Config& config);

// What the models take.
RecurrentModelOptions recurrent_options(const Config& config);
AttentionChoice attention_choice(const Config& config);
TransformerOptions transformer_options(const Config& config);
// Whether --model is transformer rather than rnn; another name is an Error.
bool is_transformer(const Config& config);

// A recipe that users can name: settings for a task that are known to reach a result.
struct Preset {
  std::string name, task, help;
  std::vector<std::pair<std::string, std::string>> settings;
};
const std::vector<Preset>& presets();
const Preset& find_preset(std::string_view name);

}  // namespace fovea
