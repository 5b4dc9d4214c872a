// Starting a model from what another one has learned.
#pragma once

#include "fovea/task/solver.h"
#include "fovea/train/checkpoint.h"

namespace fovea {

// The option init: the encoder's weights come from that folder's model, which must be of the same
// size.
inline void start_from_encoder(const Config& config, const Parameters& parameters) {
  const std::string from = config.settings.get("init");
  if (from.empty()) return;
  check(load_config(from).task == "mlm", from, ": is not an mlm model");
  load_part(from + "/model.safetensors", parameters, "encoder/");
}

}  // namespace fovea
