// How long a program takes from start to end, and its peak memory: startup RUNS PROGRAM [ARGUMENT]
// The best of many runs, because the machine may be busy with something else.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

extern char** environ;

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "startup: needs a number of runs and a program\n");
    return 2;
  }
  const int runs = std::atoi(argv[1]);
  double best_ms = 1e9;
  long peak_kb = 0;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    pid_t child = 0;
    int status = 0;
    rusage used{};
    if (posix_spawn(&child, argv[2], nullptr, nullptr, argv + 2, environ) != 0 ||
        wait4(child, &status, 0, &used) != child || status != 0) {
      std::fprintf(stderr, "startup: %s did not run or failed\n", argv[2]);
      return 1;
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best_ms = std::min(best_ms, took.count());
    peak_kb = std::max(peak_kb, used.ru_maxrss);
  }
  std::fprintf(stderr, "start to end, best of %d: %.1f ms\n", runs, best_ms);
  std::fprintf(stderr, "peak resident size: %.1f MB\n", static_cast<double>(peak_kb) / 1024);
  return 0;
}
