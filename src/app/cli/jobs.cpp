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
#include <memory>
#include <thread>

#include "fovea/app/cli/rank_jobs.h"
#include "fovea/app/cli/ranks.h"
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
    if (std::strncmp(*v, "FOVEA_THREADS=", 14) == 0 || belongs_to_ranks(*v)) continue;
    variables.push_back(*v);
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

}  // namespace

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

JobProcess::JobProcess(Job job, int threads)
    : job_(std::move(job)), threads_(threads), child_(start(job_.commands[0], job_.log, threads)) {}

std::optional<int> JobProcess::ended() {
  int status = 0;
  if (waitpid(child_, &status, WNOHANG) != child_) return {};
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code != 0 || stopping_ || ++command_ == job_.commands.size()) return code;
  child_ = start(job_.commands[command_], job_.log, threads_);
  return {};
}

void JobProcess::stop() {
  stopping_ = true;
  kill(child_, SIGTERM);
}

namespace {

// A place in this process's own machine.
class Here final : public JobPlace {
 public:
  explicit Here(int threads) : threads_(threads) {}
  void start(size_t, const Job& job) override { process_.emplace(job, threads_); }
  std::optional<int> ended() override {
    const std::optional<int> code = process_->ended();
    if (code) process_.reset();
    return code;
  }
  void stop() override { process_->stop(); }

 private:
  int threads_;
  std::optional<JobProcess> process_;
};

}  // namespace

void run_jobs(const std::vector<Job>& jobs, int at_once, int threads,
              const std::function<void(size_t, int)>& done,
              const std::function<void(const std::vector<size_t>&)>& tick,
              const std::function<bool()>& stop) {
  std::vector<std::unique_ptr<JobPlace>> places;
  for (int i = 0; i < at_once; ++i) places.push_back(std::make_unique<Here>(threads));
  if (Communicator* ranks = join_ranks()) add_rank_places(*ranks, places);
  constexpr size_t nothing = static_cast<size_t>(-1);
  // How often a run may be begun again that a machine, and not itself, has ended.
  constexpr int most_tries = 3;
  std::vector<size_t> running(places.size(), nothing);
  std::vector<int> tries(jobs.size());
  std::deque<size_t> waiting;
  for (size_t i = 0; i < jobs.size(); ++i) waiting.push_back(i);
  size_t busy = 0;
  bool stopping = false;
  while (busy > 0 || (!waiting.empty() && !stopping)) {
    if (stop() && !stopping) {
      stopping = true;
      for (size_t p = 0; p < places.size(); ++p) {
        if (running[p] != nothing) places[p]->stop();
      }
    }
    for (size_t p = 0; p < places.size() && !stopping && !waiting.empty(); ++p) {
      if (running[p] != nothing || places[p]->lost()) continue;
      running[p] = waiting.front();
      waiting.pop_front();
      ++tries[running[p]];
      ++busy;
      places[p]->start(running[p], jobs[running[p]]);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::vector<size_t> names;
    for (const size_t job : running) {
      if (job != nothing) names.push_back(job);
    }
    tick(names);
    for (size_t p = 0; p < places.size(); ++p) {
      if (running[p] == nothing) continue;
      std::optional<int> code = places[p]->ended();
      const bool lost = !code && places[p]->lost();
      if (!code && !lost) continue;
      const size_t job = std::exchange(running[p], nothing);
      --busy;
      // What a lost machine, or one that was out of memory, had begun is begun again.
      if ((lost || (places.size() > 1 && *code == 128 + SIGKILL && places[p]->remote())) &&
          !stopping && tries[job] < most_tries) {
        waiting.push_front(job);
        continue;
      }
      if (!stopping || code == 0) done(job, code.value_or(1));
    }
  }
}

}  // namespace fovea::cli
