// The rows of the table of models for pictures and words: captions, and questions about a picture.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

// Captioners of pictures and frames, and models of questions about a scene.
std::vector<ModelEntry> sight_word_rows();

}  // namespace fovea
