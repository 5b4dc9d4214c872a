// Speed as a ratio to the machine's own limit: every measurement is made in turn with dnnl_sgemm
// (1024^3) or with reading memory, so that a busy or throttled machine slows both.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "fovea/app/bench/sgemm.h"
#include "fovea/base/parallel.h"
#include "fovea/base/random.h"
#include "fovea/kernel/limits.h"
#include "fovea/tensor/tensor.h"

namespace fovea::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The most memory this process has had resident.
inline double peak_megabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

inline Tensor uniform(const Shape& shape, uint64_t stream, float limit = 1) {
  Tensor t(shape);
  Random random(1, stream);
  for (float& x : t.write()) x = limit * (2 * random.uniform() - 1);
  return t;
}

struct Timer {
  std::vector<double> seconds;
  void run(const std::function<void()>& f) {
    const double start = now();
    f();
    seconds.push_back(now() - start);
  }
  double best() const { return *std::min_element(seconds.begin(), seconds.end()); }
  // Median time over best time: how steady the machine was.
  double spread() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2] / sorted[0];
  }
};

// libgomp's workers spin after every sgemm unless told otherwise before the program starts, and
// what comes next would be measured against them: starts the program again with that said.
inline void wait_passively(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY")) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);
}

struct Row {
  std::string name;
  double ratio, spread;
  double rate, limit;  // GFLOP/s, or GB/s
  double seconds;      // the best
};

class Race {
 public:
  Race(double seconds, std::string only, std::function<void(const Row&)> report)
      : seconds_(seconds), only_(std::move(only)), report_(std::move(report)) {}
  // For a program of its own: arguments are the seconds for each case (2), and a part of the names
  // of the cases to run (all).
  Race(int argc, char** argv)
      : Race(argc > 1 ? std::atof(argv[1]) : 2, argc > 2 ? argv[2] : "", print) {
    wait_passively(argv);
    std::printf("%-46s %6s %7s %8s %8s\n", "", "ratio", "spread", "rate", "limit");
  }

  static void print(const Row& row) {
    std::printf("%-46s %6.3f %7.2f %8.1f %8.1f\n", row.name.c_str(), row.ratio, row.spread,
                row.rate, row.limit);
    std::fflush(stdout);
  }

  bool wants(const std::string& name) const { return name.find(only_) != std::string::npos; }

  // Best rate of f, which does `flops` operations, over the best rate of sgemm.
  void against_gemm(const std::string& name, double flops, const std::function<void()>& f) {
    against(name, flops, f, 2.0 * n * n * n,
            [this] { sgemm_(n, a_.read().data(), b_.read().data(), c_.write().data()); });
  }
  // Best rate of f, which must read `bytes`, over the best rate of reading as many.
  void against_memory(const std::string& name, double bytes, const std::function<void()>& f) {
    if (!wants(name)) return;
    const Tensor x = uniform({static_cast<int64_t>(bytes / 4)}, 9);
    against(name, bytes, f, bytes, [&] { kernel::limit_read(x.read().data(), x.elements()); });
  }
  // Time of g over time of f, which are close: the best of a few would tell who was lucky.
  void against_each_other(const std::string& name, const std::function<void()>& f,
                          const std::function<void()>& g) {
    against(name, 1, f, 1, g, 50);
  }

 private:
  static constexpr int64_t n = 1024;
  void against(const std::string& name, double work, const std::function<void()>& f,
               double limit_work, const std::function<void()>& limit, size_t least_rounds = 5) {
    if (!wants(name)) return;
    if (seconds_ < 0.01) least_rounds = 1;  // who asks for so little wants to see that it runs
    f(), limit();
    Timer mine, theirs;
    for (const double stop = now() + seconds_;
         now() < stop || mine.seconds.size() < least_rounds;) {
      mine.run(f);
      theirs.run(limit);
    }
    const double rate = work / mine.best() * 1e-9, most = limit_work / theirs.best() * 1e-9;
    report_({name, rate / most, mine.spread(), rate, most, mine.best()});
  }

  Sgemm sgemm_;
  double seconds_;
  std::string only_;
  std::function<void(const Row&)> report_;
  Tensor a_ = uniform({n, n}, 1), b_ = uniform({n, n}, 2), c_ = uniform({n, n}, 3);
};

}  // namespace fovea::bench
