// Commands run in processes of their own, some at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fovea::cli {

struct Job {
  std::vector<std::vector<std::string>> commands;  // one after the other, until one fails
  std::string log;                                 // file that gets what they print
};

// This program, as a command's first word.
std::string own_path();

// Runs all jobs, `at_once` at a time with `threads` threads each. done(job, exit code) is called as
// each ends; tick() a few times a second. When `stop` comes true the running ones are asked to end,
// and no more are started.
void run_jobs(const std::vector<Job>& jobs, int at_once, int threads,
              const std::function<void(size_t job, int exit_code)>& done,
              const std::function<void(const std::vector<size_t>& running)>& tick,
              const std::function<bool()>& stop);

}  // namespace fovea::cli
