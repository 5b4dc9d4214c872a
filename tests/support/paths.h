// Where the tests' files and the program are. One file knows the folders, so that another build
// folder compiles that one anew and no other.
#pragma once

#include <string>

namespace fovea::test {

// A file of tests/golden.
std::string golden_path(const std::string& name);
// The program that is tested.
std::string program_path();

}  // namespace fovea::test
