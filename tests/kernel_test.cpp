// Every SIMD kernel against its plain float64 twin: at awkward sizes, for every instruction set the
// machine has, and with the same bits for any number of threads.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "fovea/base/parallel.h"
#include "fovea/kernel/binary.h"
#include "fovea/kernel/dropout.h"
#include "fovea/kernel/dropped.h"
#include "fovea/kernel/gemm.h"
#include "fovea/kernel/index.h"
#include "fovea/kernel/naive/precise.h"
#include "fovea/kernel/norm.h"
#include "fovea/kernel/precise.h"
#include "fovea/kernel/reduce.h"
#include "fovea/kernel/simd.h"
#include "fovea/kernel/softmax.h"
#include "fovea/kernel/unary.h"
#include "support/gradient.h"
#include "support/guarded.h"

namespace fovea::test {
namespace {

// Buffers for one call, of the type that is being tried. Outputs start as NaN, so that an element
// left out cannot pass.
class Call {
 public:
  explicit Call(Dtype dtype) : dtype_(dtype) {}
  template <class T>
  const T* in(int64_t n, double low = -2, double high = 2) {
    const Tensor x = random_tensor({n}, ++seed_, low, high, Dtype::f32).to(dtype_);
    inputs_.push_back(x);
    return inputs_.back().read<T>().data();
  }
  const int32_t* ids(int64_t n, int64_t below) {
    inputs_.push_back(random_ids({n}, ++seed_, below));
    return inputs_.back().read<int32_t>().data();
  }
  template <class T>
  T* out(int64_t n) {
    outputs_.push_back(Tensor::full({n}, NAN, dtype_));
    return outputs_.back().write<T>().data();
  }
  // An output that also has a value before the call.
  template <class T>
  T* inout(int64_t n) {
    outputs_.push_back(random_tensor({n}, ++seed_, -2, 2, Dtype::f32).to(dtype_));
    return outputs_.back().write<T>().data();
  }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  Dtype dtype() const { return dtype_; }

 private:
  Dtype dtype_;
  uint64_t seed_ = 0;
  std::vector<Tensor> inputs_, outputs_;
};

// f is a generic lambda f(Call&, T{}) that makes buffers and runs the kernel on them.
template <class F>
void check_against_twin(const F& f, double tolerance = 1e-5) {
  Call exact(Dtype::f64);
  f(exact, double{});
  for (const std::string& target : kernel::simd_targets()) {
    kernel::use_simd_target(target);
    std::vector<Tensor> first;
    for (int count : {1, 2, 4}) {
      set_threads(count);
      Call fast(Dtype::f32);
      f(fast, float{});
      for (size_t i = 0; i < fast.outputs().size(); ++i) {
        if (first.size() <= i) {
          const double worst = relative_difference(fast.outputs()[i], exact.outputs()[i]);
          EXPECT_LE(worst, tolerance) << target << ", output " << i;
          first.push_back(fast.outputs()[i]);
        } else {
          expect_same_bits(fast.outputs()[i], first[i]);
        }
      }
    }
  }
  kernel::use_simd_target("");
  set_threads(2);
}

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

// What a product adds to: nothing, what is there, or a bias for every row.
enum class Onto { nothing, old, bias };

void check_gemm(int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, float alpha,
                float beta) {
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      for (Onto onto : {Onto::nothing, Onto::old, Onto::bias}) {
        SCOPED_TRACE(say(m, "x", n, "x", k, " ", ta, tb, " onto ", static_cast<int>(onto)));
        check_against_twin([=]<class T>(Call& c, T) {
          const kernel::Gemm g{.transpose_a = ta,
                               .transpose_b = tb,
                               .m = m,
                               .n = n,
                               .k = k,
                               .lda = std::max(lda, (ta ? m : k) + 3),
                               .ldb = std::max(ldb, (tb ? k : n) + 2),
                               .ldc = n,
                               .alpha = alpha,
                               .beta = onto == Onto::old ? beta : 0};
          // The last row ends where its elements do, not where another row would begin.
          const T* a = c.in<T>(g.lda * ((ta ? k : m) - 1) + (ta ? m : k));
          const T* b = c.in<T>(g.ldb * ((tb ? n : k) - 1) + (tb ? k : n));
          const T* bias = onto == Onto::bias ? c.in<T>(n) : nullptr;
          kernel::gemm(g, a, b, onto == Onto::old ? c.inout<T>(m * n) : c.out<T>(m * n), bias);
        });
      }
    }
  }
}

TEST(Kernel, Gemm) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                {1, 17, 9},
                                {1, 1000, 65},
                                {2, 3, 5},
                                {7, 7, 7},
                                {64, 64, 64},
                                {65, 63, 1},
                                {257, 31, 17},
                                {31, 300, 40},
                                {300, 257, 64},
                                {16, 1024, 256}}) {
    // Rows wider than what is multiplied, as a head of [B, T, H, D] has.
    check_gemm(m, n, k, 0, 0, 0.5f, 1);
  }
}

TEST(Kernel, GemmOfMoreThanOneBlock) {
  // Deeper than a block, with rows a power of two apart, cut by rows, columns and depth, and with
  // the few rows of a decoder's step.
  for (const auto& [m, n, k, ld] : {std::array<int64_t, 4>{512, 256, 70, 512},
                                    {65, 512, 3, 512},
                                    {256, 64, 129, 512},
                                    {70, 64, 1024, 1024},
                                    {5, 300, 1030, 1100},
                                    {130, 300, 513, 640},
                                    {260, 70, 1000, 1024}}) {
    check_gemm(m, n, k, ld, ld, 1, 0.5f);
  }
}

// Ends the program where it fails.
TEST(Kernel, GemmTouchesNothingPastItsMatrices) {
  for (const std::string& target : kernel::simd_targets()) {
    kernel::use_simd_target(target);
    for (int64_t m : {1, 3, 5, 6, 7, 9, 13, 65, 200}) {
      for (int64_t n : {1, 2, 7, 15, 17, 33, 65}) {
        for (int64_t k : {1, 3, 7, 9, 65}) {
          for (int which = 0; which < 4; ++which) {
            const bool ta = which & 1, tb = which & 2;
            const kernel::Gemm g{.transpose_a = ta,
                                 .transpose_b = tb,
                                 .m = m,
                                 .n = n,
                                 .k = k,
                                 .lda = ta ? m : k,
                                 .ldb = tb ? k : n,
                                 .ldc = n};
            const Guarded<> a(m * k), b(k * n), c(m * n), bias(n);
            kernel::gemm(g, a.data(), b.data(), c.data(), bias.data());
            EXPECT_FLOAT_EQ(c.data()[m * n - 1], 0.25f * static_cast<float>(k) + 0.5f);
            kernel::gemm_with_row_sums(g, a.data(), b.data(), c.data(), Guarded<>(m).data());
          }
        }
      }
    }
  }
  kernel::use_simd_target("");
}

TEST(Kernel, GemmWithoutDepthKeepsWhatItAddsTo) {
  for (int64_t m : {3, 300}) {
    std::vector<float> c(m * 5, 2), bias{1, 2, 3, 4, 5};
    kernel::Gemm g{.m = m, .n = 5, .k = 0, .lda = 1, .ldb = 5, .ldc = 5, .beta = 1};
    kernel::gemm(g, nullptr, nullptr, c.data());
    EXPECT_EQ(c, std::vector<float>(m * 5, 2));
    g.beta = 0;
    kernel::gemm(g, nullptr, nullptr, c.data(), bias.data());
    EXPECT_EQ(std::vector<float>(c.end() - 5, c.end()), bias);
  }
}

TEST(Kernel, GemmHandsOnEveryRowOnceItIsFinal) {
  for (const int64_t m : {1, 7, 192, 193, 1000}) {
    const int64_t n = 37, k = 600;  // more than one block of depth
    check_against_twin([=]<class T>(Call& c, T) {
      const T *a = c.in<T>(m * k), *b = c.in<T>(k * n);
      T* y = c.out<T>(m * n);
      auto twice = [=](int64_t begin, int64_t end) {
        for (int64_t i = begin * n; i < end * n; ++i) y[i] = 2 * y[i] + 1;
      };
      const ChunkBody then(twice);
      kernel::gemm({.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n}, a, b, y,
                   static_cast<const T*>(nullptr), &then);
    });
  }
}

TEST(Kernel, GemmGroupIsItsProductsOneAfterTheOther) {
  for (const int64_t m : {1, 7, 193, 500}) {
    check_against_twin([=]<class T>(Call& c, T) {
      // Two products of one A, then two that add up to one C.
      const T *a = c.in<T>(m * 40), *w1 = c.in<T>(33 * 40), *w2 = c.in<T>(7 * 40), *b = c.in<T>(33);
      T *y1 = c.out<T>(m * 33), *y2 = c.out<T>(m * 7), *dx = c.out<T>(m * 40);
      auto forward = [=](int64_t n, const T* w, T* y, const T* bias) -> kernel::GemmItem<T> {
        return {{.transpose_b = true, .m = m, .n = n, .k = 40, .lda = 40, .ldb = 40, .ldc = n},
                a,
                w,
                y,
                bias};
      };
      kernel::gemm_group(std::span<const kernel::GemmItem<T>>(
          std::array{forward(33, w1, y1, b), forward(7, w2, y2, nullptr)}));
      auto backward = [=](int64_t n, const T* w, const T* y, float beta) -> kernel::GemmItem<T> {
        return {{.m = m, .n = 40, .k = n, .lda = n, .ldb = 40, .ldc = 40, .beta = beta}, y, w, dx};
      };
      kernel::gemm_group(std::span<const kernel::GemmItem<T>>(
          std::array{backward(33, w1, y1, 0), backward(7, w2, y2, 1)}));
      // Gradients of weights, one with the sums of its rows.
      T *d1 = c.out<T>(33 * 40), *d2 = c.out<T>(7 * 40), *sums = c.out<T>(33);
      auto weight = [=](int64_t n, const T* y, T* d, T* sums) -> kernel::GemmItem<T> {
        return {{.transpose_a = true, .m = n, .n = 40, .k = m, .lda = n, .ldb = 40, .ldc = 40},
                y,
                a,
                d,
                nullptr,
                sums};
      };
      kernel::gemm_group(std::span<const kernel::GemmItem<T>>(
          std::array{weight(33, y1, d1, sums), weight(7, y2, d2, nullptr)}));
    });
  }
}

TEST(Kernel, GemmWithRowSums) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                {3, 5, 70},
                                {7, 64, 300},
                                {65, 1100, 33},
                                {256, 70, 9},
                                {128, 128, 1030}}) {
    for (bool ta : {true, false}) {
      SCOPED_TRACE(say(m, "x", n, "x", k, " ", ta));
      check_against_twin([=, m = m, n = n, k = k]<class T>(Call& c, T) {
        const T *a = c.in<T>(m * k), *b = c.in<T>(k * n);
        T* to = c.out<T>(m * n);
        kernel::gemm_with_row_sums(
            {.transpose_a = ta, .m = m, .n = n, .k = k, .lda = ta ? m : k, .ldb = n, .ldc = n}, a,
            b, to, c.out<T>(m));
      });
    }
  }
}

TEST(Kernel, GemmSerialIsTheSameProduct) {
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{3, 40, 30}, {32, 65, 64}, {200, 130, 300}, {300, 33, 600}}) {
    for (bool ta : {false, true}) {
      check_against_twin([=, m = m, n = n, k = k]<class T>(Call& c, T) {
        kernel::gemm_serial(
            {.transpose_a = ta, .m = m, .n = n, .k = k, .lda = ta ? m : k, .ldb = n, .ldc = n},
            c.in<T>(m * k), c.in<T>(k * n), c.out<T>(m * n));
      });
    }
  }
}

TEST(Kernel, PreciseLinearLosesNothingToFloat32) {
  for (const auto& [rows, out, in] :
       {std::array<int64_t, 3>{1, 1, 1}, {7, 3, 2}, {8, 5, 64}, {65, 17, 257}, {300, 64, 65}}) {
    const Tensor x = random_tensor({rows, in}, 1, -2, 2, Dtype::f32), wide_x = x.to(Dtype::f64);
    const Tensor w = random_tensor({out, in}, 2, -2, 2, Dtype::f32);
    const Tensor bias = random_tensor({out}, 3, -2, 2, Dtype::f32);
    Tensor exact({rows, out}, Dtype::f64);
    naive::precise_linear(exact.write<double>().data(), x.read().data(), w.read().data(),
                          bias.read().data(), rows, out, in);
    for (const std::string& target : kernel::simd_targets()) {
      kernel::use_simd_target(target);
      Tensor first;
      for (int count : {1, 2, 4}) {
        set_threads(count);
        Tensor y = Tensor::full({rows, out}, NAN, Dtype::f64),
               again = y.to(Dtype::f32).to(Dtype::f64);
        kernel::precise_linear(y.write<double>().data(), x.read().data(), w.read().data(),
                               bias.read().data(), rows, out, in);
        kernel::precise_linear(again.write<double>().data(), wide_x.read<double>().data(),
                               w.read().data(), bias.read().data(), rows, out, in);
        EXPECT_LE(relative_difference(y, exact), 1e-14) << target << " " << rows;
        expect_same_bits(again, y);
        if (first.empty()) first = y;
        expect_same_bits(y, first);
      }
    }
  }
  kernel::use_simd_target("");
  set_threads(2);
}

TEST(Kernel, GemmBatch) {
  for (const auto& [count, m, n, k] : {std::array<int64_t, 4>{1, 5, 6, 7},
                                       {9, 3, 4, 5},
                                       {33, 1, 7, 3},
                                       {4, 300, 70, 20},
                                       {2, 300, 300, 300}}) {
    check_against_twin([=, count = count, m = m, n = n, k = k]<class T>(Call& c, T) {
      std::vector<int64_t> at_a, at_b, at_c;
      for (int64_t i = 0; i < count; ++i) {
        at_a.push_back(i * m * k);
        at_b.push_back(0);  // one b for all
        at_c.push_back((count - 1 - i) * m * n);
      }
      kernel::gemm_batch({.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n},
                         {count, at_a.data(), at_b.data(), at_c.data()}, c.in<T>(count * m * k),
                         c.in<T>(k * n), c.out<T>(count * m * n));
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
