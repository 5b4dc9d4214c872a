// Numbers that PyTorch computed, stored in tests/golden with the script that made them in tools/. A
// case NAME has inputs NAME/0, NAME/1 ..., the output NAME/y, a gradient NAME/dy for it, and with
// it the gradients NAME/d0 ... of the inputs.
#pragma once

#include <set>
#include <string>

#include "fovea/tensor/safetensors.h"
#include "support/gradient.h"

namespace fovea::test {

class Golden {
 public:
  explicit Golden(const std::string& file)
      : stored_(Safetensors::open(FOVEA_GOLDEN_DIR "/" + file)) {}

  // f of the stored inputs gives the stored output and gradients.
  void check(const std::string& name, const Function& f, double tolerance = 1e-5) {
    SCOPED_TRACE(name);
    tried_.insert(name);
    std::vector<Tensor> inputs;
    for (size_t i = 0; stored_.has(name + "/" + std::to_string(i)); ++i) {
      const Tensor x = stored_.load(name + "/" + std::to_string(i));
      inputs.push_back(x.dtype() == Dtype::i32 ? x : parameter(x));
    }
    Tape tape;
    const Tensor y = f(inputs);
    expect_close(y, stored_.load(name + "/y"), tolerance);
    const Gradients g = tape.backward(y, stored_.load(name + "/dy"));
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].dtype() == Dtype::i32) continue;
      SCOPED_TRACE(i);
      expect_close(g[inputs[i]], stored_.load(name + "/d" + std::to_string(i)), tolerance);
    }
  }

  // Cases whose names start so and which no check() has named.
  std::set<std::string> left(const std::string& start = "") const {
    std::set<std::string> names;
    for (const auto& entry : stored_.entries()) {
      const std::string name = entry.name.substr(0, entry.name.find('/'));
      if (name.starts_with(start) && !tried_.contains(name)) names.insert(name);
    }
    return names;
  }

 private:
  Safetensors stored_;
  std::set<std::string> tried_;
};

}  // namespace fovea::test
