// The two kinds of reading, each made in its own file.
#pragma once

#include "fovea/task/solver.h"

namespace fovea {

// As make_read has it: answers that are parts of the passage, and choices among candidates.
std::unique_ptr<Solver> make_read_span(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_read_choice(const Config&, Purpose, const std::string& folder);

}  // namespace fovea
