#include "fovea/kernel/batch_norm.h"

#include <algorithm>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/batch_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// f(i, v) for every vector of columns, the last of which may have only `v.count` of them.
struct Part {
  int64_t count;
  HWY_INLINE V load(D d, const float* from) const {
    return count < static_cast<int64_t>(hn::Lanes(d)) ? load_part(d, from, count)
                                                      : hn::LoadU(d, from);
  }
  HWY_INLINE void store(V v, D d, float* to) const {
    if (count < static_cast<int64_t>(hn::Lanes(d))) {
      store_part(v, d, to, count);
    } else {
      hn::StoreU(v, d, to);
    }
  }
};
template <class F>
HWY_INLINE void each_vector(int64_t cols, const F& f) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  for (int64_t i = 0; i < cols; i += lanes) f(i, Part{std::min(lanes, cols - i)});
}

// Mean and squared distance from it, of one block of rows that stays in cache for both passes.
void block_moments(float* mean, float* squares, const float* x, int64_t rows, int64_t cols) {
  const D d;
  each_vector(cols, [&](int64_t i, Part part) HWY_ATTR {
    V a = hn::Zero(d), b = a, middle = part.load(d, x + i);
    // From the first row on, so that a mean far from zero costs no digits.
    const auto away = [&](int64_t row)
                          HWY_ATTR { return hn::Sub(part.load(d, x + row * cols + i), middle); };
    int64_t r = 0;
    for (; r + 2 <= rows; r += 2) {
      a = hn::Add(a, away(r));
      b = hn::Add(b, away(r + 1));
    }
    if (r < rows) a = hn::Add(a, away(r));
    middle = hn::MulAdd(hn::Add(a, b), hn::Set(d, 1 / static_cast<float>(rows)), middle);
    part.store(middle, d, mean + i);
    a = b = hn::Zero(d);
    for (r = 0; r + 2 <= rows; r += 2) {
      const V one = away(r), two = away(r + 1);
      a = hn::MulAdd(one, one, a);
      b = hn::MulAdd(two, two, b);
    }
    if (r < rows) a = hn::MulAdd(away(r), away(r), a);
    part.store(hn::Add(a, b), d, squares + i);
  });
}

void apply_rows(float* y, const BatchNorm<float>& n, const float* scale, int64_t from, int64_t to) {
  const D d;
  const V zero = hn::Zero(d);
  for (int64_t r = from; r < to; ++r) {
    const float* x = n.x + r * n.cols;
    float* out = y + r * n.cols;
    each_vector(n.cols, [&](int64_t i, Part part) HWY_ATTR {
      const V away = hn::Sub(part.load(d, x + i), part.load(d, n.mean + i));
      const V value = hn::MulAdd(away, part.load(d, scale + i), part.load(d, n.beta + i));
      part.store(n.relu ? hn::Max(value, zero) : value, d, out + i);
    });
  }
}

// dy where the output is not cut off.
HWY_INLINE V open_slope(D d, V dy, V away, V scale, V beta, bool relu) {
  if (!relu) return dy;
  return hn::IfThenElseZero(hn::Gt(hn::MulAdd(away, scale, beta), hn::Zero(d)), dy);
}

// Sums over one block of rows: of dy, and of dy (x - mean).
void block_slopes(float* sum, float* dot, const float* dy, const BatchNorm<float>& n,
                  const float* scale, int64_t from, int64_t to) {
  const D d;
  each_vector(n.cols, [&](int64_t i, Part part) HWY_ATTR {
    V s = hn::Zero(d), t = s;
    const V mean = part.load(d, n.mean + i), factor = part.load(d, scale + i),
            beta = part.load(d, n.beta + i);
    for (int64_t r = from; r < to; ++r) {
      const V away = hn::Sub(part.load(d, n.x + r * n.cols + i), mean);
      const V g = open_slope(d, part.load(d, dy + r * n.cols + i), away, factor, beta, n.relu);
      s = hn::Add(s, g);
      t = hn::MulAdd(g, away, t);
    }
    part.store(s, d, sum + i);
    part.store(t, d, dot + i);
  });
}

// dx = scale (g - shift - (x - mean) pull)
void slope_rows(float* dx, const float* dy, const BatchNorm<float>& n, const float* scale,
                const float* shift, const float* pull, int64_t from, int64_t to) {
  const D d;
  for (int64_t r = from; r < to; ++r) {
    const int64_t row = r * n.cols;
    each_vector(n.cols, [&](int64_t i, Part part) HWY_ATTR {
      const V factor = part.load(d, scale + i);
      const V away = hn::Sub(part.load(d, n.x + row + i), part.load(d, n.mean + i));
      const V g =
          open_slope(d, part.load(d, dy + row + i), away, factor, part.load(d, n.beta + i), n.relu);
      const V direct = hn::Sub(g, part.load(d, shift + i));
      part.store(hn::Mul(factor, hn::NegMulAdd(away, part.load(d, pull + i), direct)), d,
                 dx + row + i);
    });
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(block_moments);
HWY_EXPORT(apply_rows);
HWY_EXPORT(block_slopes);
HWY_EXPORT(slope_rows);

namespace {

int64_t rows_of_block(int64_t cols) { return row_grain(heavy_grain, cols); }

std::vector<float> scales(const BatchNorm<float>& n) {
  std::vector<float> scale(static_cast<size_t>(n.cols));
  for (int64_t i = 0; i < n.cols; ++i) scale[static_cast<size_t>(i)] = n.rstd[i] * n.gamma[i];
  return scale;
}

}  // namespace

void column_moments(float* mean, float* variance, const float* x, int64_t rows, int64_t cols) {
  const int64_t grain = rows_of_block(cols), blocks = (rows + grain - 1) / grain;
  std::vector<float> own(static_cast<size_t>(blocks * 2 * cols));
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    float* to = own.data() + begin / grain * 2 * cols;
    FOVEA_DISPATCH(block_moments)(to, to + cols, x + begin * cols, end - begin, cols);
  });
  // Chan, Golub, LeVeque 1979: two sets of rows with their means and squares make one.
  for (int64_t i = 0; i < cols; ++i) {
    double middle = 0, squares = 0, count = 0;
    for (int64_t block = 0; block < blocks; ++block) {
      const float* from = own.data() + block * 2 * cols + i;
      const auto more = static_cast<double>(std::min(grain, rows - block * grain));
      const double away = static_cast<double>(from[0]) - middle, all = count + more;
      middle += away * more / all;
      squares += static_cast<double>(from[cols]) + away * away * count * more / all;
      count = all;
    }
    mean[i] = static_cast<float>(middle);
    variance[i] = static_cast<float>(squares / count);
  }
}

void batch_norm(float* y, const BatchNorm<float>& n) {
  const std::vector<float> scale = scales(n);
  parallel_for(n.rows, row_grain(light_grain, n.cols), [&](int64_t begin, int64_t end) {
    FOVEA_DISPATCH(apply_rows)(y, n, scale.data(), begin, end);
  });
}

void batch_norm_grad(float* dx, float* dgamma, float* dbeta, const float* dy,
                     const BatchNorm<float>& n, bool fixed) {
  const std::vector<float> scale = scales(n);
  const int64_t grain = rows_of_block(n.cols), blocks = (n.rows + grain - 1) / grain;
  std::vector<float> own(static_cast<size_t>(blocks * 2 * n.cols));
  parallel_for(n.rows, grain, [&](int64_t begin, int64_t end) {
    float* to = own.data() + begin / grain * 2 * n.cols;
    FOVEA_DISPATCH(block_slopes)(to, to + n.cols, dy, n, scale.data(), begin, end);
  });
  std::vector<float> shift(static_cast<size_t>(n.cols), 0), pull = shift;
  for (int64_t i = 0; i < n.cols; ++i) {
    double sum = 0, dot = 0;
    for (int64_t block = 0; block < blocks; ++block) {
      sum += static_cast<double>(own[static_cast<size_t>(block * 2 * n.cols + i)]);
      dot += static_cast<double>(own[static_cast<size_t>(block * 2 * n.cols + n.cols + i)]);
    }
    const auto rstd = static_cast<double>(n.rstd[i]), count = static_cast<double>(n.rows);
    dbeta[i] = static_cast<float>(sum);
    dgamma[i] = static_cast<float>(dot * rstd);
    if (fixed || n.rows == 0) continue;
    shift[static_cast<size_t>(i)] = static_cast<float>(sum / count);
    pull[static_cast<size_t>(i)] = static_cast<float>(dot * rstd * rstd / count);
  }
  if (!dx) return;
  parallel_for(n.rows, row_grain(light_grain, n.cols), [&](int64_t begin, int64_t end) {
    FOVEA_DISPATCH(slope_rows)
    (dx, dy, n, scale.data(), shift.data(), pull.data(), begin, end);
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
