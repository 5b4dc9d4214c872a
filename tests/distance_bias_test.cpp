// A bias by distance: down the diagonals of the fused kernels it is what it is as a bias for every
// pair, which the plain twin adds up in float64.
#include <gtest/gtest.h>

#include "fovea/attention/align/entmax.h"
#include "fovea/attention/align/softmax.h"
#include "fovea/attention/engine.h"
#include "fovea/attention/position/alibi.h"
#include "fovea/attention/position/distance.h"
#include "fovea/attention/score/dot.h"
#include "fovea/base/parallel.h"
#include "fovea/op/tape.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

struct Case {
  int64_t B, H, Hk, Tq, Tk, reach, offset;
  bool shared_batch, shared_heads;
};

struct Result {
  Tensor y, dq, dk, dv, dr;
};

Result run(const Case& c, Dtype dtype, bool as_pairs, const Pattern& who, double dropout) {
  const auto input = [&](const Shape& shape, uint64_t seed) {
    return parameter(random_tensor(shape, seed).to(dtype));
  };
  const Tensor q = input({c.B, c.Tq, c.H, 8}, 1), k = input({c.B, c.Tk, c.Hk, 8}, 2);
  const Tensor v = input({c.B, c.Tk, c.Hk, 5}, 3);
  const Tensor r =
      input({c.shared_batch ? 1 : c.B, c.shared_heads ? 1 : c.H, 1, 2 * c.reach + 1}, 4);
  Random random(7);
  Tape tape(random);
  AttentionInputs in;
  in.q = q, in.k = k, in.v = v, in.who = who, in.dropout = dropout;
  if (as_pairs) {
    in.bias = by_distance(r, c.Tq, c.Tk, c.offset);
  } else {
    in.distances = r, in.offset = c.offset;
  }
  const Tensor y = attend(in, scaled_score(), softmax_alignment()).context;
  const Gradients g = tape.backward(y, random_tensor(y.shape(), 5).to(dtype));
  return {y, g[q], g[k], g[v], g[r]};
}

const std::vector<Case> cases{{1, 1, 1, 1, 1, 0, 0, true, true},
                              {2, 4, 2, 1, 65, 7, 64, true, false},  // a decoding step
                              {2, 2, 1, 7, 65, 3, 58, false, false},
                              {1, 3, 3, 65, 7, 100, 0, true, true},
                              {2, 2, 2, 257, 257, 31, 0, true, false},
                              {3, 1, 1, 130, 64, 200, -5, false, true}};

TEST(DistanceBias, DiagonalsGiveWhatPairsGive) {
  for (const Case& c : cases) {
    for (const bool looks_back : {false, true}) {
      for (const double dropout : {0.0, 0.3}) {
        const Pattern who = looks_back ? causal_lower_right() : Pattern();
        const Result a = run(c, Dtype::f32, false, who, dropout);
        const Result b = run(c, Dtype::f64, true, who, dropout);
        SCOPED_TRACE(say(c.Tq, " queries, ", c.Tk, " keys, causal ", looks_back, ", ", dropout));
        expect_close(a.y, b.y, 1e-5);
        expect_close(a.dq, b.dq, 1e-5);
        expect_close(a.dk, b.dk, 1e-5);
        expect_close(a.dv, b.dv, 1e-5);
        expect_close(a.dr, b.dr, 1e-5);
      }
    }
  }
}

TEST(DistanceBias, HasTheSameBitsWithAnyNumberOfThreads) {
  const int before = threads();
  for (const Case& c : cases) {
    set_threads(1);
    const Result one = run(c, Dtype::f32, false, {}, 0.1);
    for (int n : {2, 4}) {
      set_threads(n);
      const Result more = run(c, Dtype::f32, false, {}, 0.1);
      expect_same_bits(more.y, one.y);
      expect_same_bits(more.dk, one.dk);
      expect_same_bits(more.dr, one.dr);
    }
  }
  set_threads(before);
}

// With another bias beside it, or where the kernels decline, it becomes a bias for every pair.
TEST(DistanceBias, AddsToAnyOtherBiasAndToAnyScore) {
  const Tensor q = random_tensor({2, 9, 2, 4}, 1), k = random_tensor({2, 11, 2, 4}, 2);
  const Tensor more = random_tensor({1, 2, 9, 11}, 3), r = random_tensor({1, 2, 1, 13}, 4);
  for (const auto& align : {softmax_alignment(), sparsemax_alignment()}) {
    AttentionInputs in;
    in.q = q, in.k = k, in.v = k, in.bias = more, in.distances = r, in.offset = 2;
    const Tensor both = attend(in, scaled_score(), align).context;
    in.bias = more + by_distance(r, 9, 11, 2);
    in.distances = {};
    expect_close(both, attend(in, scaled_score(), align).context, 1e-6);
  }
}

TEST(DistanceBias, IsWhatThePlainTwinSays) {
  AttentionInputs in;
  in.q = random_tensor({2, 9, 2, 4}, 1), in.k = in.v = random_tensor({2, 11, 2, 4}, 2);
  in.distances = random_tensor({1, 2, 1, 13}, 4), in.offset = 2;
  expect_close(attend(in).context, attend_plain(in).context, 1e-6);
}

TEST(DistanceBias, SaysWhatDoesNotFit) {
  AttentionInputs in;
  in.q = in.k = in.v = random_tensor({2, 5, 2, 4}, 1);
  in.distances = random_tensor({1, 3, 1, 7}, 2);
  EXPECT_THROW(attend(in, scaled_score(), softmax_alignment()), Error);
  in.distances = random_tensor({1, 2, 1, 6}, 2);
  EXPECT_THROW(attend(in, scaled_score(), softmax_alignment()), Error);
}

}  // namespace
}  // namespace fovea::test
