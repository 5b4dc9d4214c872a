// Speed as a ratio to the machine's own limit: every measurement is made in turn with dnnl_sgemm
// (1024^3, oneDNN's own threading on as many threads), so that a busy or throttled machine slows both.
#pragma once

#include <oneapi/dnnl/dnnl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/base/random.h"
#include "fovea/tensor/tensor.h"

extern "C" void omp_set_num_threads(int);

namespace fovea::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
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

class Race {
 public:
  // Arguments: seconds for each case (2), and a part of the names of the cases to run (all).
  Race(int argc, char** argv)
      : seconds_(argc > 1 ? std::atof(argv[1]) : 2), only_(argc > 2 ? argv[2] : "") {
    // libgomp's workers spin after every sgemm unless told otherwise before the program starts, and
    // what comes next would be measured against them.
    if (!std::getenv("OMP_WAIT_POLICY")) {
      setenv("OMP_WAIT_POLICY", "passive", 1);
      execv("/proc/self/exe", argv);
    }
    omp_set_num_threads(threads());
    std::printf("%-46s %6s %7s %8s %8s\n", "", "ratio", "spread", "gflops", "sgemm");
  }

  double seconds() const { return seconds_; }
  bool wants(const std::string& name) const { return name.find(only_) != std::string::npos; }

  // Best rate of f, which does `flops` operations, over the best rate of sgemm.
  void against_gemm(const std::string& name, double flops, const std::function<void()>& f) {
    if (!wants(name)) return;
    f(), gemm();
    Timer mine, theirs;
    for (const double stop = now() + seconds_; now() < stop || mine.seconds.size() < 5;) {
      mine.run(f);
      theirs.run([this] { gemm(); });
    }
    const double rate = flops / mine.best() * 1e-9, sgemm = 2.0 * n * n * n / theirs.best() * 1e-9;
    std::printf("%-46s %6.3f %7.2f %8.1f %8.1f\n", name.c_str(), rate / sgemm, mine.spread(), rate,
                sgemm);
    std::fflush(stdout);
  }

 private:
  static constexpr int64_t n = 1024;
  void gemm() {
    dnnl_sgemm('N', 'N', n, n, n, 1, a_.read().data(), n, b_.read().data(), n, 0, c_.write().data(),
               n);
  }
  double seconds_;
  std::string only_;
  Tensor a_ = uniform({n, n}, 1), b_ = uniform({n, n}, 2), c_ = uniform({n, n}, 3);
};

}  // namespace fovea::bench
