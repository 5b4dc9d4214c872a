// What the rows and columns of maps over stories are called.
#pragma once

#include "fovea/attention/recorder.h"
#include "fovea/data/stories.h"
#include "fovea/task/maps.h"

namespace fovea {

// Of the maps whose name begins so: sentences, hops, slots, or the words of story and question in a
// row. A memory keeps so many of the newest sentences; 0: all.
MapLabels story_labels(const Recorder& recorder, const std::string& map, const StoryQuestion& asked,
                       int64_t memory);

}  // namespace fovea
