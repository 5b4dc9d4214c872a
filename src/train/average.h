// The mean of the last few snapshots of the weights: steps at a high rate circle around a better
// place than any of them ends in. Vaswani et al. 2017 (section 6.1) ship the mean of the last five.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "fovea/nn/scope.h"
#include "fovea/tensor/safetensors.h"

namespace fovea {

// Puts other values in the place of a table's, and the table's own back when it goes.
class Replaced {
 public:
  // One value for each parameter, in the table's order; no values at all: nothing is replaced.
  Replaced(const Parameters& parameters, std::vector<Tensor> values);
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;
  ~Replaced() { swap(); }

  // The new values stay.
  void keep() { others_.clear(); }

 private:
  void swap();

  Parameters parameters_;
  std::vector<Tensor> others_;
};

// The last few of a table's weights.
class Snapshots {
 public:
  // Of the table's parameters. The mean of one is that one, so that `most`
  // below 2 keeps none, and costs nothing.
  Snapshots(const Parameters& parameters, int64_t most) : parameters_(parameters), most_(most) {}

  // Takes the weights as they are now; the oldest of more than `most` goes.
  void add();
  // How many are held now.
  int64_t count() const { return static_cast<int64_t>(ring_.size()); }

  // For each parameter the mean over the snapshots, summed in float64 from the oldest on. Of whole
  // numbers, which have no mean, the newest. Empty without snapshots.
  std::vector<Tensor> mean() const;
  // The mean in the place of the weights for the life of the result; without snapshots they stay.
  [[nodiscard]] Replaced mean_in_place() { return {parameters_, mean()}; }

  // What must survive a restart: arrays named "snapshot/<number>/<parameter>", the oldest first.
  std::vector<NamedTensor> state() const;
  // Takes the newest of them back from a file that may hold other arrays too, or none of these. An
  // Error, and nothing changed, when one lacks an array or has it in another shape.
  void restore(const Safetensors& from, const std::string& path);

 private:
  Parameters parameters_;
  int64_t most_;
  std::deque<std::vector<Tensor>> ring_;
};

}  // namespace fovea
