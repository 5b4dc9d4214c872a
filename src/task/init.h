// Starting a model from what another one has learned.
#pragma once

#include "fovea/task/solver.h"
#include "fovea/train/checkpoint.h"

namespace fovea {

// --init: the encoder's weights come from that folder's model, which must be of the same size.
inline void start_from_encoder(const Config& config, Parameters& parameters) {
  if (config.init.empty()) return;
  check(load_config(config.init).task == "mlm", config.init, ": is not an mlm model");
  check(is_transformer(config), "init: needs --model transformer, as the encoder is one");
  load_part(config.init + "/model.safetensors", parameters, "encoder/");
}

}  // namespace fovea
