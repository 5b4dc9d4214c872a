// The whole program, for one of one's own that adds models and mechanisms to it first
// (docs/adding.md).
#pragma once

namespace fovea::cli {

// fovea VERB ...: results on stdout, messages on stderr; gives 0 done, 1 failed, 2 wrong usage.
int run_program(int argc, char** argv);

}  // namespace fovea::cli
