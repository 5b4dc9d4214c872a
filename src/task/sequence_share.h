// What tasks need that let ranks share every sequence (attention/ring.h).
#pragma once

#include "fovea/attention/ring.h"
#include "fovea/task/config.h"

namespace fovea {

// An Error unless the chosen model can share its sequences between ranks.
inline void check_shares_sequences(const Config& config) {
  check(config.model == "transformer",
        "sequence_parallel: needs --model transformer, whose layers but attention go row by row, ",
        "got ", config.model);
}

}  // namespace fovea
