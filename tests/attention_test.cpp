// The engine: every score with every alignment under every pattern, fused against plain, float32
// against float64, analytic against numeric gradients.
#include <gtest/gtest.h>

#include "fovea/base/parallel.h"
#include "fovea/op/shape.h"
#include "support/attention_cases.h"

namespace fovea::test {
namespace {

// Of contexts and, beside them, of weights.
TEST(Attention, EveryCombinationHasTheNumericGradient) {
  const Sizes z{2, 3, 4, 2, 1, 3, 2};
  each_case([&](auto& s, auto& a, auto& p, bool bias, bool dropout) {
    Trial setup(z, s, a, p, bias, dropout, Dtype::f64);
    std::vector<Tensor> values{setup.q, setup.k, setup.v};
    if (bias) values.push_back(setup.bias);
    const double error = gradient_error(
        [&](const std::vector<Tensor>& at) {
          setup.q = at[0], setup.k = at[1], setup.v = at[2];
          if (bias) setup.bias = at[3];
          const AttentionOutput out = setup.run(true, {.what = Capture::What::with_gradient});
          return concat({reshape(out.context, {-1}), reshape(out.weights.rows, {-1})}, 0);
        },
        values, setup.parameters, {.seed = 11});
    EXPECT_LT(error, 1e-4);
  });
}

TEST(Attention, Float32AgreesWithTheFloat64TwinAtAwkwardSizes) {
  for (const Sizes& z : {Sizes{1, 1, 1, 1, 1, 1, 1}, Sizes{2, 2, 7, 2, 1, 3, 5},
                         Sizes{1, 7, 2, 4, 2, 8, 3}, Sizes{2, 64, 65, 2, 2, 17, 16}}) {
    each_case([&](auto& s, auto& a, auto& p, bool bias, bool dropout) {
      const auto fast = Trial(z, s, a, p, bias, dropout, Dtype::f32).results(false);
      Trial setup(z, s, a, p, bias, dropout, Dtype::f64);
      const bool learned_place = setup.align.name == "local_p";
      // A learned place n sigmoid(x) is itself known to n 6e-8 only, and its gradient to less.
      const double tolerance = learned_place ? 3e-7 * static_cast<double>(z.Tk) : 1e-5;
      expect_agree(fast, setup.results(true), std::max(1e-5, tolerance));
    });
  }
}

TEST(Attention, ARowThatMayLookAtNothingIsZeroWithFiniteGradients) {
  const Sizes z{1, 3, 4, 2, 2, 4, 4};
  for (const auto& s : scores()) {
    for (const auto& a : alignments()) {
      for (bool plain : {false, true}) {
        Trial setup(z, s, a, {"", [](auto&) { return allow(Tensor::zeros({1}, Dtype::i32)); }},
                    true, true, Dtype::f32);
        for (const Tensor& result : setup.results(plain)) {
          for (float x : result.read()) ASSERT_EQ(x, 0) << s.name << " " << a.name;
        }
      }
    }
  }
}

TEST(Attention, CaptureDoesNotChangeABit) {
  const Sizes z{2, 70, 130, 4, 2, 16, 16};
  for (const auto& s : scores()) {
    Trial setup(z, s, alignments()[0], patterns()[3], true, false, Dtype::f32);
    const Tensor without = setup.run(false).context;
    for (auto what : {Capture::What::rows, Capture::What::summary}) {
      const AttentionOutput with = setup.run(false, {.what = what});
      expect_same_bits(with.context, without);
      const Weights exact = setup.run(true, {.what = what}).weights;
      if (what == Capture::What::rows) {
        expect_close(with.weights.rows, exact.rows);
      } else {
        expect_close(with.weights.entropy, exact.entropy);
        expect_close(with.weights.top_weights, exact.top_weights);
        expect_close(with.weights.map, exact.map);
      }
    }
  }
}

TEST(Attention, SameBitsWithAnyNumberOfThreads) {
  const Sizes z{2, 257, 300, 4, 2, 16, 16};
  for (const auto& s : scores()) {
    std::vector<Tensor> first;
    for (int count : {1, 2, 4}) {
      set_threads(count);
      const auto now =
          Trial(z, s, alignments()[0], patterns()[1], true, true, Dtype::f32).results(false);
      if (first.empty()) first = now;
      for (size_t i = 0; i < now.size(); ++i) expect_same_bits(now[i], first[i]);
    }
  }
  set_threads(2);
}

TEST(Entmax, HasTheGoldenValues) {
  // From the tests of deep-spin/entmax.
  const Tensor x = Tensor::of({1, 3}, {-2, 0, 0.5f});
  expect_close(sparsemax(x), Tensor::of({1, 3}, {0, 0.25f, 0.75f}), 1e-4);
  expect_close(entmax(x, 1.5), Tensor::of({1, 3}, {0, 0.3260f, 0.6740f}), 1e-4);
  expect_close(entmax(Tensor::of({2, 3}, {-1, 0, 0.5f, 1, 2, 3.5f}), 1.33),
               Tensor::of({2, 3}, {0.0460f, 0.3276f, 0.6264f, 0.0026f, 0.1012f, 0.8963f}), 1e-3);
}

TEST(Entmax, SortingAndHalvingAgree) {
  const Tensor z = random_tensor({20, 33}, 1, -2, 2);
  expect_close(entmax(z, 2), entmax(z, 2 - 1e-9), 1e-6);
  expect_close(entmax(z, 1.5), entmax(z, 1.5 + 1e-9), 1e-6);
}

TEST(Pattern, SaysWhoMayLookAtWhom) {
  const Extent e{1, 1, 3, 5};
  auto picture = [&](const Pattern& p) {
    const auto resolved = p.resolve(e);
    const ResolvedPattern& r = *resolved;
    std::string text;
    for (int64_t i = 0; i < e.Tq; ++i) {
      for (int64_t j = 0; j < e.Tk; ++j) text += r.allows(e, 0, 0, i, j) ? 'x' : '.';
      text += ' ';
    }
    return text;
  };
  EXPECT_EQ(picture({}), "xxxxx xxxxx xxxxx ");
  EXPECT_EQ(picture(causal_upper_left()), "x.... xx... xxx.. ");
  EXPECT_EQ(picture(causal_lower_right()), "xxx.. xxxx. xxxxx ");
  EXPECT_EQ(picture(window(1, 0)), "x.... xx... .xx.. ");
  EXPECT_EQ(picture(window_lower_right(1, -1)), ".xxxx ..xxx ...xx ");
  EXPECT_EQ(picture(strided(2)), "x.x.x .x.x. x.x.x ");
  EXPECT_EQ(picture(blocks(2)), "xx... xx... ..xx. ");
  EXPECT_EQ(picture(lengths(Tensor::ids({1}, {2}))), "xx... xx... xx... ");
  EXPECT_EQ(picture(packed(Tensor::ids({3}, {0, 1, 3}), Tensor::ids({3}, {0, 2, 5}))),
            "xx... ..xxx ..xxx ");
  EXPECT_EQ(picture(edges(Tensor::ids({2, 2}, {0, 4, 2, 1}))), "....x ..... .x... ");
  EXPECT_EQ(picture(causal_lower_right() & strided(2)), "x.x.. .x.x. x.x.x ");
  EXPECT_THROW(causal().resolve(e), Error)
      << "with other numbers of keys and queries it is ambiguous";
  EXPECT_THROW(lengths(Tensor::ids({1}, {6})).resolve(e), Error);
}

}  // namespace
}  // namespace fovea::test
