// For kernels: memory that ends the program when they touch what lies behind it. Sanitizers do not
// see that in tensors, whose memory is taken in whole cache lines.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fovea/base/error.h"

namespace fovea::test {

// n numbers right in front of memory that may not be touched.
template <class T = float>
class Guarded {
 public:
  explicit Guarded(int64_t n) : bytes_((n * int64_t{sizeof(T)} + page - 1) / page * page) {
    void* all =
        mmap(nullptr, bytes_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(all != MAP_FAILED, "mmap failed");
    all_ = static_cast<std::byte*>(all);
    check(mprotect(all_ + bytes_, page, PROT_NONE) == 0, "mprotect failed");
    data_ = reinterpret_cast<T*>(all_ + bytes_) - n;
    std::fill_n(data_, n, T(0.5));
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(all_, bytes_ + page); }
  T* data() const { return data_; }

 private:
  static constexpr int64_t page = 4096;
  int64_t bytes_;
  std::byte* all_;
  T* data_;
};

}  // namespace fovea::test
