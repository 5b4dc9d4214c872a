// Linear-chain conditional random fields (Lafferty, McCallum, Pereira 2001) over one sequence:
//   s(y) = sum_t scores[t, y_t] + transitions[y_(t-1), y_t],   p(y) = exp(s(y)) / Z
// Scores are [T, L], transitions [L + 1, L]; their last row is where a sequence begins. In float64
// whatever the scores are: a sum over T steps of numbers that nearly cancel.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace fovea::kernel {

// Transitions and their exponentials, made once for many sequences.
class CrfTransitions {
 public:
  // Of an array [labels + 1, labels].
  template <class Real>
  CrfTransitions(const Real* transitions, int64_t labels)
      : labels_(labels),
        raw_(transitions, transitions + (labels + 1) * labels),
        factor_(raw_.size()) {
    for (size_t i = 0; i < raw_.size(); ++i) factor_[i] = std::exp(raw_[i]);
  }
  // How many labels there are.
  int64_t labels() const { return labels_; }
  // The transition itself; `from` is labels() where a sequence begins.
  double raw(int64_t from, int64_t to) const { return raw_.data()[from * labels_ + to]; }
  // The exponentials of all transitions from one label.
  const double* factor(int64_t from) const { return factor_.data() + from * labels_; }

 private:
  int64_t labels_;
  std::vector<double> raw_, factor_;
};

// log Z; marginals[t, l] = p(y_t = l), unless null; pairs [L + 1, L] gets the expected number of
// each transition added, unless null.
template <class Real>
double crf_marginals(const Real* scores, const CrfTransitions& transitions, int64_t steps,
                     double* marginals, double* pairs) {
  const int64_t L = transitions.labels();
  std::vector<double> work(static_cast<size_t>(steps * (2 * L + 1) + 2 * L));
  double* forward = work.data();  // [steps, L], as emitted is
  double* emitted = forward + steps * L;
  double* scale = emitted + steps * L;  // [steps]
  double* backward = scale + steps;     // [L], as next is
  double* next = backward + L;
  double log_z = 0;
  for (int64_t t = 0; t < steps; ++t) {
    const double top = *std::max_element(scores + t * L, scores + (t + 1) * L);
    double* now = forward + t * L;
    double* e = emitted + t * L;
    for (int64_t l = 0; l < L; ++l) e[l] = std::exp(static_cast<double>(scores[t * L + l]) - top);
    if (t == 0) {
      for (int64_t l = 0; l < L; ++l) now[l] = transitions.factor(L)[l] * e[l];
    } else {
      std::fill(now, now + L, 0.0);
      for (int64_t k = 0; k < L; ++k) {
        const double before = forward[(t - 1) * L + k];
        const double* row = transitions.factor(k);
        for (int64_t l = 0; l < L; ++l) now[l] += before * row[l];
      }
      for (int64_t l = 0; l < L; ++l) now[l] *= e[l];
    }
    double sum = 0;
    for (int64_t l = 0; l < L; ++l) sum += now[l];
    sum = std::max(sum, std::numeric_limits<double>::min());
    scale[t] = sum;
    for (int64_t l = 0; l < L; ++l) now[l] /= sum;
    log_z += std::log(sum) + top;
  }
  if (!marginals && !pairs) return log_z;
  std::fill(backward, next, 1.0);
  for (int64_t t = steps - 1; t >= 0; --t) {
    if (marginals) {
      for (int64_t l = 0; l < L; ++l) marginals[t * L + l] = forward[t * L + l] * backward[l];
    }
    // What stands behind the transition into t: its own score and all that follows.
    for (int64_t l = 0; l < L; ++l) next[l] = emitted[t * L + l] * backward[l] / scale[t];
    if (t == 0) {
      if (pairs) {
        for (int64_t l = 0; l < L; ++l) pairs[L * L + l] += transitions.factor(L)[l] * next[l];
      }
      break;
    }
    for (int64_t k = 0; k < L; ++k) {
      const double* row = transitions.factor(k);
      const double before = forward[(t - 1) * L + k];
      double sum = 0;
      for (int64_t l = 0; l < L; ++l) {
        const double one = row[l] * next[l];
        sum += one;
        if (pairs) pairs[k * L + l] += before * one;
      }
      backward[k] = sum;
    }
  }
  return log_z;
}

// The labels whose sum is greatest (Viterbi 1967), of equals the first; gives that sum.
template <class Real>
double crf_best_path(const Real* scores, const CrfTransitions& transitions, int64_t steps,
                     int32_t* path) {
  const int64_t L = transitions.labels();
  std::vector<double> sums(static_cast<size_t>(2 * L));
  double *now = sums.data(), *before = now + L;
  std::vector<int32_t> back(static_cast<size_t>(steps * L));
  int32_t* from = back.data();  // [steps, L]: the label before
  for (int64_t l = 0; l < L; ++l) now[l] = transitions.raw(L, l) + static_cast<double>(scores[l]);
  for (int64_t t = 1; t < steps; ++t) {
    std::swap(now, before);
    for (int64_t l = 0; l < L; ++l) {
      int64_t best = 0;
      double most = -std::numeric_limits<double>::infinity();
      for (int64_t k = 0; k < L; ++k) {
        const double sum = before[k] + transitions.raw(k, l);
        if (sum > most) most = sum, best = k;
      }
      now[l] = most + static_cast<double>(scores[t * L + l]);
      from[t * L + l] = static_cast<int32_t>(best);
    }
  }
  const auto last = std::max_element(now, now + L);
  path[steps - 1] = static_cast<int32_t>(last - now);
  for (int64_t t = steps - 1; t > 0; --t) path[t - 1] = from[t * L + path[t]];
  return *last;
}

}  // namespace fovea::kernel
