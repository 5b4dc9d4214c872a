// Attention of one head whose score and alignment are chosen by name: what recurrent models look at
// their encoder with.
#pragma once

#include "fovea/attention/catalog.h"

namespace fovea {

struct AttentionChoice {
  std::string score = "additive";  // of the catalogue, or "none"
  std::string align = "softmax";
  MechanismOptions options{};  // widths are filled in by the model
};

struct NamedAttention {
  NamedAttention(Scope s, AttentionChoice choice, int64_t d_q, int64_t d_k);

  struct Inputs {
    Tensor q;                  // [B, Tq, d_q]
    Tensor memory;             // [B, S, d_k]: keys and values
    Tensor lengths;            // int32 [B]: how much of each memory counts
    int64_t step = -1;         // all queries stand at this place; -1: they are a whole sequence
    Random* random = nullptr;  // for alignments that draw
  };
  struct Output {
    Tensor context;          // [B, Tq, d_k]
    Tensor log_probability;  // [B, Tq]; of what was drawn, else empty
  };
  Output operator()(const Inputs& in) const;

  std::string name;  // its path: what a Recorder calls its map

 private:
  AttentionChoice choice_;
  Score score_;
  Alignment align_;
};

}  // namespace fovea
