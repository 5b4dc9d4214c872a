// oneDNN takes its thread count from OpenMP. Ours are already at work when it is called, so for the
// length of a call it gets one; the host program's own setting comes back afterwards.
#pragma once

// Declared here because <omp.h> comes with the compiler, and clang's would bring a second runtime.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int);

namespace fovea::kernel {

class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace fovea::kernel
