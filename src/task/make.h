// The tasks of the table, each made in its own file.
#pragma once

#include "fovea/task/solver.h"

namespace fovea {

std::unique_ptr<Solver> make_translate(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_label(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_classify(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_lm(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_mlm(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_regress(const Config&, Purpose, const std::string& folder);

}  // namespace fovea
