// Plain twin of kernel/unary.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace fovea::naive {

enum class Unary {
  affine,      // a x + b
  exp,         //
  log,         //
  sqrt,        //
  square,      //
  abs,         //
  sin,         //
  cos,         //
  tanh,        //
  sigmoid,     // 1 / (1 + e^-x)
  softplus,    // log(1 + e^x)
  relu,        // slope 0 at 0
  leaky_relu,  // x > 0 ? x : a x
  elu,         // x > 0 ? x : a (e^x - 1)
  gelu,        // x Phi(x), exact
  gelu_tanh,   // its tanh form
  clamp,       // into [a, b]
};

constexpr double gelu_c0 = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double gelu_c1 = 0.044715;

template <class T>
T value(Unary f, T x, T a, T b) {
  switch (f) {
    case Unary::affine:
      return a * x + b;
    case Unary::exp:
      return std::exp(x);
    case Unary::log:
      return std::log(x);
    case Unary::sqrt:
      return std::sqrt(x);
    case Unary::square:
      return x * x;
    case Unary::abs:
      return std::abs(x);
    case Unary::sin:
      return std::sin(x);
    case Unary::cos:
      return std::cos(x);
    case Unary::tanh:
      return std::tanh(x);
    case Unary::sigmoid:
      return T(1) / (T(1) + std::exp(-x));
    case Unary::softplus:
      return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
    case Unary::relu:
      return x > 0 ? x : T(0);
    case Unary::leaky_relu:
      return x > 0 ? x : a * x;
    case Unary::elu:
      return x > 0 ? x : a * std::expm1(x);
    case Unary::gelu:
      return T(0.5) * x * std::erfc(-x / std::numbers::sqrt2_v<T>);
    case Unary::gelu_tanh:
      return T(0.5) * x * (1 + std::tanh(T(gelu_c0) * (x + T(gelu_c1) * x * x * x)));
    case Unary::clamp:
      return std::min(std::max(x, a), b);
  }
  return x;
}

// f'(x), where y = f(x).
template <class T>
T slope(Unary f, T x, T y, T a, T b) {
  switch (f) {
    case Unary::affine:
      return a;
    case Unary::exp:
      return y;
    case Unary::log:
      return 1 / x;
    case Unary::sqrt:
      return T(0.5) / y;
    case Unary::square:
      return 2 * x;
    case Unary::abs:
      return x > 0 ? T(1) : x < 0 ? T(-1) : T(0);
    case Unary::sin:
      return std::cos(x);
    case Unary::cos:
      return -std::sin(x);
    case Unary::tanh:
      return 1 - y * y;
    case Unary::sigmoid:
      return y * (1 - y);
    case Unary::softplus:
      return T(1) / (T(1) + std::exp(-x));
    case Unary::relu:
      return x > 0 ? T(1) : T(0);
    case Unary::leaky_relu:
      return x > 0 ? T(1) : a;
    case Unary::elu:
      return x > 0 ? T(1) : y + a;
    case Unary::gelu:
      return T(0.5) * std::erfc(-x / std::numbers::sqrt2_v<T>) +
             x * std::exp(T(-0.5) * x * x) * T(0.3989422804014327);
    case Unary::gelu_tanh: {
      const T t = std::tanh(T(gelu_c0) * (x + T(gelu_c1) * x * x * x));
      return T(0.5) * (1 + t) +
             T(0.5) * x * (1 - t * t) * T(gelu_c0) * (1 + 3 * T(gelu_c1) * x * x);
    }
    case Unary::clamp:
      return x >= a && x <= b ? T(1) : T(0);
  }
  return T(0);
}

template <class T>
void unary(Unary f, T* y, const T* x, int64_t n, T a, T b) {
  for (int64_t i = 0; i < n; ++i) y[i] = value(f, x[i], a, b);
}

template <class T>
void unary_grad(Unary f, T* dx, const T* dy, const T* x, const T* y, int64_t n, T a, T b) {
  for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * slope(f, x[i], y[i], a, b);
}

}  // namespace fovea::naive
