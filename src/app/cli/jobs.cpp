#include "fovea/app/cli/jobs.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <thread>

#include "fovea/base/error.h"

extern char** environ;

namespace fovea::cli {
namespace {

pid_t start(const std::vector<std::string>& command, const std::string& log, int threads) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const std::string own = "FOVEA_THREADS=" + std::to_string(threads);
  std::vector<char*> variables{const_cast<char*>(own.c_str())};
  for (char** v = environ; *v; ++v) {
    if (std::strncmp(*v, "FOVEA_THREADS=", 14) != 0) variables.push_back(*v);
  }
  variables.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  // Ctrl-C must reach the children through us alone, once.
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&how, 0);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, arguments[0], &files, &how, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&how);
  check(error == 0, "cannot start ", command[0], ": ", std::strerror(error));
  return child;
}

struct Running {
  size_t job;
  size_t command;
  pid_t child;
};

}  // namespace

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

void run_jobs(const std::vector<Job>& jobs, int at_once, int threads,
              const std::function<void(size_t, int)>& done,
              const std::function<void(const std::vector<size_t>&)>& tick,
              const std::function<bool()>& stop) {
  std::deque<size_t> waiting;
  for (size_t i = 0; i < jobs.size(); ++i) waiting.push_back(i);
  std::vector<Running> running;
  bool stopping = false;
  while (!running.empty() || (!waiting.empty() && !stopping)) {
    if (stop() && !stopping) {
      stopping = true;
      for (const Running& r : running) kill(r.child, SIGTERM);
    }
    while (!stopping && !waiting.empty() && static_cast<int>(running.size()) < at_once) {
      const size_t job = waiting.front();
      waiting.pop_front();
      running.push_back({job, 0, start(jobs[job].commands[0], jobs[job].log, threads)});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::vector<size_t> names;
    for (const Running& r : running) names.push_back(r.job);
    tick(names);
    for (size_t i = 0; i < running.size();) {
      Running& r = running[i];
      int status = 0;
      if (waitpid(r.child, &status, WNOHANG) != r.child) {
        ++i;
        continue;
      }
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      const auto& commands = jobs[r.job].commands;
      if (code == 0 && r.command + 1 < commands.size() && !stopping) {
        ++r.command;
        r.child = start(commands[r.command], jobs[r.job].log, threads);
        ++i;
        continue;
      }
      if (!stopping || code == 0) done(r.job, code);
      running.erase(running.begin() + static_cast<int64_t>(i));
    }
  }
}

}  // namespace fovea::cli
