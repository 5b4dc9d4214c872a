// Fused attention against its plain twin in float64, at sizes around every block boundary, for
// every option and every instruction set the machine has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/base/random.h"
#include "fovea/kernel/attention.h"
#include "fovea/kernel/naive/attention.h"
#include "fovea/kernel/simd.h"

namespace fovea::kernel {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// Which heads, queries and batches a bias of its own belongs to.
enum class BiasKind { none, full, over_heads, over_batch, over_all, over_queries };

struct Case {
  int64_t B = 1, H = 2, Hk = 2, Tq = 7, Tk = 7, D = 8, Dv = 8;
  float spread = 1;  // of the queries: large ones make sharp weights
  Align align = Align::softmax;
  float dropout = 0;
  BiasKind bias = BiasKind::none;
  bool bias_gradient = true, bias_infinite = false;
  bool mask = false;
  // Sets [lo, hi) of query i; nothing: every key.
  std::function<void(int64_t b, int64_t i, int32_t& lo, int32_t& hi)> range = nullptr;
};

template <class T>
struct Problem {
  std::vector<T> q, k, v, dout, bias;
  std::vector<T> out, lse, dq, dk, dv, dbias;
  std::vector<uint8_t> mask;
  std::vector<int32_t> lo, hi;
  HeadInputs<T> in;
  AttentionGradients<T> to;
  HeadView<T> out_view, dout_view;
};

std::vector<float> normal(Random random, int64_t n, float spread) {
  std::vector<float> x(n);
  for (float& value : x) value = spread * static_cast<float>(random.normal());
  return x;
}

template <class T>
HeadView<T> view(T* data, int64_t t, int64_t h, int64_t d) {
  return {data, t * h * d, h * d, d};
}

template <class T>
Problem<T> make(const Case& c) {
  Problem<T> p;
  const Random random(7);
  const auto fill = [&](const char* name, int64_t n, float spread) {
    const std::vector<float> x = normal(random.fork(name), n, spread);
    return std::vector<T>(x.begin(), x.end());
  };
  p.q = fill("q", c.B * c.Tq * c.H * c.D, c.spread);
  p.k = fill("k", c.B * c.Tk * c.Hk * c.D, 1);
  p.v = fill("v", c.B * c.Tk * c.Hk * c.Dv, 1);
  p.dout = fill("dout", c.B * c.Tq * c.H * c.Dv, 1);
  p.out.assign(p.dout.size(), T(NAN));  // what a kernel forgets to write is seen
  p.lse.assign(c.B * c.H * c.Tq, T(NAN));
  p.dq.assign(p.q.size(), T(NAN));
  p.dk.assign(p.k.size(), T(NAN));
  p.dv.assign(p.v.size(), T(NAN));
  auto& in = p.in;
  in.B = c.B, in.H = c.H, in.Hk = c.Hk, in.Tq = c.Tq, in.Tk = c.Tk, in.D = c.D, in.Dv = c.Dv;
  in.scale = 1 / std::sqrt(static_cast<float>(c.D));
  in.q = view<const T>(p.q.data(), c.Tq, c.H, c.D);
  in.k = view<const T>(p.k.data(), c.Tk, c.Hk, c.D);
  in.v = view<const T>(p.v.data(), c.Tk, c.Hk, c.Dv);
  in.align = c.align;
  in.dropout = {c.dropout, 11};
  p.out_view = view(p.out.data(), c.Tq, c.H, c.Dv);
  p.dout_view = view(p.dout.data(), c.Tq, c.H, c.Dv);
  p.to.dq = view(p.dq.data(), c.Tq, c.H, c.D);
  p.to.dk = view(p.dk.data(), c.Tk, c.Hk, c.D);
  p.to.dv = view(p.dv.data(), c.Tk, c.Hk, c.Dv);
  if (c.bias != BiasKind::none) {
    const int64_t rows = c.bias == BiasKind::over_queries ? 1 : c.Tq;
    const bool heads = c.bias == BiasKind::full || c.bias == BiasKind::over_batch;
    const bool batch = c.bias == BiasKind::full || c.bias == BiasKind::over_heads ||
                       c.bias == BiasKind::over_queries;
    const int64_t one = rows * c.Tk, all = (heads ? c.H : 1) * one;
    p.bias = fill("bias", (batch ? c.B : 1) * all, 1);
    if (c.bias_infinite) {
      Random draw = random.fork("infinite");
      for (T& x : p.bias) x = draw.uniform() < 0.3f ? -T(infinity) : x;
    }
    p.dbias.assign(p.bias.size(), T(NAN));
    in.bias = {p.bias.data(), batch ? all : 0, rows == 1 ? 0 : c.Tk, heads ? one : 0};
    if (c.bias_gradient) p.to.dbias = {p.dbias.data(), in.bias.batch, in.bias.row, in.bias.head};
  }
  if (c.mask) {
    Random draw = random.fork("mask");
    p.mask.resize(c.B * c.Tq * c.Tk);
    for (auto& x : p.mask) x = draw.uniform() < 0.6f;
    std::fill_n(p.mask.begin() + (c.Tq / 2) * c.Tk, c.Tk, 0);  // a query that sees nothing
    in.mask = {p.mask.data(), c.Tq * c.Tk, c.Tk, 0};
  }
  if (c.range) {
    p.lo.resize(c.B * c.Tq);
    p.hi.resize(c.B * c.Tq);
    for (int64_t b = 0; b < c.B; ++b) {
      for (int64_t i = 0; i < c.Tq; ++i) {
        p.lo[b * c.Tq + i] = 0;
        p.hi[b * c.Tq + i] = static_cast<int32_t>(c.Tk);
        c.range(b, i, p.lo[b * c.Tq + i], p.hi[b * c.Tq + i]);
      }
    }
    in.ranges = {p.lo.data(), p.hi.data(), c.Tq, 0};
  }
  return p;
}

template <class T>
HeadView<const T> read(const HeadView<T>& view) {
  return {view.data, view.batch, view.row, view.head};
}

void run_fused(Problem<float>& p) {
  attention_forward(p.in, p.out_view, p.lse.data());
  attention_backward(p.in, read(p.out_view), read(p.dout_view), p.lse.data(), p.to);
}

void run_plain(Problem<double>& p) {
  naive::attention_forward(p.in, p.out_view, p.lse.data());
  naive::attention_backward(p.in, read(p.out_view), read(p.dout_view), p.lse.data(), p.to);
}

// The largest difference, relative to the largest value there is; equal infinities count as equal.
// `least` counts where all is cancelled: with one key, every score's gradient is 0.
double distance(const std::vector<float>& x, const std::vector<double>& y, double least = 0.1) {
  double most = 0, size = least;
  for (size_t i = 0; i < x.size(); ++i) {
    if (static_cast<double>(x[i]) == y[i]) continue;
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) return infinity;
    most = std::max(most, std::abs(x[i] - y[i]));
    size = std::max(size, std::abs(y[i]));
  }
  return most / size;
}

void expect_agreement(const Case& c, const std::string& what) {
  Problem<double> plain = make<double>(c);
  plain.in.scale = make<float>(c).in.scale;
  run_plain(plain);
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    SCOPED_TRACE(what + " B" + std::to_string(c.B) + " H" + std::to_string(c.H) + "/" +
                 std::to_string(c.Hk) + " Tq" + std::to_string(c.Tq) + " Tk" +
                 std::to_string(c.Tk) + " D" + std::to_string(c.D) + "/" + std::to_string(c.Dv) +
                 " on " + target);
    Problem<float> fused = make<float>(c);
    run_fused(fused);
    constexpr double bar = 1e-5;
    const double least = c.Tk <= 2 ? 1 : 0.1;  // the inputs have size 1
    EXPECT_LE(distance(fused.out, plain.out), bar) << "out";
    if (c.align == Align::softmax) {
      EXPECT_LE(distance(fused.lse, plain.lse), bar) << "lse";
    }
    EXPECT_LE(distance(fused.dq, plain.dq, least), bar) << "dq";
    EXPECT_LE(distance(fused.dk, plain.dk, least), bar) << "dk";
    EXPECT_LE(distance(fused.dv, plain.dv), bar) << "dv";
    if (plain.to.dbias) {
      EXPECT_LE(distance(fused.dbias, plain.dbias, least), bar) << "dbias";
    }
  }
  use_simd_target("");
}

void causal(int64_t, int64_t i, int32_t&, int32_t& hi) {
  hi = std::min(hi, static_cast<int32_t>(i + 1));
}

const std::vector<int64_t> sizes = {1, 2, 7, 64, 65, 257};

TEST(AttentionKernel, PlainSoftmaxAtEverySize) {
  for (int64_t n : sizes) {
    expect_agreement({.Tq = n, .Tk = n, .D = 64, .Dv = 64}, "softmax");
    expect_agreement({.Tq = n, .Tk = n, .D = 64, .Dv = 64, .range = causal}, "causal");
  }
  expect_agreement({.H = 1, .Hk = 1, .Tq = 1000, .Tk = 1000, .D = 64, .Dv = 64}, "softmax");
  expect_agreement({.H = 1, .Hk = 1, .Tq = 1000, .Tk = 1000, .D = 64, .Dv = 64, .range = causal},
                   "causal");
}

TEST(AttentionKernel, AnyFeatureSizes) {
  for (int64_t d : {1, 3, 8, 17, 40, 100}) {
    for (int64_t dv : {1, 5, 16, 33}) {
      expect_agreement({.Tq = 65, .Tk = 19, .D = d, .Dv = dv, .range = causal}, "features");
      expect_agreement({.Tq = 7, .Tk = 70, .D = d, .Dv = dv}, "features");
    }
  }
}

TEST(AttentionKernel, FewerKeysOrQueries) {
  for (int64_t tq : sizes) {
    for (int64_t tk : sizes) expect_agreement({.Tq = tq, .Tk = tk, .D = 16, .Dv = 24}, "uneven");
  }
  // Enough queries for many ranges of them, too few keys for as many.
  expect_agreement({.H = 1, .Hk = 1, .Tq = 2500, .Tk = 1000, .D = 4, .Dv = 4}, "uneven");
  expect_agreement({.H = 1, .Hk = 1, .Tq = 600, .Tk = 2500, .D = 4, .Dv = 4}, "uneven");
}

TEST(AttentionKernel, SharedKeyHeads) {
  for (int64_t n : {7, 65, 400}) {
    expect_agreement({.B = 2, .H = 6, .Hk = 2, .Tq = n, .Tk = n}, "grouped");
    expect_agreement({.B = 1, .H = 4, .Hk = 1, .Tq = n, .Tk = n + 3, .range = causal}, "grouped");
  }
}

TEST(AttentionKernel, RangesOfEveryForm) {
  for (int64_t n : sizes) {
    const auto last = static_cast<int32_t>(n);
    Case c{.B = 2, .Tq = n, .Tk = n, .D = 16, .Dv = 16};
    c.range = [](int64_t, int64_t i, int32_t& lo, int32_t& hi) {
      lo = std::max<int32_t>(0, static_cast<int32_t>(i) - 20);
      hi = std::min<int32_t>(hi, static_cast<int32_t>(i) + 3);
    };
    expect_agreement(c, "window");
    c.range = [last](int64_t b, int64_t, int32_t&, int32_t& hi) { hi = b ? last / 2 : last; };
    expect_agreement(c, "lengths");
    c.range = [last](int64_t, int64_t i, int32_t& lo, int32_t& hi) {
      lo = static_cast<int32_t>(i) / 23 * 23;
      hi = std::min(last, lo + 23);
    };
    expect_agreement(c, "packed");
    c.range = [](int64_t, int64_t i, int32_t& lo, int32_t& hi) {
      if (i % 3 == 1) lo = hi = 2;
    };
    expect_agreement(c, "some see nothing");
    c.range = [](int64_t, int64_t, int32_t& lo, int32_t& hi) { lo = hi = 0; };
    expect_agreement(c, "none sees anything");
    c.range = [](int64_t b, int64_t i, int32_t& lo, int32_t& hi) {
      const uint64_t x = (i * 2654435761u + b * 97) % 1000;
      lo = static_cast<int32_t>(x) * hi / 1500;
      hi = lo + (hi - lo) * static_cast<int32_t>(x % 7) / 6;
    };
    expect_agreement(c, "scattered");
  }
}

TEST(AttentionKernel, BooleanMask) {
  for (int64_t n : sizes) {
    expect_agreement({.B = 2, .Tq = n, .Tk = n, .mask = true}, "mask");
    expect_agreement({.B = 2, .Tq = n, .Tk = n, .mask = true, .range = causal}, "mask and causal");
  }
}

TEST(AttentionKernel, BiasAndItsGradient) {
  for (int64_t n : sizes) {
    for (BiasKind kind : {BiasKind::full, BiasKind::over_heads, BiasKind::over_batch,
                          BiasKind::over_all, BiasKind::over_queries}) {
      Case c{.B = 2, .Tq = n, .Tk = n + 1, .bias = kind};
      expect_agreement(c, "bias");
      c.range = causal;
      expect_agreement(c, "bias and causal");
      c.bias_infinite = true;
      c.mask = true;
      expect_agreement(c, "bias with -inf, mask and causal");
    }
  }
  expect_agreement({.B = 3, .H = 4, .Hk = 2, .Tq = 450, .Tk = 410, .bias = BiasKind::over_all},
                   "bias over all");
}

TEST(AttentionKernel, DropoutUsesTheSameMaskBothWays) {
  for (int64_t n : sizes) {
    expect_agreement({.B = 2, .Tq = n, .Tk = n, .dropout = 0.1f}, "dropout");
    expect_agreement({.B = 2,
                      .Tq = n,
                      .Tk = n,
                      .dropout = 0.5f,
                      .bias = BiasKind::full,
                      .mask = true,
                      .range = causal},
                     "dropout with everything");
  }
}

TEST(AttentionKernel, DropoutDropsTheShareItIsTold) {
  int64_t dropped = 0, pairs = 0;
  const int64_t n = 1000;
  for (int64_t i = 0; i < n; ++i) {
    bool before = false;
    for (int64_t j = 0; j < n; ++j) {
      const bool now = dropout_bits(dropout_row_key(3, 5, i), j) < dropout_threshold(0.1f);
      dropped += now;
      pairs += now && before;
      before = now;
    }
  }
  EXPECT_NEAR(static_cast<double>(dropped) / (n * n), 0.1, 0.002);
  EXPECT_NEAR(static_cast<double>(pairs) / (n * n), 0.01, 0.0006);  // neighbours are independent
}

TEST(AttentionKernel, SigmoidAlignment) {
  for (int64_t n : sizes) {
    expect_agreement({.Tq = n, .Tk = n, .align = Align::sigmoid}, "sigmoid");
    expect_agreement({.B = 2,
                      .Tq = n,
                      .Tk = n,
                      .align = Align::sigmoid,
                      .dropout = 0.2f,
                      .bias = BiasKind::over_batch,
                      .mask = true,
                      .range = causal},
                     "sigmoid with everything");
  }
}

TEST(AttentionKernel, SharpWeights) {
  for (int64_t n : {64, 257}) {
    Case c{.Tq = n, .Tk = n, .D = 32, .Dv = 32, .spread = 8};
    Problem<double> plain = make<double>(c);
    plain.in.scale = make<float>(c).in.scale;
    run_plain(plain);
    Problem<float> fused = make<float>(c);
    run_fused(fused);
    EXPECT_LE(distance(fused.out, plain.out), 2e-5);
    EXPECT_LE(distance(fused.dq, plain.dq), 4e-5);
    EXPECT_LE(distance(fused.dk, plain.dk), 4e-5);
  }
}

TEST(AttentionKernel, WhatLiesPastTheKeysMayBeAnything) {
  Case c{.B = 1, .Tq = 70, .Tk = 90, .D = 16, .Dv = 16};
  c.range = [](int64_t, int64_t, int32_t&, int32_t& hi) { hi = 53; };
  Problem<float> clean = make<float>(c), dirty = make<float>(c);
  for (size_t i = 53 * 2 * 16; i < dirty.k.size(); ++i) dirty.k[i] = dirty.v[i] = NAN;
  run_fused(clean);
  run_fused(dirty);
  EXPECT_EQ(clean.out, dirty.out);
  EXPECT_EQ(clean.dq, dirty.dq);
  EXPECT_EQ(clean.dk, dirty.dk);
  EXPECT_EQ(clean.dv, dirty.dv);
}

TEST(AttentionKernel, NanIsNotHidden) {
  Problem<float> p = make<float>({.H = 1, .Hk = 1, .Tq = 20, .Tk = 20});
  p.q[3 * 8 + 1] = NAN;
  run_fused(p);
  EXPECT_TRUE(std::isnan(p.out[3 * 8]));
  EXPECT_FALSE(std::isnan(p.out[4 * 8]));
}

template <class T>
struct Summary {
  std::vector<int32_t> keys;
  std::vector<T> weights, entropy, map;
  AttentionSummary<T> to;
  Summary(const Case& c, int64_t top, int64_t rows, int64_t cols)
      : keys(c.B * c.H * c.Tq * top, -7),
        weights(keys.size(), T(NAN)),
        entropy(c.B * c.H * c.Tq, T(0)),
        map(c.B * c.H * rows * cols, T(NAN)) {
    to = {top, keys.data(), weights.data(), entropy.data(), rows, cols, map.data()};
  }
};

TEST(AttentionKernel, SummarySaysWhatTheWeightsAre) {
  for (int64_t n : {1, 2, 7, 64, 65, 257, 1000}) {
    for (int kind = 0; kind < 4; ++kind) {
      Case c{.B = 2, .Tq = n, .Tk = n + 3, .spread = 2};
      if (kind >= 1) c.range = causal;
      if (kind >= 2) c.mask = true, c.bias = BiasKind::full, c.dropout = 0.1f;
      if (kind == 3) c.align = Align::sigmoid;
      SCOPED_TRACE("n " + std::to_string(n) + " kind " + std::to_string(kind));
      const int64_t top = 5, rows = 13, cols = 9;
      Problem<double> plain = make<double>(c);
      plain.in.scale = make<float>(c).in.scale;
      Summary<double> wanted(c, top, rows, cols);
      naive::attention_forward(plain.in, plain.out_view, plain.lse.data(), &wanted.to);
      for (const std::string& target : simd_targets()) {
        use_simd_target(target);
        Problem<float> without = make<float>(c), with = make<float>(c);
        Summary<float> got(c, top, rows, cols);
        attention_forward(without.in, without.out_view, without.lse.data());
        attention_forward(with.in, with.out_view, with.lse.data(), &got.to);
        EXPECT_EQ(0, std::memcmp(without.out.data(), with.out.data(), with.out.size() * 4));
        EXPECT_LE(distance(got.weights, wanted.weights), 1e-5);
        EXPECT_LE(distance(got.entropy, wanted.entropy, 1), 1e-5);
        EXPECT_LE(distance(got.map, wanted.map), 1e-5);
        int64_t other = 0;  // only near ties may change places
        for (size_t i = 0; i < got.keys.size(); ++i) other += got.keys[i] != wanted.keys[i];
        EXPECT_LE(other, static_cast<int64_t>(got.keys.size() / 1000));
      }
      use_simd_target("");
    }
  }
}

TEST(AttentionKernel, ExactWeightsOfChosenRows) {
  for (Align align : {Align::softmax, Align::sigmoid}) {
    const Case c{.B = 2,
                 .Tq = 70,
                 .Tk = 90,
                 .align = align,
                 .bias = BiasKind::over_batch,
                 .mask = true,
                 .range = causal};
    Problem<double> plain = make<double>(c);
    plain.in.scale = make<float>(c).in.scale;
    const std::vector<int32_t> rows = {0, 35, 69};  // 35 sees nothing
    std::vector<double> wanted(rows.size() * c.Tk);
    naive::attention_weights<double>(plain.in, nullptr, 1, 1, rows.data(), 3, wanted.data());
    for (const std::string& target : simd_targets()) {
      use_simd_target(target);
      Problem<float> fused = make<float>(c);
      run_fused(fused);
      std::vector<float> got(wanted.size(), NAN);
      attention_weights(fused.in, fused.lse.data(), 1, 1, rows.data(), 3, got.data());
      EXPECT_LE(distance(got, wanted), 1e-5);
    }
    use_simd_target("");
  }
}

TEST(AttentionKernel, DecodingLongCaches) {
  for (int64_t queries : {1, 2}) {
    Case c{.B = 2, .H = 4, .Hk = 2, .Tq = queries, .Tk = 1500, .D = 24, .Dv = 20};
    expect_agreement(c, "decoding");
    c.range = [](int64_t b, int64_t i, int32_t& lo, int32_t& hi) {
      lo = static_cast<int32_t>(3 + b * 700);
      hi = static_cast<int32_t>(777 + 500 * i);
    };
    c.mask = true;
    c.bias = BiasKind::full;
    c.dropout = 0.3f;
    expect_agreement(c, "decoding with everything");
    c.align = Align::sigmoid;
    expect_agreement(c, "decoding with sigmoid");
  }
}

TEST(AttentionKernel, SameBitsWithAnyNumberOfThreads) {
  const int before = threads();
  for (int64_t n : {65, 257, 1000}) {
    for (BiasKind kind : {BiasKind::none, BiasKind::over_all, BiasKind::over_queries}) {
      const Case c{.B = 2,
                   .H = 2,
                   .Hk = 1,
                   .Tq = n,
                   .Tk = n,
                   .dropout = 0.1f,
                   .bias = kind,
                   .range = causal};
      set_threads(1);
      Problem<float> one = make<float>(c);
      run_fused(one);
      for (int count : {2, 4}) {
        set_threads(count);
        Problem<float> many = make<float>(c);
        run_fused(many);
        EXPECT_EQ(one.out, many.out);
        EXPECT_EQ(one.lse, many.lse);
        EXPECT_EQ(one.dq, many.dq);
        EXPECT_EQ(one.dk, many.dk);
        EXPECT_EQ(one.dv, many.dv);
        EXPECT_EQ(one.dbias, many.dbias);
      }
    }
  }
  set_threads(before);
}

}  // namespace
}  // namespace fovea::kernel
