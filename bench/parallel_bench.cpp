// Why the threads are ours: small parallel regions one after the other, as a training step of a
// small model has them, by parallel_for and by OpenMP with its default and with its passive
// waiting.
//   parallel_bench             compares all three (starts itself again for each)
//   parallel_bench busy        the same beside a neighbour that keeps one core busy
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "fovea/app/bench/race.h"

extern char** environ;

namespace {

using namespace fovea;

constexpr int64_t elements = 16384, regions = 2000;

void work(float* x, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) x[i] = std::sqrt(x[i] + 1.0f);
}

double microseconds_a_region(const std::function<void()>& region) {
  bench::Timer timer;
  for (int round = 0; round < 10; ++round) {
    timer.run([&] {
      for (int64_t i = 0; i < regions; ++i) region();
    });
  }
  return timer.best() * 1e6 / regions;
}

int measure(const std::string& which) {
  std::vector<float> x(elements, 1.0f);
  std::function<void()> region = [&] { work(x.data(), 0, elements); };
  if (which == "pool") {
    region = [&] {
      parallel_for(elements, elements / 2,
                   [&](int64_t begin, int64_t end) { work(x.data(), begin, end); });
    };
  } else if (which.starts_with("openmp")) {
    region = [&] {
#pragma omp parallel for num_threads(2) schedule(static)
      for (int64_t half = 0; half < 2; ++half) {
        work(x.data(), half * elements / 2, (half + 1) * elements / 2);
      }
    };
  }
  std::printf("%-34s %8.2f us a region\n", which.c_str(), microseconds_a_region(region));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (!word.empty() && word != "busy") return measure(word);
  std::atomic<bool> stop{false};
  std::thread neighbour([&] {
    while (word == "busy" && !stop) {
    }
  });
  for (const char* which : {"one thread", "pool", "openmp default", "openmp passive"}) {
    const bool passive = std::string(which) == "openmp passive";
    if (passive) setenv("OMP_WAIT_POLICY", "passive", 1);
    char self[] = "/proc/self/exe";
    char* words[] = {self, const_cast<char*>(which), nullptr};
    pid_t child = 0;
    if (posix_spawn(&child, self, nullptr, nullptr, words, environ) == 0)
      waitpid(child, nullptr, 0);
  }
  stop = true;
  neighbour.join();
}
