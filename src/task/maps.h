// From what a Recorder kept to maps that can be drawn.
#pragma once

#include <functional>

#include "fovea/attention/recorder.h"
#include "fovea/data/tokenizer.h"
#include "fovea/report/heat_map.h"

namespace fovea {

struct MapLabels {
  std::vector<std::string> queries, keys;  // of rows and columns of a map
  // Where each stands in the input; empty where they are no part of it.
  std::vector<TextPlace> query_places{}, key_places{};
};

// Tokens of an input as labels of queries or keys.
struct PlacedTokens {
  std::vector<std::string> pieces;  // as a person reads them
  std::vector<TextPlace> places;    // of each in the text
};
// What a model sees of a text.
PlacedTokens placed_tokens(const Tokenizer& tokens, std::string_view text);
// Every query and key is one of them; or only keys are.
MapLabels within(const PlacedTokens& tokens);
MapLabels onto(std::vector<std::string> queries, const PlacedTokens& tokens);

// Exact weights, or of a text of more than 2,000 tokens a summary: a matrix of all pairs would be
// more than anyone can look at, and than memory holds.
Capture capture_of(size_t tokens);

// The maps of sequence `b`, cut to the queries and keys that `labels` gives for a map's name; a map
// that was recorded step by step becomes one, and each head has its own. Layers and heads count
// from 1: "encoder/1/self head 1". A summary gives blocks of queries and keys, named by their
// first.
std::vector<AttentionMap> maps_of(const Recorder& recorder, int64_t b,
                                  const std::function<MapLabels(const std::string& name)>& labels);

}  // namespace fovea
