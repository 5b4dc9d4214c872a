// Training in turn with a peer: a script asks over a pipe for some steps, this side takes them and
// says how long they took (tools/race.py is the other end).
#pragma once

#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "fovea/app/bench/race.h"

namespace fovea::bench {

// What getrusage gives would begin with the peak of the process that started this one.
inline double own_peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes / 1024;
  }
  return 0;
}

struct Step {
  double loss;
  int64_t tokens;
};

struct Turn {
  double seconds, processor;  // by the clock; of all threads together
  int64_t tokens = 0;
  std::vector<double> losses{};
};

template <class Training>
Turn take(Training& training, int64_t steps) {
  Turn turn{now(), static_cast<double>(std::clock())};
  for (int64_t i = 0; i < steps; ++i) {
    const Step one = training.step();
    turn.tokens += one.tokens;
    turn.losses.push_back(one.loss);
  }
  turn.seconds = now() - turn.seconds;
  turn.processor = (static_cast<double>(std::clock()) - turn.processor) / CLOCKS_PER_SEC;
  return turn;
}

// "ready MB", the peak before there was a model; then for every number of steps on stdin a line:
// seconds, seconds of processor time, tokens, peak MB, the losses.
template <class Training>
void serve(Training& training, double before) {
  std::printf("ready %.1f\n", before);
  std::fflush(stdout);
  for (int64_t steps; std::cin >> steps;) {
    const Turn turn = take(training, steps);
    std::printf("%.6f %.6f %lld %.1f", turn.seconds, turn.processor,
                static_cast<long long>(turn.tokens), own_peak_megabytes());
    for (double loss : turn.losses) std::printf(" %.6f", loss);
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace fovea::bench
