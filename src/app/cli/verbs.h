// Each verb adds itself to the command line; what it does runs when its words have been read.
#pragma once

#include <string>
#include <vector>

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

// What f gives; an Error that is no file's is the words': a UsageError.
template <class F>
auto as_usage(F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    throw UsageError(error.what());
  }
}

using Words = std::vector<std::string>;  // the command line, without the program

// Measuring starts the program again, so it needs its words.
void add_bench(CLI::App& app, char** argv);  // fovea bench WHAT
void add_list(CLI::App& app);                // fovea list
void add_shell(CLI::App& app);               // fovea completion SHELL, fovea man
// What `train` and `compare` can be told depends on the task and model named: they see all words.
void add_fit(CLI::App& app, const Words& words, int& exit_code);      // fovea fit FILE...
void add_train(CLI::App& app, const Words& words, int& exit_code);    // fovea train TASK
void add_eval(CLI::App& app);                                         // fovea eval DIR
void add_predict(CLI::App& app, int& exit_code);                      // fovea predict DIR
void add_info(CLI::App& app);                                         // fovea info DIR
void add_attend(CLI::App& app);                                       // fovea attend DIR TEXT
void add_score(CLI::App& app, int& exit_code);                        // fovea score DIR FILE
void add_compare(CLI::App& app, const Words& words, int& exit_code);  // fovea compare TASK
void add_arena(CLI::App& app, int& exit_code);                        // fovea arena

}  // namespace fovea::cli
