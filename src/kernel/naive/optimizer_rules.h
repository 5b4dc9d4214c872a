// Plain twin of kernel/optimizer_rules.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace fovea::naive {

// The arrays a rule keeps for each parameter, in this order:
enum class Rule : uint8_t {
  adam,             // mean of the gradients, mean of their squares
  sgd,              // velocity
  adadelta,         // mean of the squared gradients, mean of the squared changes
  rmsprop,          // mean of the squared gradients
  rmsprop_centred,  // mean of the squared gradients, mean of the gradients
};
constexpr int rule_arrays(Rule rule) { return rule == Rule::sgd || rule == Rule::rmsprop ? 1 : 2; }

struct RuleStep {
  double rate = 0;
  double l2 = 0;     // weight decay through the gradient: g + l2 * w
  double decay = 0;  // decoupled weight decay, already times the rate: w - decay * w
  double beta1 = 0, beta2 = 0, eps = 0;
  double fix1 = 1, fix2 = 1;  // 1 - beta^t: what Adam's bias correction divides by
  double momentum = 0;
  double rho = 0;
};

// w [n] and the rule's arrays a[0], a[1] [n] are updated in place by the gradient g.
template <class T>
void update(Rule rule, const RuleStep& s, T* w, T* const* a, const T* g, int64_t n) {
  const auto mean = [](T& m, T x, double keep) { m += T(1 - keep) * (x - m); };
  for (int64_t i = 0; i < n; ++i) {
    const T d = g[i] + T(s.l2) * w[i];
    T change = 0;
    switch (rule) {
      case Rule::adam:
        mean(a[0][i], d, s.beta1);
        mean(a[1][i], d * d, s.beta2);
        change = T(s.rate / s.fix1) * a[0][i] / (std::sqrt(a[1][i] / T(s.fix2)) + T(s.eps));
        break;
      case Rule::sgd:
        a[0][i] = T(s.momentum) * a[0][i] + d;
        change = T(s.rate) * a[0][i];
        break;
      case Rule::adadelta: {
        mean(a[0][i], d * d, s.rho);
        const T x = std::sqrt(a[1][i] + T(s.eps)) / std::sqrt(a[0][i] + T(s.eps)) * d;
        mean(a[1][i], x * x, s.rho);
        change = T(s.rate) * x;
        break;
      }
      case Rule::rmsprop:
        mean(a[0][i], d * d, s.rho);
        change = T(s.rate) * d / (std::sqrt(a[0][i]) + T(s.eps));
        break;
      case Rule::rmsprop_centred: {
        mean(a[0][i], d * d, s.rho);
        mean(a[1][i], d, s.rho);
        // A variance that rounding made negative must not become NaN.
        const T variance = std::max(T(0), a[0][i] - a[1][i] * a[1][i]);
        change = T(s.rate) * d / (std::sqrt(variance) + T(s.eps));
        break;
      }
    }
    w[i] -= T(s.decay) * w[i] + change;
  }
}

}  // namespace fovea::naive
