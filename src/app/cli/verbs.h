// Each verb adds itself to the command line; what it does runs when its words have been read.
#pragma once

#include "fovea/base/error.h"

namespace CLI {
class App;
}

namespace fovea::cli {

// The words were understood but name something that does not exist: exit 2 rather than 1.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Measuring starts the program again, so it needs its words.
void add_bench(CLI::App& app, char** argv);  // fovea bench WHAT
void add_list(CLI::App& app);                // fovea list
void add_train(CLI::App& app);               // fovea train TASK

}  // namespace fovea::cli
