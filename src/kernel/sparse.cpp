#include "fovea/kernel/sparse.h"

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/sparse.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// One row: its sums stay in registers while its entries go by, four vectors at a time.
void sparse_row(const SparseRows& a, int64_t i, const float* values, const float* x, float* y,
                int64_t width) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t from = a.offsets[i], to = a.offsets[i + 1];
  int64_t c = 0;
  for (; c + 4 * lanes <= width; c += 4 * lanes) {
    V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (int64_t e = from; e < to; ++e) {
      const V v = hn::Set(d, values[a.place(e)]);
      const float* row = x + a.columns[e] * width + c;
      s0 = hn::MulAdd(v, hn::LoadU(d, row), s0);
      s1 = hn::MulAdd(v, hn::LoadU(d, row + lanes), s1);
      s2 = hn::MulAdd(v, hn::LoadU(d, row + 2 * lanes), s2);
      s3 = hn::MulAdd(v, hn::LoadU(d, row + 3 * lanes), s3);
    }
    hn::StoreU(s0, d, y + c);
    hn::StoreU(s1, d, y + c + lanes);
    hn::StoreU(s2, d, y + c + 2 * lanes);
    hn::StoreU(s3, d, y + c + 3 * lanes);
  }
  for (; c < width; c += lanes) {
    const int64_t count = std::min(lanes, width - c);
    V s = hn::Zero(d);
    for (int64_t e = from; e < to; ++e) {
      const float* row = x + a.columns[e] * width + c;
      const V v = count == lanes ? hn::LoadU(d, row) : load_part(d, row, count);
      s = hn::MulAdd(hn::Set(d, values[a.place(e)]), v, s);
    }
    if (count == lanes) {
      hn::StoreU(s, d, y + c);
    } else {
      store_part(s, d, y + c, count);
    }
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(sparse_row);

void sparse_matmul(const SparseRows& a, const float* values, const float* x, float* y,
                   int64_t width) {
  const int64_t entries = a.rows > 0 ? a.offsets[a.rows] / a.rows + 1 : 1;
  parallel_for(a.rows, row_grain(light_grain, entries * width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      FOVEA_DISPATCH(sparse_row)(a, i, values, x, y + i * width, width);
    }
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
