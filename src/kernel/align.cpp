#include "fovea/kernel/align.h"

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"
#include "fovea/kernel/scratch.h"

namespace fovea::kernel {

template <class T>
void entmax(T* p, const T* z, int64_t rows, int64_t cols, double alpha) {
  parallel_for(rows, row_grain(heavy_grain / 4, cols), [=](int64_t begin, int64_t end) {
    T* room = Scratch(Scratch::bytes<T>(cols)).template take<T>(cols);
    naive::entmax(p + begin * cols, z + begin * cols, end - begin, cols, alpha, room);
  });
}

template <class T>
void entmax_grad(T* dz, const T* dp, const T* p, int64_t rows, int64_t cols, double alpha) {
  parallel_for(rows, row_grain(heavy_grain, cols), [=](int64_t begin, int64_t end) {
    const int64_t at = begin * cols;
    naive::entmax_grad(dz + at, dp + at, p + at, end - begin, cols, alpha);
  });
}

template void entmax(float*, const float*, int64_t, int64_t, double);
template void entmax(double*, const double*, int64_t, int64_t, double);
template void entmax_grad(float*, const float*, const float*, int64_t, int64_t, double);
template void entmax_grad(double*, const double*, const double*, int64_t, int64_t, double);

}  // namespace fovea::kernel
