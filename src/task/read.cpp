// read: a passage and a question, answered by a part of the passage or by one of several
// candidates, whichever the model gives.
#include "fovea/task/make.h"
#include "fovea/task/read_kinds.h"

namespace fovea {

std::unique_ptr<Solver> make_read(const Config& config, Purpose purpose,
                                  const std::string& folder) {
  const TaskVariant variant = variant_of(find_task(config.task), config.settings);
  return variant.gives == Gives::span ? make_read_span(config, purpose, folder)
                                      : make_read_choice(config, purpose, folder);
}

}  // namespace fovea
