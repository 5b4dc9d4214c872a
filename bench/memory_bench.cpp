// What attention adds to the peak resident size, each case in a process of its own, and how its
// time grows as n doubles.
//   memory_bench               all cases
#include <spawn.h>
#include <sys/wait.h>

#include <cmath>

#include "fovea/app/bench/race.h"
#include "fovea/attention/engine.h"
#include "fovea/op/tape.h"

extern char** environ;

namespace fovea::bench {
namespace {

struct Problem {
  Tensor q, k, v, dy, w = parameter(uniform({64}, 5));
  explicit Problem(int64_t n)
      : q(parameter(uniform({1, n, 1, 64}, 1))),
        k(parameter(uniform({1, n, 1, 64}, 2))),
        v(parameter(uniform({1, n, 1, 64}, 3))),
        dy(uniform({1, n, 1, 64}, 4)) {}
  AttentionInputs inputs() const { return {.q = q, .k = k, .v = v}; }
  void both(const AttentionInputs& in, const Score& score = scaled_score()) const {
    Tape tape;
    tape.backward(attend(in, score).context, dy);
  }
};

void added(const char* name, int64_t n, const std::function<void(const Problem&)>& f) {
  const Problem problem(n);
  const double before = peak_megabytes();
  f(problem);
  std::printf("%-44s %6.1f MB\n", name, peak_megabytes() - before);
}

void growth(const char* name, const std::function<void(const Problem&)>& f) {
  std::printf("%-44s", name);
  double first = 0, before = 0;
  for (int64_t n = 1024; n <= 16384; n *= 2) {
    const Problem problem(n);
    Timer timer;
    f(problem);
    for (const double stop = now() + 3; now() < stop || timer.seconds.size() < 5;) {
      timer.run([&] { f(problem); });
    }
    if (before > 0) std::printf("  %.2f", std::log2(timer.best() / before));
    before = timer.best();
    if (first == 0) first = before;
  }
  std::printf("  all %.2f  (time grows as n to this power, from 1k to 16k)\n",
              std::log2(before / first) / 4);
}

void run(const std::string& which) {
  if (which == "both") {
    added("forward+backward, n 16384", 16384, [](const Problem& p) { p.both(p.inputs()); });
  } else if (which == "summary") {
    added("forward with summary, n 65536", 65536, [](const Problem& p) {
      AttentionInputs in = p.inputs();
      in.capture.what = Capture::What::summary;
      attend(in);
    });
  } else if (which == "additive") {
    added("additive forward+backward, n 4096, width 64", 4096, [](const Problem& p) {
      p.both(p.inputs(), [&p](const Tensor& q, const Tensor& k) {
        return ScoreForm{q, k, 1, ScoreMap::tanh, p.w};
      });
    });
  } else if (which == "distances") {
    added("forward+backward with T5's bias, n 16384", 16384, [](const Problem& p) {
      AttentionInputs in = p.inputs();
      in.distances = parameter(uniform({1, 1, 1, 257}, 6));
      p.both(in);
    });
  } else if (which == "growth") {
    growth("forward+backward", [](const Problem& p) { p.both(p.inputs()); });
    growth("forward+backward, window(128, 0)", [](const Problem& p) {
      AttentionInputs in = p.inputs();
      in.who = window(128, 0);
      p.both(in);
    });
  }
}

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) {
  if (argc > 1) return fovea::bench::run(argv[1]), 0;
  for (const char* which : {"both", "summary", "additive", "distances", "growth"}) {
    char self[] = "/proc/self/exe";
    char* words[] = {self, const_cast<char*>(which), nullptr};
    pid_t child = 0;
    if (posix_spawn(&child, self, nullptr, nullptr, words, environ) == 0)
      waitpid(child, nullptr, 0);
  }
}
