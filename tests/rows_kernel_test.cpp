// What the engine does not ask of the rows kernel's every call, against its plain twin in float64:
// alignments from outside, gradients that arrive at the weights, and no gradient of the output.
#include <gtest/gtest.h>

#include <array>

#include "fovea/base/parallel.h"
#include "fovea/base/random.h"
#include "fovea/kernel/naive/attention_rows.h"
#include "fovea/kernel/simd.h"
#include "support/row_aligns.h"

namespace fovea::kernel {
namespace {

using test::TopSoftmax;

struct Case {
  int64_t B = 2, H = 4, Hk = 2, Tq = 37, Tk = 45, D = 5, Dv = 6;
  ScoreMap map = ScoreMap::none;
  bool additive = false;
  RowAlign align = RowAlign::softmax;
  int64_t top = 0;  // given alignment: of the k highest
  bool ranges = false, mask = false, bias = false, dropout = false;
  bool with_dout = true, with_dweights = true;
};

std::vector<float> numbers(uint64_t stream, int64_t n) {
  std::vector<float> x(n);
  Random random(7, stream);
  for (float& value : x) value = static_cast<float>(2 * random.uniform() - 1);
  return x;
}

struct Problem {
  Case c;
  std::vector<float> q, k, v, w, bias, dout, dweights;
  std::vector<double> centers;
  std::vector<uint8_t> mask;
  std::vector<int32_t> lo, hi;
  TopSoftmax top;
  RowsInputs in;

  explicit Problem(const Case& of) : c(of), top{of.top} {
    q = numbers(1, c.B * c.Tq * c.H * c.D), k = numbers(2, c.B * c.Tk * c.Hk * c.D);
    v = numbers(3, c.B * c.Tk * c.Hk * c.Dv), w = numbers(4, c.D);
    dout = numbers(5, c.B * c.Tq * c.H * c.Dv);
    const int64_t pairs = c.B * c.H * c.Tq * c.Tk;
    dweights = numbers(6, pairs), bias = numbers(7, c.H * c.Tq * c.Tk);
    for (float x : numbers(8, c.B * c.H * c.Tq)) centers.push_back((x + 1) * 0.5 * c.Tk);
    for (float x : numbers(9, c.B * c.Tq * c.Tk)) mask.push_back(x > -0.3f);
    std::fill_n(mask.begin() + 2 * c.Tk, c.Tk, 0);  // a query that may attend nothing
    for (int64_t i = 0; i < c.Tq; ++i) {
      lo.push_back(static_cast<int32_t>(i / 2));
      hi.push_back(static_cast<int32_t>(i == 5 ? 0 : std::min(i / 2 + 9, c.Tk)));
    }
    HeadInputs<float>& base = in.base;
    base.B = c.B, base.H = c.H, base.Hk = c.Hk, base.Tq = c.Tq, base.Tk = c.Tk;
    base.D = c.D, base.Dv = c.Dv, base.scale = 0.7f;
    base.q = {q.data(), c.Tq * c.H * c.D, c.H * c.D, c.D};
    base.k = {k.data(), c.Tk * c.Hk * c.D, c.Hk * c.D, c.D};
    base.v = {v.data(), c.Tk * c.Hk * c.Dv, c.Hk * c.Dv, c.Dv};
    if (c.ranges) base.ranges = {lo.data(), hi.data(), 0, 0};
    if (c.mask) base.mask = {mask.data(), c.Tq * c.Tk, c.Tk, 0};
    if (c.bias) base.bias = {bias.data(), 0, c.Tk, c.Tq * c.Tk};
    if (c.dropout) base.dropout = {0.3f, 99};
    in.map = c.map;
    if (c.additive) in.w = w.data();
    in.align = c.align;
    in.centers = {centers.data(), c.H * c.Tq, 1, c.Tq};
    in.sigma = 2.5f;
    if (c.align == RowAlign::given) in.given = top.given();
  }

  // In the order of RowsTwin: out, weights, dq, dk, dv, dbias, dw, dp.
  std::array<std::vector<double>, 8> run() const {
    const int64_t rows = c.B * c.H * c.Tq;
    std::vector<float> out(dout.size()), weights(rows * c.Tk), dq(q.size()), dk(k.size()),
        dv(v.size()), dbias(bias.size()), dw(c.D);
    std::vector<double> dp(rows);
    attention_rows_forward(in, {out.data(), c.Tq * c.H * c.Dv, c.H * c.Dv, c.Dv});
    std::vector<int32_t> every(c.Tq);
    for (int32_t i = 0; i < static_cast<int32_t>(c.Tq); ++i) every[i] = i;
    attention_rows_weights(in, every.data(), c.Tq, weights.data());
    RowsGradients to;
    to.base.dq = {dq.data(), c.Tq * c.H * c.D, c.H * c.D, c.D};
    to.base.dk = {dk.data(), c.Tk * c.Hk * c.D, c.Hk * c.D, c.D};
    to.base.dv = {dv.data(), c.Tk * c.Hk * c.Dv, c.Hk * c.Dv, c.Dv};
    if (c.bias) to.base.dbias = {dbias.data(), 0, c.Tk, c.Tq * c.Tk};
    if (c.additive) to.dw = dw.data();
    if (c.align == RowAlign::local) to.dcenters = {dp.data(), c.H * c.Tq, 1, c.Tq};
    HeadView<const float> go, gw;
    if (c.with_dout) go = {dout.data(), c.Tq * c.H * c.Dv, c.H * c.Dv, c.Dv};
    if (c.with_dweights) gw = {dweights.data(), c.H * c.Tq * c.Tk, c.Tk, c.Tq * c.Tk};
    attention_rows_backward(in, go, to, gw);
    auto wide = [](const std::vector<float>& x) { return std::vector<double>(x.begin(), x.end()); };
    return {wide(out), wide(weights), wide(dq), wide(dk), wide(dv), wide(dbias), wide(dw), dp};
  }

  std::array<std::vector<double>, 8> exact() const {
    auto twin = naive::attention_rows<double>(
        in, c.with_dout ? dout.data() : nullptr, c.with_dweights ? dweights.data() : nullptr,
        c.align == RowAlign::given ? top.twin() : naive::RowAlignment<double>());
    std::vector<double> dbias(bias.size(), 0.0);
    for (size_t x = 0; x < twin.dbias.size() && c.bias; ++x) {
      dbias[x % bias.size()] += twin.dbias[x];
    }
    if (!c.additive) twin.dw.assign(c.D, 0.0);
    if (c.align != RowAlign::local) twin.dp.assign(twin.dp.size(), 0.0);
    return {twin.out, twin.weights, twin.dq, twin.dk, twin.dv, dbias, twin.dw, twin.dp};
  }
};

void expect_close(const std::array<std::vector<double>, 8>& fast,
                  const std::array<std::vector<double>, 8>& exact, double tolerance) {
  const char* names[] = {"out", "weights", "dq", "dk", "dv", "dbias", "dw", "dcenters"};
  for (size_t i = 0; i < fast.size(); ++i) {
    ASSERT_EQ(fast[i].size(), exact[i].size());
    double worst = 0, largest = 0.1;
    for (size_t x = 0; x < fast[i].size(); ++x) {
      const double off = std::abs(fast[i][x] - exact[i][x]);
      worst = off <= worst ? worst : off;  // so that NaN is the worst
      largest = std::max(largest, std::abs(exact[i][x]));
    }
    EXPECT_LE(worst, tolerance * largest) << names[i];
  }
}

void check_case(const Case& c) {
  SCOPED_TRACE(::testing::Message()
               << "map " << static_cast<int>(c.map) << " additive " << c.additive << " align "
               << static_cast<int>(c.align) << " top " << c.top << " ranges " << c.ranges
               << " mask " << c.mask << " bias " << c.bias << " dropout " << c.dropout << " dout "
               << c.with_dout << " dweights " << c.with_dweights);
  const Problem problem(c);
  expect_close(problem.run(), problem.exact(), 1e-5);
}

template <class F>
void each_score(Case c, const F& f) {
  for (auto [map, additive] : {std::pair(ScoreMap::none, false),
                               {ScoreMap::leaky_relu, false},
                               {ScoreMap::tanh, true},
                               {ScoreMap::leaky_relu, true},
                               {ScoreMap::distance, false}}) {
    c.map = map, c.additive = additive;
    f(c);
  }
}

template <class F>
void each_align(Case c, const F& f) {
  for (auto [align, top] : {std::pair(RowAlign::softmax, 0),
                            {RowAlign::sigmoid, 0},
                            {RowAlign::entmax, 0},
                            {RowAlign::local, 0},
                            {RowAlign::given, 0},
                            {RowAlign::given, 4}}) {
    c.align = align, c.top = top;
    f(c);
  }
}

TEST(RowsKernel, WeightsHaveGradientsUnderEveryScoreAlignmentAndPattern) {
  each_score({}, [](const Case& scored) {
    each_align(scored, [](Case c) {
      for (int what = 0; what < 8; ++what) {
        c.ranges = what & 1, c.mask = what & 2, c.bias = what & 4;
        c.dropout = what == 0 || what == 7;
        check_case(c);
      }
    });
  });
}

TEST(RowsKernel, WithoutAGradientOfTheOutputTheWeightsAloneCount) {
  each_score({.mask = true, .bias = true, .with_dout = false}, [](const Case& scored) {
    each_align(scored, [](Case c) {
      check_case(c);
      c.dropout = true;  // which the weights before it know nothing of
      check_case(c);
    });
  });
}

TEST(RowsKernel, EveryInstructionSetAndNumberOfThreads) {
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    SCOPED_TRACE(target);
    each_score({.Tq = 70, .Tk = 130, .bias = true, .dropout = true}, [](const Case& scored) {
      each_align(scored, [](const Case& c) {
        set_threads(1);
        const Problem problem(c);
        const auto first = problem.run();
        expect_close(first, problem.exact(), 1e-5);
        for (int count : {2, 4}) {
          set_threads(count);
          EXPECT_EQ(problem.run(), first) << count << " threads";
        }
      });
    });
  }
  use_simd_target("");
  set_threads(2);
}

TEST(RowsKernel, ASoftmaxFromOutsideIsTheBuiltInOne) {
  Case c{.mask = true, .bias = true, .dropout = true};
  const auto built_in = Problem(c).run();
  c.align = RowAlign::given;
  expect_close(Problem(c).run(), built_in, 1e-6);
}

TEST(RowsKernel, AnyNumberOfHeaviestKeysAndNoMap) {
  const Case c{.Tk = 45, .mask = true};
  const Problem problem(c);
  const auto exact = problem.exact();
  const int64_t rows = c.B * c.H * c.Tq, top = 80;
  std::vector<float> out(problem.dout.size()), weights(rows * top, NAN);
  std::vector<int32_t> keys(rows * top, -7), alone(keys);
  AttentionSummary<float> summary{
      .top = top, .top_keys = keys.data(), .top_weights = weights.data(), .map_rows = 0};
  float nothing = 0;
  summary.map = &nothing;
  const HeadView<float> to{out.data(), c.Tq * c.H * c.Dv, c.H * c.Dv, c.Dv};
  attention_rows_forward(problem.in, to, nullptr, &summary);
  summary.top_keys = alone.data(), summary.top_weights = nullptr;
  attention_rows_forward(problem.in, to, nullptr, &summary);
  EXPECT_EQ(keys, alone);
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<double> a(exact[1].begin() + row * c.Tk, exact[1].begin() + (row + 1) * c.Tk);
    std::sort(a.begin(), a.end(), std::greater<double>());
    for (int64_t t = 0; t < top; ++t) {
      const double wanted = t < c.Tk ? a[t] : 0;
      ASSERT_NEAR(weights[row * top + t], wanted, 1e-6);
      ASSERT_EQ(keys[row * top + t] >= 0, wanted > 0);
    }
  }
}

TEST(RowsKernel, AlignmentsFromOutsideAreSummarised) {
  const Case c{.align = RowAlign::given, .top = 3, .mask = true};
  const Problem problem(c);
  const auto exact = problem.exact();
  const int64_t rows = c.B * c.H * c.Tq, top = 5;
  std::vector<float> out(problem.dout.size()), weights(rows * top), entropy(rows);
  std::vector<int32_t> keys(rows * top);
  AttentionSummary<float> summary{.top = top,
                                  .top_keys = keys.data(),
                                  .top_weights = weights.data(),
                                  .entropy = entropy.data()};
  attention_rows_forward(problem.in, {out.data(), c.Tq * c.H * c.Dv, c.H * c.Dv, c.Dv}, nullptr,
                         &summary);
  for (int64_t row = 0; row < rows; ++row) {
    const double* a = exact[1].data() + row * c.Tk;
    double sum = 0;
    for (int64_t j = 0; j < c.Tk; ++j) sum -= a[j] > 0 ? a[j] * std::log(a[j]) : 0;
    ASSERT_NEAR(entropy[row], sum, 1e-5);
    for (int64_t t = 0; t < top; ++t) {
      const int32_t key = keys[row * top + t];
      ASSERT_EQ(key >= 0, t < 3 && sum > 0);
      ASSERT_NEAR(weights[row * top + t], key >= 0 ? a[key] : 0, 1e-5);
    }
  }
}

}  // namespace
}  // namespace fovea::kernel
