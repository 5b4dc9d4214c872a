// Matrix products against their plain twins: every form, sizes around every block, what they may
// touch, and products whose sums are float64.
#include "fovea/kernel/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "fovea/kernel/naive/precise.h"
#include "fovea/kernel/precise.h"
#include "support/guarded.h"
#include "support/twin.h"

namespace fovea::test {
namespace {

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

}  // namespace
}  // namespace fovea::test
