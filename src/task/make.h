// The tasks of the table, each made in its own file.
#pragma once

#include "fovea/task/solver.h"

namespace fovea {

// For Task::make: a folder gives the vocabularies, and to be used the weights too.
std::unique_ptr<Solver> make_translate(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_label(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_classify(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_pair(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_aspect(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_lm(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_mlm(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_regress(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_text_regress(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_qa(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_read(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_algorithm(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_image(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_caption(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_ask(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_graph(const Config&, Purpose, const std::string& folder);
std::unique_ptr<Solver> make_links(const Config&, Purpose, const std::string& folder);

}  // namespace fovea
