// What the program says of itself: help, a man page, and completions for shells. All of it is made
// from the options that the verbs have declared.
#pragma once

#include <string>

#include "fovea/app/cli/verbs.h"

namespace CLI {
class App;
}

namespace fovea::cli {

// Two columns in and from column `left` on the words of `text`, no line longer than 80.
std::string beside(const std::string& head, const std::string& text, size_t left = 26);

// Of the program, or of one verb, in 80 columns; of `train` and `compare` the options one mostly
// needs, unless `all` is asked for.
std::string help_of(const CLI::App& program, const CLI::App* verb, bool all);

// A page for man, in roff.
std::string man_page();
// What makes the shell know verbs, tasks, options and their values: bash, zsh or fish.
std::string completion_of(const std::string& shell);

// Declares every verb; what `train` and `compare` take depends on the words.
void add_verbs(CLI::App& app, const Words& words, char** argv, int& exit_code);

}  // namespace fovea::cli
