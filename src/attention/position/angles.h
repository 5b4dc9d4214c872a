// cos and sin of p / base^(2i / width) for consecutive positions p. The angle sum rule leads from
// one position to the next, which is far cheaper than a sine for each; it starts afresh often
// enough that rounding cannot pile up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace fovea {

class Angles {
 public:
  Angles(int64_t pairs, int64_t width, double base)
      : frequency_(static_cast<size_t>(pairs)), cos_(frequency_), sin_(frequency_) {
    for (size_t i = 0; i < frequency_.size(); ++i) {
      frequency_[i] = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
      cos_[i] = std::cos(frequency_[i]);
      sin_[i] = std::sin(frequency_[i]);
    }
  }

  // Calls f(p, cos, sin) for p in [from, to); both arrays hold a number for each pair.
  template <class F>
  void each(int64_t from, int64_t to, const F& f) const {
    const size_t pairs = frequency_.size();
    std::vector<double> c(pairs), s(pairs);
    for (int64_t p = from; p < to; ++p) {
      if ((p - from) % 64 == 0) {
        for (size_t i = 0; i < pairs; ++i) {
          c[i] = std::cos(static_cast<double>(p) * frequency_[i]);
          s[i] = std::sin(static_cast<double>(p) * frequency_[i]);
        }
      }
      f(p, c.data(), s.data());
      for (size_t i = 0; i < pairs; ++i) {
        const double next = c[i] * cos_[i] - s[i] * sin_[i];
        s[i] = s[i] * cos_[i] + c[i] * sin_[i];
        c[i] = next;
      }
    }
  }

 private:
  std::vector<double> frequency_, cos_, sin_;
};

}  // namespace fovea
