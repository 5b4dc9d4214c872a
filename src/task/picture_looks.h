// Where models of pictures looked, laid over the picture.
#pragma once

#include "fovea/attention/recorder.h"
#include "fovea/data/picture.h"
#include "fovea/model/model.h"
#include "fovea/report/heat_map.h"

namespace fovea {

// Of a model of glimpses, the path of its glimpses; of one over patches, for every layer and head
// how much each patch was looked at by all others, on the mean. Empty for a model without
// attention. `recorder` has heard the model answer about this picture alone, `label`.
std::vector<AttentionMap> picture_looks(const Recorder& recorder, const Network& model,
                                        const Picture& picture, const std::string& label);

}  // namespace fovea
