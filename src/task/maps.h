// From what a Recorder kept to maps that can be drawn.
#pragma once

#include <functional>

#include "fovea/attention/recorder.h"
#include "fovea/report/heat_map.h"

namespace fovea {

struct MapLabels {
  std::vector<std::string> queries, keys;
};

// The maps of sequence `b`, cut to the queries and keys that `labels` gives for a map's name; a map
// that was recorded step by step becomes one, and each head has its own.
std::vector<AttentionMap> maps_of(const Recorder& recorder, int64_t b,
                                  const std::function<MapLabels(const std::string& name)>& labels);

}  // namespace fovea
