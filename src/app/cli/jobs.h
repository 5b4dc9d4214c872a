// Commands run in processes of their own, some at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fovea::cli {

struct Job {
  std::vector<std::vector<std::string>> commands;  // one after the other, until one fails
  std::string log;                                 // file that gets what they print
};

// This program, as a command's first word.
std::string own_path();

// A job under way in a process of this machine.
class JobProcess {
 public:
  // Begins with `threads` threads.
  JobProcess(Job job, int threads);
  // How the last of its commands ended, once it has; 128 + the signal where one did it.
  std::optional<int> ended();
  // Asks it to end.
  void stop();

 private:
  Job job_;
  int threads_;
  int child_;  // its process
  size_t command_ = 0;
  bool stopping_ = false;
};

// Where jobs run, one at a time.
class JobPlace {
 public:
  virtual ~JobPlace() = default;
  // `number`: of the job, from 0.
  virtual void start(size_t number, const Job& job) = 0;
  virtual std::optional<int> ended() = 0;
  virtual void stop() = 0;
  // It is gone, with what it did.
  virtual bool lost() { return false; }
  // Whether it is on another rank.
  virtual bool remote() const { return false; }
};

// Runs all jobs, `at_once` at a time with `threads` threads each; started under MPI, one more at a
// time on each other rank, whose run is begun elsewhere if the rank is lost. done(job, exit code)
// is called as each ends; tick() a few times a second. When `stop` comes true the running ones are
// asked to end, and no more are started.
void run_jobs(const std::vector<Job>& jobs, int at_once, int threads,
              const std::function<void(size_t job, int exit_code)>& done,
              const std::function<void(const std::vector<size_t>& running)>& tick,
              const std::function<bool()>& stop);

}  // namespace fovea::cli
