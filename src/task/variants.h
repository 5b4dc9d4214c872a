// Tasks whose files may hold one of two things: what the second is.
#pragma once

#include "fovea/task/solver.h"

namespace fovea {

// A number from a text instead of numbers.
TaskVariant regress_from_text(std::vector<std::string> files);
// Clozes: the answer is one of several candidates, not a part of the passage.
TaskVariant read_choices(std::vector<std::string> data);
// Films instead of pictures.
TaskVariant caption_of_frames(std::vector<std::string> options);

}  // namespace fovea
