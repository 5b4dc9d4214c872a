// One call of a kernel in float32, for every instruction set and number of threads, against the
// same call in float64, which is its plain twin's.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/kernel/simd.h"
#include "support/gradient.h"

namespace fovea::test {

// Buffers for one call, of the type that is being tried. Outputs start as NaN, so that an element
// left out cannot pass.
class Call {
 public:
  explicit Call(Dtype dtype) : dtype_(dtype) {}
  template <class T>
  const T* in(int64_t n, double low = -2, double high = 2) {
    const Tensor x = random_tensor({n}, ++seed_, low, high, Dtype::f32).to(dtype_);
    inputs_.push_back(x);
    return inputs_.back().read<T>().data();
  }
  const int32_t* ids(int64_t n, int64_t below) {
    inputs_.push_back(random_ids({n}, ++seed_, below));
    return inputs_.back().read<int32_t>().data();
  }
  template <class T>
  T* out(int64_t n) {
    outputs_.push_back(Tensor::full({n}, NAN, dtype_));
    return outputs_.back().write<T>().data();
  }
  // An output that also has a value before the call.
  template <class T>
  T* inout(int64_t n) {
    outputs_.push_back(random_tensor({n}, ++seed_, -2, 2, Dtype::f32).to(dtype_));
    return outputs_.back().write<T>().data();
  }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  Dtype dtype() const { return dtype_; }

 private:
  Dtype dtype_;
  uint64_t seed_ = 0;
  std::vector<Tensor> inputs_, outputs_;
};

// f is a generic lambda f(Call&, T{}) that makes buffers and runs the kernel on them.
template <class F>
void check_against_twin(const F& f, double tolerance = 1e-5) {
  Call exact(Dtype::f64);
  f(exact, double{});
  for (const std::string& target : kernel::simd_targets()) {
    kernel::use_simd_target(target);
    std::vector<Tensor> first;
    for (int count : {1, 2, 4}) {
      set_threads(count);
      Call fast(Dtype::f32);
      f(fast, float{});
      for (size_t i = 0; i < fast.outputs().size(); ++i) {
        if (first.size() <= i) {
          const double worst = relative_difference(fast.outputs()[i], exact.outputs()[i]);
          EXPECT_LE(worst, tolerance) << target << ", output " << i;
          first.push_back(fast.outputs()[i]);
        } else {
          expect_same_bits(fast.outputs()[i], first[i]);
        }
      }
    }
  }
  kernel::use_simd_target("");
  set_threads(2);
}

}  // namespace fovea::test
