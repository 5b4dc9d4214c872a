// What a data-parallel step costs, and what it would cost on more machines: a model of computation,
// bytes and latency (as Culler et al., "LogP", 1993, with overlap), fitted by measuring.
//
//   step(P) = shards of a rank * c  +  (1/P) u  +  v  +  exposed(P)
//   exposed(P) = max(t, g - b) + g + s        g = bytes (P - 1) / P / bandwidth + messages *
//   latency
//
// c: one shard, forward and backward; u: adding up and stepping all weights, which ranks share; v:
// copying weights, which each does; g: a reduce-scatter, and once more for the all-gather; b: the
// backward pass of the last shard, behind which the first g hides, all but t, what the parameters
// weigh whose gradient comes last; s: the small messages of a step.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/base/communicator.h"

namespace fovea::bench {

// Which model is trained, on made-up text.
struct ScaleProblem {
  int64_t layers = 2, width = 128;  // of a Transformer
  int64_t vocabulary = 2000, context = 64, batch = 16, shards = 8;
};

// What was measured in one process, and where the weights lie.
struct ScaleCosts {
  double shard = 0;       // c, in seconds
  double update = 0;      // u
  double copy = 0;        // v
  double bytes = 0;       // of all weights
  double last_bytes = 0;  // of the parameters whose gradients come last
  int64_t buckets = 0, shards = 0;
};
// By `seconds` of steps in this process alone.
ScaleCosts measure_costs(const ScaleProblem& problem, double seconds);

// A way between ranks.
struct Network {
  double bandwidth = 0;  // bytes a second that a rank sends, and gets at the same time
  double latency = 0;    // seconds that the smallest message takes
};
// "1gbit,0.5ms": as people say it. An Error for anything else.
Network network_of(const std::string& text);
// Between these ranks; all call it.
Network measure_network(Communicator& ranks);

// What a step takes.
struct ScaleStep {
  double seconds = 0;
  double exposed = 0;  // of it, waiting for messages
};
// `cores`: that the ranks share, each with one thread; 0: each has a core of its own.
ScaleStep predict(const ScaleCosts& costs, const Network& network, int ranks, int cores = 0);
// The mean over `seconds` of steps on these ranks; all call it.
ScaleStep measure_step(const ScaleProblem& problem, Communicator& ranks, double seconds);

}  // namespace fovea::bench
