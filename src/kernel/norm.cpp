#include "fovea/kernel/norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

struct SquaredFrom {
  float mean;
  V operator()(D d, V x) const {
    const V away = hn::Sub(x, hn::Set(d, mean));
    return hn::Mul(away, away);
  }
};
struct Normalise {
  float mean, rstd;
  V operator()(D d, V x, V gamma, V beta) const {
    const V normal = hn::Mul(hn::Sub(x, hn::Set(d, mean)), hn::Set(d, rstd));
    return hn::MulAdd(normal, gamma, beta);
  }
};
struct NormSlope {
  float mean, rstd, shift,
      pull;  // shift = sum(dy gamma) / cols, pull = sum(dy gamma normal) / cols
  HWY_INLINE V operator()(D d, V dy, V gamma, V x) const {
    const V scale = hn::Set(d, rstd);
    const V normal = hn::Mul(hn::Sub(x, hn::Set(d, mean)), scale);
    const V direct = hn::MulSub(dy, gamma, hn::Set(d, shift));
    return hn::Mul(scale, hn::NegMulAdd(normal, hn::Set(d, pull), direct));
  }
};

void norm_row(float* y, float* mean, float* rstd, const float* x, const float* gamma,
              const float* beta, int64_t n, float eps) {
  *mean = sum_of(Same{}, x, n) / static_cast<float>(n);
  const float variance = sum_of(SquaredFrom{*mean}, x, n) / static_cast<float>(n);
  *rstd = 1 / std::sqrt(variance + eps);
  map3(Normalise{*mean, *rstd}, y, x, gamma, beta, n);
}

void norm_grad_row(float* dx, const float* dy, const float* x, const float* gamma, float mean,
                   float rstd, int64_t n, bool add) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sums = hn::Zero(d), dots = sums;
  float sum = 0, dot = 0;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V g = hn::Mul(hn::LoadU(d, dy + i), hn::LoadU(d, gamma + i));
    sums = hn::Add(sums, g);
    dots = hn::MulAdd(g, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean)), dots);
  }
  for (; i < n; ++i) {
    sum += dy[i] * gamma[i];
    dot += dy[i] * gamma[i] * (x[i] - mean);
  }
  sum += hn::GetLane(hn::SumOfLanes(d, sums));
  dot += hn::GetLane(hn::SumOfLanes(d, dots));
  const auto count = static_cast<float>(n);
  const NormSlope slope{mean, rstd, sum / count, dot * rstd / count};
  if (!add) return map3(slope, dx, dy, gamma, x, n);
  for (i = 0; i + lanes <= n; i += lanes) {
    const V more = slope(d, hn::LoadU(d, dy + i), hn::LoadU(d, gamma + i), hn::LoadU(d, x + i));
    hn::StoreU(hn::Add(hn::LoadU(d, dx + i), more), d, dx + i);
  }
  if (i == n) return;
  const V more = slope(d, load_part(d, dy + i, n - i), load_part(d, gamma + i, n - i),
                       load_part(d, x + i, n - i));
  store_part(hn::Add(load_part(d, dx + i, n - i), more), d, dx + i, n - i);
}

// N vectors' columns of a matrix whose rows are `stride` apart.
template <int N>
void norm_grad_vectors(float* dgamma, float* dbeta, const float* dy, const float* x,
                       const float* mean, const float* rstd, int64_t rows, int64_t stride) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V g[N], b[N];
  for (int v = 0; v < N; ++v) g[v] = b[v] = hn::Zero(d);
  for (int64_t r = 0; r < rows; ++r, dy += stride, x += stride) {
    const V middle = hn::Set(d, mean[r]), scale = hn::Set(d, rstd[r]);
    for (int v = 0; v < N; ++v) {
      const V slope = hn::LoadU(d, dy + v * lanes);
      const V normal = hn::Mul(hn::Sub(hn::LoadU(d, x + v * lanes), middle), scale);
      g[v] = hn::MulAdd(slope, normal, g[v]);
      b[v] = hn::Add(b[v], slope);
    }
  }
  for (int v = 0; v < N; ++v) {
    hn::StoreU(g[v], d, dgamma + v * lanes);
    hn::StoreU(b[v], d, dbeta + v * lanes);
  }
}

// Two cache lines of columns at a time where there are as many.
void norm_grad_columns(float* dgamma, float* dbeta, const float* dy, const float* x,
                       const float* mean, const float* rstd, int64_t rows, int64_t cols) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 4 * lanes <= cols; i += 4 * lanes) {
    norm_grad_vectors<4>(dgamma + i, dbeta + i, dy + i, x + i, mean, rstd, rows, cols);
  }
  for (; i + lanes <= cols; i += lanes) {
    norm_grad_vectors<1>(dgamma + i, dbeta + i, dy + i, x + i, mean, rstd, rows, cols);
  }
  for (; i < cols; ++i) {
    float g = 0, b = 0;
    for (int64_t r = 0; r < rows; ++r) {
      g += dy[r * cols + i] * (x[r * cols + i] - mean[r]) * rstd[r];
      b += dy[r * cols + i];
    }
    dgamma[i] = g;
    dbeta[i] = b;
  }
}

void norm_grad_rows(const NormGradient<float>& to, float* dgamma, float* dbeta, const float* dy,
                    const float* x, const float* gamma, const float* mean, const float* rstd,
                    int64_t rows, int64_t cols) {
  for (int64_t r = 0; to.dx && r < rows; ++r) {
    const int64_t i = r * cols;
    norm_grad_row(to.dx + i, dy + i, x + i, gamma, mean[r], rstd[r], cols, to.add);
  }
  if (dgamma) norm_grad_columns(dgamma, dbeta, dy, x, mean, rstd, rows, cols);
}

void add_sums(float* sums, const float* more, int64_t n) { map2(Plus{}, sums, sums, more, n); }

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(norm_row);
HWY_EXPORT(norm_grad_rows);
HWY_EXPORT(add_sums);

void layer_norm(float* y, float* mean, float* rstd, const float* x, const float* gamma,
                const float* beta, int64_t rows, int64_t cols, float eps) {
  parallel_for(rows, row_grain(light_grain, cols), [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      FOVEA_DISPATCH(norm_row)
      (y + r * cols, mean + r, rstd + r, x + r * cols, gamma, beta, cols, eps);
    }
  });
}

void layer_norm_grad(const NormGradient<float>& to, const float* dy, const float* x,
                     const float* gamma, const float* mean, const float* rstd, int64_t rows,
                     int64_t cols) {
  const int64_t grain = row_grain(heavy_grain, cols), chunks = (rows + grain - 1) / grain;
  // Each chunk of rows has sums of its own for gamma and beta.
  std::vector<float> sums(to.dgamma ? chunks * 2 * cols : 0);
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    const int64_t i = begin * cols;
    float* own = to.dgamma ? sums.data() + begin / grain * 2 * cols : nullptr;
    FOVEA_DISPATCH(norm_grad_rows)
    ({to.dx ? to.dx + i : nullptr, to.add}, own, own ? own + cols : nullptr, dy + i, x + i, gamma,
     mean + begin, rstd + begin, end - begin, cols);
  });
  if (!to.dgamma) return;
  sums.resize(std::max<int64_t>(1, chunks) * 2 * cols);  // no rows: zeros
  for (int64_t chunk = 1; chunk < chunks; ++chunk) {
    FOVEA_DISPATCH(add_sums)(sums.data(), sums.data() + chunk * 2 * cols, 2 * cols);
  }
  std::copy_n(sums.data(), cols, to.dgamma);
  std::copy_n(sums.data() + cols, cols, to.dbeta);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
