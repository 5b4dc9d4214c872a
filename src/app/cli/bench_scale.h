// fovea bench scale: what a training step would take on more machines.
#pragma once

#include <string>
#include <vector>

namespace fovea::cli {

struct ScaleWords {
  std::string size = "2x128", network;
  std::vector<int> ranks{1, 2, 4, 8, 16};
  double seconds = 2;
  bool json = false;
};

void bench_scale(const ScaleWords& words);

}  // namespace fovea::cli
