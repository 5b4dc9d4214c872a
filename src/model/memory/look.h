// How models of stories look at what they remember: one question of each story at its slots, by a
// score and an alignment of the catalogue.
#pragma once

#include "fovea/attention/catalog.h"

namespace fovea {

struct MemoryLook {
  // Paths: score, align. `model` is who refuses what it cannot learn with; `name` what a Recorder
  // calls the map. Questions and slots are `width` wide.
  MemoryLook(Scope s, const std::string& model, const std::string& name,
             const AttentionOptions& options, int64_t width);

  // What is looked at.
  struct Memory {
    Tensor keys, values;  // [B, slots, 1, width]
    // int32 [B]: slots of each story that hold something, the oldest first. The question stands
    // behind the newest, for alignments that look near to it. Empty: all, in no order.
    Tensor filled{};
    // To be added to the scores, [B, 1, 1, slots], and then who is looked at is its to say.
    Tensor bias{};
  };
  // q [B, width]: what is read for each, as wide. Another alignment may stand in for a while.
  Tensor operator()(const Tensor& q, const Memory& memory,
                    const Alignment* instead = nullptr) const;

 private:
  Score score_;
  Alignment align_;
  std::string name_;
};

// How such models look unless they are told: the dot product, through softmax.
AttentionOptions dot_attention();

}  // namespace fovea
