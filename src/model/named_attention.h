// Attention whose score, alignment and way of asking are chosen by name: what models look at their
// states with.
#pragma once

#include "fovea/attention/catalog.h"

namespace fovea {

// Whether there is attention at all: score=none says no.
inline bool attends(const AttentionOptions& o) { return o.score != "none"; }

struct NamedAttention {
  NamedAttention(Scope s, AttentionOptions options, int64_t d_q, int64_t d_k);

  // What a call takes.
  struct Inputs {
    Tensor q;           // [B, Tq, d_q]
    Tensor memory;      // [B, S, d_k]: keys and values
    Tensor lengths;     // int32 [B]: how much of each memory counts
    int64_t step = -1;  // all queries stand at this place; -1: they are a whole sequence
    Capture capture{};  // which weights to keep
  };
  // What a call gives.
  struct Output {
    Tensor context;          // [B, Tq, d_k]
    Tensor log_probability;  // [B, Tq]; of what was drawn, else empty
    Weights weights;         // as the capture asks
  };
  Output operator()(const Inputs& in) const;

  std::string name;  // its path: what a Recorder calls its map

 private:
  Mechanism attention_;
};

// The options of an attention that count once its score, alignment and query are chosen.
std::vector<FieldInfo> attention_options(const Settings& settings, const AttentionOptions& start);
// The same of the attention inside of a mechanism over several inputs, by its name.
std::vector<FieldInfo> attention_options_of(const std::string& feature, const Settings& settings,
                                            const AttentionOptions& start);

}  // namespace fovea
