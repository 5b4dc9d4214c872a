// Sparse alignments of one row of scores, exact in value and gradient. A score of -inf is a key
// that may not be looked at; a row of nothing else gives zeros.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace fovea::naive {

// Sparsemax: Martins and Astudillo 2016, the Euclidean projection onto the simplex. p = max(z - t,
// 0).
template <class T>
T sparsemax_threshold(const T* sorted, int64_t n) {
  T sum = 0, threshold = 0;
  for (int64_t k = 1; k <= n; ++k) {
    sum += sorted[k - 1];
    const T t = (sum - 1) / static_cast<T>(k);
    if (sorted[k - 1] <= t) break;  // k z_(k) > sum - 1 holds for the support alone
    threshold = t;
  }
  return threshold;
}

// 1.5-entmax: Peters, Niculae, Martins 2019. On z / 2: p = max(z - t, 0)^2.
template <class T>
T entmax15_threshold(const T* sorted, int64_t n) {
  T mean = 0, mean_of_squares = 0, threshold = 0;
  for (int64_t k = 1; k <= n; ++k) {
    const T z = sorted[k - 1], count = static_cast<T>(k);
    mean += (z - mean) / count;
    mean_of_squares += (z * z - mean_of_squares) / count;
    const T spread = count * (mean_of_squares - mean * mean);
    const T t = mean - std::sqrt(std::max((1 - spread) / count, T(0)));
    if (t > z) break;
    threshold = t;
  }
  return threshold;
}

// The threshold t at which sum max(z - t, 0)^(1 / (alpha - 1)) = 1, by halving [max z - 1, max z].
template <class T>
T entmax_threshold(const T* z, int64_t n, T alpha) {
  const T top = *std::max_element(z, z + n), power = 1 / (alpha - 1);
  T low = top - 1, high = top;
  for (int i = 0; i < (sizeof(T) == 4 ? 40 : 80); ++i) {
    const T middle = low + (high - low) / 2;
    T sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      if (z[j] > middle) sum += std::pow(z[j] - middle, power);
    }
    (sum >= 1 ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

// p[n] = alpha-entmax of z[n], alpha in (1, 2]; `room` is scratch of n numbers.
template <class T>
void entmax_row(T* p, const T* z, int64_t n, double alpha, T* room) {
  const T top = n ? *std::max_element(z, z + n) : T(0);
  if (n == 0 || (std::isinf(top) && top < 0)) {
    std::fill_n(p, n, T(0));
    return;
  }
  // Shifted so that the largest is 0: nothing below -1 / (alpha - 1) can be in the support.
  const T factor = static_cast<T>(alpha - 1);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    p[i] = (z[i] - top) * factor;
    if (p[i] > -1) room[count++] = p[i];
  }
  T t;
  if (alpha == 2 || alpha == 1.5) {
    std::sort(room, room + count, std::greater<T>());
    t = alpha == 2 ? sparsemax_threshold(room, count) : entmax15_threshold(room, count);
  } else {
    t = entmax_threshold(room, count, static_cast<T>(alpha));
  }
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T above = p[i] - t;
    p[i] = above <= 0     ? T(0)
           : alpha == 2   ? above
           : alpha == 1.5 ? above * above
                          : std::pow(above, 1 / factor);
    sum += p[i];
  }
  for (int64_t i = 0; i < n; ++i) p[i] /= sum;  // what halving left over
}

// dz = s (dp - sum(s dp) / sum(s)), s = p^(2 - alpha) on the support, 0 elsewhere.
template <class T>
void entmax_row_grad(T* dz, const T* dp, const T* p, int64_t n, double alpha) {
  const T power = static_cast<T>(2 - alpha);
  T total = 0, dot = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T s = p[i] <= 0      ? T(0)
                : alpha == 2   ? T(1)
                : alpha == 1.5 ? std::sqrt(p[i])
                               : std::pow(p[i], power);
    dz[i] = s;
    total += s;
    dot += s * dp[i];
  }
  const T mean = total > 0 ? dot / total : T(0);
  for (int64_t i = 0; i < n; ++i) dz[i] *= dp[i] - mean;
}

template <class T>
void entmax(T* p, const T* z, int64_t rows, int64_t cols, double alpha, T* room) {
  for (int64_t r = 0; r < rows; ++r) entmax_row(p + r * cols, z + r * cols, cols, alpha, room);
}

template <class T>
void entmax_grad(T* dz, const T* dp, const T* p, int64_t rows, int64_t cols, double alpha) {
  for (int64_t r = 0; r < rows; ++r) {
    entmax_row_grad(dz + r * cols, dp + r * cols, p + r * cols, cols, alpha);
  }
}

}  // namespace fovea::naive
