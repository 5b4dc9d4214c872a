// What a model says to an input: the answer as a line of text, and what it is made of.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/text_place.h"

namespace fovea {

struct LabelProbability {
  std::string label;       // as the data spells it
  double probability = 0;  // of all labels they sum to 1
};

// A token of the input with the tag that it got, or a token of a text that was written.
struct AnswerToken {
  std::string text;                  // as a person reads it
  std::optional<TextPlace> place{};  // in the input; a token that was written has none
  std::string tag{};                 // empty for a token that was written
  double log_probability = 0;        // of the tag, or of the token after all before it

  double probability() const { return std::exp(log_probability); }  // from 0 to 1
};

// Tokens whose tags say that they are one thing: B-PER I-PER.
struct Entity {
  std::string kind, text;                   // PER; as it stands in the input
  TextPlace place;                          // from its first token to its last, in the input
  int64_t first_token = 0, last_token = 0;  // among the tokens, both included
  double probability = 0;                   // of its least likely token
};

// One answer. Text and score are always there; the rest goes by what the model gives, and is only
// filled in where PredictOptions::details asks for it.
struct Prediction {
  std::string text;                               // the answer as a line
  double score = 0;                               // log-probability, as the task defines it
  std::vector<LabelProbability> probabilities{};  // one label: of all labels, likeliest first
  std::vector<AnswerToken> tokens{};              // labels: of the input; a text: of the answer
  std::vector<Entity> entities{};                 // labels that mark them
  std::optional<double> number{};    // of a model that gives one, in the unit of the data
  std::optional<TextPlace> place{};  // of an answer that stands in the passage
};

// What became of one input of several: its predictions, best first, or why it has none.
struct Answered {
  std::vector<Prediction> predictions;  // empty where there is an error
  std::string error;                    // empty: none
};

// What to answer, and how much to tell.
struct PredictOptions {
  int64_t nbest = 1;     // answers a line, at least 1
  uint64_t seed = 0;     // of what is drawn: line i of all that were asked draws its own numbers
  uint64_t first = 0;    // how many lines were asked before the first of these
  bool details = false;  // all of Prediction, not only text and score
  // Called with each piece of a line's first answer as it is written, by tasks that write it so.
  std::function<void(size_t line, std::string_view piece)> written{};
};

}  // namespace fovea
