// Numbers that PyTorch computed, stored in tests/golden with the script that made them in tools/. A
// case NAME has inputs NAME/0, NAME/1 ..., the output NAME/y, a gradient NAME/dy for it, and with
// it the gradients NAME/d0 ... of the inputs.
#pragma once

#include <map>
#include <set>
#include <string>

#include "fovea/op/shape.h"
#include "fovea/tensor/safetensors.h"
#include "support/gradient.h"
#include "support/paths.h"

namespace fovea::test {

class Golden {
 public:
  explicit Golden(const std::string& file) : stored_(Safetensors::open(golden_path(file))) {}

  // f of the stored inputs gives the stored output and gradients.
  void check(const std::string& name, const Function& f, double tolerance = 1e-5) {
    SCOPED_TRACE(name);
    tried_.insert(name);
    std::vector<Tensor> inputs;
    for (size_t i = 0; stored_.has(name + "/" + std::to_string(i)); ++i) {
      const Tensor x = stored_.load(name + "/" + std::to_string(i));
      inputs.push_back(x.dtype() == Dtype::i32 ? x : parameter(x));
    }
    held_.clear();
    Tape tape;
    const Tensor y = f(inputs);
    expect_close(y, stored_.load(name + "/y"), tolerance);
    const Gradients g = tape.backward(y, stored_.load(name + "/dy"));
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].dtype() == Dtype::i32) continue;
      SCOPED_TRACE(i);
      Tensor gradient;
      if (const auto held = held_.find(i); held == held_.end()) {
        gradient = g.or_zeros(inputs[i]);
      } else {
        std::vector<Tensor> parts;
        for (const Parameter& p : held->second) {
          parts.push_back(p.elements() == 1 ? g[p].reshaped({1}) : g[p]);
        }
        gradient = concat(parts, 0);
      }
      expect_close(gradient, stored_.load(name + "/d" + std::to_string(i)), tolerance);
    }
  }

  // For f: the rows of input i are the values of these parameters, one after the other, so its
  // gradient is theirs.
  void hold(size_t i, const Tensor& x, const std::vector<Parameter>& in) {
    int64_t row = 0;
    for (const Parameter& p : in) {
      p = slice(x, 0, row, row + p.dim(0));
      row += p.dim(0);
    }
    held_[i] = in;
  }

  // The same of parameters that hold their values already, one number each.
  void hold_flat(size_t i, const std::vector<Parameter>& in) { held_[i] = in; }

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
  std::map<size_t, std::vector<Parameter>> held_;
};

}  // namespace fovea::test
