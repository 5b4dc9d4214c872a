#include "fovea/model/numbers/nearest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/parallel.h"

namespace fovea {

Scorer::Output NearestNeighbours::operator()(const ModelInputs& in) const {
  const int64_t B = in.numbers.dim(0), D = in.numbers.dim(1), n = in.known.numbers.dim(0);
  const auto k = std::min<int64_t>(n, std::llround(count_.read()[0]));
  const float *x = in.numbers.read().data(), *known = in.known.numbers.read().data(),
              *answers = in.known.answers.read().data();
  Tensor found({B, 1});
  float* to = found.write().data();
  parallel_for(B, 8, [&](int64_t begin, int64_t end) {
    std::vector<std::pair<float, int64_t>> far(static_cast<size_t>(n));
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float squares = 0;
        for (int64_t d = 0; d < D; ++d) {
          const float by = x[i * D + d] - known[j * D + d];
          squares += by * by;
        }
        far[static_cast<size_t>(j)] = {squares, j};
      }
      std::partial_sort(far.begin(), far.begin() + k, far.end());
      double sum = 0;
      for (int64_t j = 0; j < k; ++j) sum += static_cast<double>(answers[far[j].second]);
      to[i] = static_cast<float>(sum / static_cast<double>(k));
    }
  });
  return {found};
}

FitChoice NearestNeighbours::fit(const Examples&, const Examples& dev,
                                 const FitLimits& limits) const {
  double least = std::numeric_limits<double>::infinity();
  float best = 1;
  FitChoice choice;
  for (float k : {1.0F, 2.0F, 3.0F, 5.0F, 8.0F, 13.0F, 21.0F, 34.0F}) {
    if (limits.end_after(choice.tries)) break;
    ++choice.tries;
    count_ = Tensor::of({1}, {k});
    const Tensor found = (*this)(dev.inputs).scores;
    double squares = 0;
    for (int64_t i = 0; i < found.elements(); ++i) {
      const double by = static_cast<double>(found.read()[i] - dev.targets.read()[i]);
      squares += by * by;
    }
    if (squares < least) least = squares, best = k;
  }
  count_ = Tensor::of({1}, {best});
  return choice;
}

Scorer::Output LeastSquares::operator()(const ModelInputs& in) const {
  const int64_t B = in.numbers.dim(0), D = in.numbers.dim(1);
  Tensor found({B, 1});
  auto to = found.write();
  for (int64_t i = 0; i < B; ++i) {
    double sum = static_cast<double>(weight_.read()[D]);
    for (int64_t d = 0; d < D; ++d) {
      sum += static_cast<double>(weight_.read()[d]) *
             static_cast<double>(in.numbers.read()[i * D + d]);
    }
    to[i] = static_cast<float>(sum);
  }
  return {found};
}

FitChoice LeastSquares::fit(const Examples& train, const Examples&, const FitLimits&) const {
  const int64_t n = train.inputs.numbers.dim(0), D = train.inputs.numbers.dim(1), m = D + 1;
  // The normal equations, features being of deviation 1; the little that is added to the diagonal
  // keeps them solvable where columns are copies of each other.
  std::vector<double> a(static_cast<size_t>(m * (m + 1)), 0);
  std::vector<double> row(static_cast<size_t>(m), 1);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t d = 0; d < D; ++d)
      row[d] = static_cast<double>(train.inputs.numbers.read()[i * D + d]);
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < m; ++c) a[r * (m + 1) + c] += row[r] * row[c];
      a[r * (m + 1) + m] += row[r] * static_cast<double>(train.targets.read()[i]);
    }
  }
  for (int64_t r = 0; r < m; ++r) a[r * (m + 1) + r] += 1e-6 * static_cast<double>(n);
  for (int64_t r = 0; r < m; ++r) {  // positive definite: no pivots are needed
    for (int64_t below = r + 1; below < m; ++below) {
      const double times = a[below * (m + 1) + r] / a[r * (m + 1) + r];
      for (int64_t c = r; c <= m; ++c) a[below * (m + 1) + c] -= times * a[r * (m + 1) + c];
    }
  }
  std::vector<float> weight(static_cast<size_t>(m));
  for (int64_t r = m - 1; r >= 0; --r) {
    double sum = a[r * (m + 1) + m];
    for (int64_t c = r + 1; c < m; ++c) sum -= a[r * (m + 1) + c] * static_cast<double>(weight[c]);
    weight[r] = static_cast<float>(sum / a[r * (m + 1) + r]);
  }
  weight_ = Tensor::of({m}, weight);
  return {1, {}};
}

}  // namespace fovea
