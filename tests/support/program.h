// The program as a person meets it: what it prints, where, and how it ends.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "support/paths.h"

namespace fovea::test {

struct Ended {
  int exit;
  std::string out;  // stdout and, where asked, stderr
};

inline Ended run(const std::string& words, bool errors = false) {
  const std::string command = words + (errors ? " 2>&1" : " 2>/dev/null");
  FILE* pipe = popen(command.c_str(), "r");
  Ended result{-1, ""};
  std::array<char, 4096> part{};
  while (const size_t n = fread(part.data(), 1, part.size(), pipe))
    result.out.append(part.data(), n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) result.exit = WEXITSTATUS(status);
  return result;
}

inline const std::string program = program_path();

// Before words that load a library whose own leaks, or threads, the leak check stumbles over: Open
// MPI and oneDNN. For builds with the address sanitizer.
inline const std::string no_leak_check = "ASAN_OPTIONS=detect_leaks=0 ";

// Bad words: one sentence on stderr, nothing on stdout, that exit code.
inline void expect_refused(const std::string& words, int exit, const std::string& sentence) {
  const Ended quiet = run(program + " " + words), loud = run(program + " " + words, true);
  EXPECT_EQ(quiet.out, "") << words;
  EXPECT_EQ(quiet.exit, exit) << words;
  EXPECT_EQ(loud.out, "fovea: " + sentence + "\n") << words;
}

}  // namespace fovea::test
