// Every SIMD kernel against its plain float64 twin: at awkward sizes, for every instruction set the
// machine has, and with the same bits for any number of threads.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "fovea/base/parallel.h"
#include "fovea/kernel/binary.h"
#include "fovea/kernel/dropout.h"
#include "fovea/kernel/dropped.h"
#include "fovea/kernel/index.h"
#include "fovea/kernel/norm.h"
#include "fovea/kernel/reduce.h"
#include "fovea/kernel/simd.h"
#include "fovea/kernel/softmax.h"
#include "fovea/kernel/unary.h"
#include "support/twin.h"

namespace fovea::test {
namespace {

constexpr int64_t sizes[] = {1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 64, 65, 127, 257, 1000};
constexpr int64_t large = 100'003;  // several chunks, and a last one that is not full

TEST(Kernel, Unary) {
  using kernel::Unary;
  for (auto f :
       {Unary::affine, Unary::exp, Unary::square, Unary::abs, Unary::sin, Unary::cos, Unary::tanh,
        Unary::sigmoid, Unary::softplus, Unary::relu, Unary::leaky_relu, Unary::elu, Unary::gelu,
        Unary::gelu_tanh, Unary::clamp, Unary::log, Unary::sqrt}) {
    SCOPED_TRACE(static_cast<int>(f));
    const bool positive = f == Unary::log || f == Unary::sqrt;
    auto run = [&](int64_t n, double reach) {
      check_against_twin([=]<class T>(Call& c, T) {
        const T* x = c.in<T>(n, positive ? 0.05 : -reach, reach);
        T* y = c.out<T>(n);
        kernel::unary(f, y, x, n, T(0.5), T(1.25));
        kernel::unary_grad(f, c.out<T>(n), c.in<T>(n), x, y, n, T(0.5), T(1.25));
      });
    };
    for (int64_t n : sizes) run(n, 4);
    run(large, 20);
  }
}

TEST(Kernel, UnaryAtTheEdges) {
  using kernel::Unary;
  const float inf = std::numeric_limits<float>::infinity();
  auto at = [](Unary f, float x) {
    float y = NAN;
    kernel::unary(f, &y, &x, 1, 1, 0);
    return y;
  };
  EXPECT_EQ(at(Unary::exp, -inf), 0);
  EXPECT_EQ(at(Unary::exp, -1e4f), 0);
  EXPECT_EQ(at(Unary::exp, 200), inf);
  EXPECT_NEAR(at(Unary::exp, 88.5f) / std::exp(88.5f), 1, 1e-5);
  EXPECT_EQ(at(Unary::sigmoid, -1e4f), 0);
  EXPECT_EQ(at(Unary::sigmoid, 1e4f), 1);
  EXPECT_EQ(at(Unary::tanh, 1e4f), 1);
  EXPECT_EQ(at(Unary::tanh, -1e4f), -1);
  EXPECT_EQ(at(Unary::log, 0), -inf);
  EXPECT_EQ(at(Unary::gelu, -1e4f), 0);
  EXPECT_EQ(at(Unary::gelu, 1e4f), 1e4f);
  EXPECT_EQ(at(Unary::softplus, 1e4f), 1e4f);
}

TEST(Kernel, BinaryWithBroadcasting) {
  using kernel::Binary;
  const std::pair<Shape, Shape> shapes[] = {{{1}, {1}},
                                            {{7}, {7}},
                                            {{257}, {257}},
                                            {{5, 17}, {17}},
                                            {{5, 1}, {1, 9}},
                                            {{3, 1, 65}, {4, 1}},
                                            {{2, 3, 5}, {2, 1, 5}},
                                            {{}, {13}},
                                            {{1000}, {}},
                                            {{64, 1}, {64, 33}},
                                            {{large}, {large}},
                                            {{700, 1}, {700, 150}},
                                            {{2, 2, 2, 2, 3}, {2, 1, 2, 1, 3}}};
  for (auto f : {Binary::add, Binary::subtract, Binary::multiply, Binary::divide, Binary::maximum,
                 Binary::minimum}) {
    for (const auto& [a, b] : shapes) {
      SCOPED_TRACE(say(a, b, static_cast<int>(f)));
      check_against_twin([&, a = a, b = b]<class T>(Call& c, T) {
        const Shape y = kernel::broadcast_shape(a, b);
        kernel::binary(f, c.out<T>(y.elements()), c.in<T>(a.elements()),
                       c.in<T>(b.elements(), 0.5, 2), kernel::broadcast(a, b));
      });
    }
  }
}

TEST(Kernel, Reduce) {
  const int64_t cases[][3] = {{1, 1, 1},   {1, 7, 1},    {5, 13, 1},     {1, 9, 17},
                              {3, 5, 7},   {2, 65, 3},   {1, 1000, 257}, {257, 100, 1},
                              {40, 9, 64}, {1, large, 1}};
  for (const auto& [outer, n, inner] : cases) {
    SCOPED_TRACE(say(outer, " ", n, " ", inner));
    check_against_twin([=, outer = outer, n = n, inner = inner]<class T>(Call& c, T) {
      const T* x = c.in<T>(outer * n * inner, -1, 3);
      kernel::sum_axis(c.out<T>(outer * inner), x, outer, n, inner);
      Tensor at({outer * inner}, Dtype::i32);
      kernel::max_axis(c.out<T>(outer * inner), at.write<int32_t>().data(), x, outer, n, inner);
      *c.out<T>(1) = static_cast<T>(kernel::square_sum(x, outer * n * inner));
    });
  }
}

TEST(Kernel, Softmax) {
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{1, 1},
                                   {3, 2},
                                   {5, 7},
                                   {2, 64},
                                   {9, 65},
                                   {4, 1000},
                                   {300, 257}}) {
    SCOPED_TRACE(say(rows, " ", cols));
    check_against_twin([=, rows = rows, cols = cols]<class T>(Call& c, T) {
      const int64_t n = rows * cols;
      const T *x = c.in<T>(n, -9, 9), *dy = c.in<T>(n);
      T* y = c.out<T>(n);
      kernel::softmax(y, x, rows, cols);
      kernel::softmax_grad(c.out<T>(n), dy, y, rows, cols);
      T* z = c.out<T>(n);
      kernel::log_softmax(z, x, rows, cols);
      kernel::log_softmax_grad(c.out<T>(n), dy, z, rows, cols);
      const int32_t* targets = c.ids(rows, cols);
      for (float smoothing : {0.0f, 0.1f}) {
        T* lse = c.out<T>(rows);
        kernel::cross_entropy({rows, cols, smoothing}, c.out<T>(rows), lse, x, targets);
        kernel::cross_entropy_grad({rows, cols, smoothing}, c.out<T>(n), c.in<T>(rows), x, lse,
                                   targets);
      }
    });
  }
}

TEST(Kernel, LayerNorm) {
  // Not 2 columns: the gradient is then nothing but rounding, whatever computes it.
  for (const auto& [rows, cols] :
       {std::pair<int64_t, int64_t>{1, 3}, {3, 7}, {5, 64}, {2, 65}, {70, 257}, {600, 1000}}) {
    SCOPED_TRACE(say(rows, " ", cols));
    check_against_twin([=, rows = rows, cols = cols]<class T>(Call& c, T) {
      const int64_t n = rows * cols;
      const T *x = c.in<T>(n, -1, 4), *gamma = c.in<T>(cols), *beta = c.in<T>(cols),
              *dy = c.in<T>(n);
      T *mean = c.out<T>(rows), *rstd = c.out<T>(rows);
      kernel::layer_norm(c.out<T>(n), mean, rstd, x, gamma, beta, rows, cols, T(1e-5));
      using To = kernel::NormGradient<T>;
      T *dx = c.out<T>(n), *sum = c.out<T>(n), *dgamma = c.out<T>(cols), *dbeta = c.out<T>(cols);
      kernel::layer_norm_grad(To{dx, false, dgamma, dbeta}, dy, x, gamma, mean, rstd, rows, cols);
      std::copy_n(dy, n, sum);
      kernel::layer_norm_grad(To{sum, true}, dy, x, gamma, mean, rstd, rows, cols);
      T *gamma_alone = c.out<T>(cols), *beta_alone = c.out<T>(cols);
      kernel::layer_norm_grad(To{nullptr, false, gamma_alone, beta_alone}, dy, x, gamma, mean, rstd,
                              rows, cols);
    });
  }
}

TEST(Kernel, RowsByNumber) {
  for (const auto& [count, cols] :
       {std::pair<int64_t, int64_t>{1, 1}, {5, 7}, {300, 65}, {2000, 257}}) {
    check_against_twin([=, count = count, cols = cols]<class T>(Call& c, T) {
      const int64_t rows = 11;
      const int32_t* ids = c.ids(count, rows);
      kernel::gather_rows(c.out<T>(count * cols), c.in<T>(rows * cols), ids, count, cols);
      kernel::scatter_add_rows(c.inout<T>(rows * cols), c.in<T>(count * cols), ids, count, cols);
    });
  }
}

TEST(Kernel, StridedCopy) {
  // A permutation, a column, a transposed plane and one with several chunks.
  const kernel::StridedCopy cases[] = {
      {3, {4, 3, 5}, {15, 5, 1}, {1, 20, 4}},
      {1, {17}, {1}, {3}},
      {2, {65, 33}, {33, 1}, {1, 65}},
      {2, {400, 300}, {300, 1}, {1, 400}},
      {4, {2, 9, 3, 8}, {216, 24, 8, 1}, {216, 8, 72, 1}},
  };
  for (const auto& how : cases) {
    int64_t n = 1, reach = 1;
    for (int i = 0; i < how.rank; ++i) {
      n *= how.dims[i];
      reach += (how.dims[i] - 1) * how.step_x[i];
    }
    const Tensor x = random_tensor({reach}, 1, -1, 1, Dtype::f32);
    Tensor fast = Tensor::full({n}, NAN), plain = Tensor::full({n}, NAN);
    kernel::strided_copy(how, fast.write().data(), x.read().data());
    naive::strided_copy(how, plain.write().data(), x.read().data());
    expect_same_bits(fast, plain);
  }
}

TEST(Kernel, DropoutHasTheBitsOfItsTwin) {
  for (int64_t n : {1, 7, 65, 1000, 100'003}) {
    const Tensor x = random_tensor({n}, 1, -1, 1, Dtype::f32);
    Tensor plain({n}), fast({n});
    naive::dropout(plain.write().data(), x.read().data(), n, 0.3, 0x1234567890abcdefULL);
    for (const std::string& target : kernel::simd_targets()) {
      kernel::use_simd_target(target);
      kernel::dropout(fast.write().data(), x.read().data(), n, 0.3, 0x1234567890abcdefULL);
      expect_same_bits(fast, plain);
    }
    kernel::use_simd_target("");
  }
}

TEST(Kernel, Dropped) {
  for (int64_t n : {1, 21, 320, 4355, 20000}) {
    for (const kernel::Drop& drop : {kernel::Drop{}, kernel::Drop{0.3, 0x1234567890abcdefULL}}) {
      check_against_twin([&]<class T>(Call& c, T) {
        const T *x = c.in<T>(n), *part = c.in<T>(n);
        kernel::add_dropped(c.out<T>(n), x, part, n, drop);
      });
      for (const auto f : {kernel::Unary::relu, kernel::Unary::gelu, kernel::Unary::gelu_tanh}) {
        check_against_twin([&]<class T>(Call& c, T) {
          const T* x = c.in<T>(n, -6, 6);
          T *y = c.out<T>(n), *slopes = c.out<T>(n);
          kernel::activate_dropped(f, y, slopes, x, n, drop);
          kernel::activate_dropped(f, c.out<T>(n), static_cast<T*>(nullptr), x, n, drop);
        });
      }
    }
  }
}

TEST(Simd, TheTargetThatIsForcedIsTheOneThatRuns) {
  const auto targets = kernel::simd_targets();
  ASSERT_FALSE(targets.empty());
  for (const std::string& target : targets) {
    kernel::use_simd_target(target);
    EXPECT_EQ(kernel::simd_target(), target);
  }
  kernel::use_simd_target("");
  EXPECT_EQ(kernel::simd_target(), targets.front()) << "the best one, unless one is forced";
  EXPECT_THROW(kernel::use_simd_target("avx9"), Error);
}

}  // namespace
}  // namespace fovea::test
