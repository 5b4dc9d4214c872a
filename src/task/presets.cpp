#include "fovea/task/config.h"

namespace fovea {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{
      {"multi30k",
       "translate",
       "short sentences, lower-cased and tokenised, a vocabulary of words",
       {{"tokens", "words"},
        {"min_count", "2"},
        {"cell", "gru"},
        {"embed", "256"},
        {"width", "256"},
        {"score", "additive"},
        {"score_width", "128"},
        {"dropout", "0.35"},
        {"batch", "64"},
        {"rate", "0.002"},
        {"warmup", "100"},
        {"schedule", "cosine"},
        {"floor", "0.02"},
        {"smoothing", "0.1"},
        {"bleu", "none"},
        {"beam", "5"},
        {"time", "24m"}}},
      {"pos",
       "label",
       "parts of speech, with the letters of words",
       {{"cell", "lstm"},
        {"embed", "100"},
        {"width", "200"},
        {"letters", "100"},
        {"dropout", "0.4"},
        {"min_count", "2"},
        {"batch", "32"},
        {"rate", "0.002"},
        {"schedule", "cosine"},
        {"time", "5m"}}},
      {"sentences",
       "classify",
       "short sentences with an opinion",
       {{"cell", "lstm"},
        {"embed", "200"},
        {"width", "100"},
        {"dropout", "0.5"},
        {"batch", "50"},
        {"rate", "0.001"},
        {"weight_decay", "0.0001"},
        {"early_stop", "5"},
        {"time", "5m"}}},
  };
  return all;
}

const Preset& find_preset(std::string_view name) {
  std::vector<std::string> known;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    known.push_back(preset.name);
  }
  fail(unknown_name("preset", name, known));
}

}  // namespace fovea
