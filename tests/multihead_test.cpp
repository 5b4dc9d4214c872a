// Multi-head attention: against PyTorch, against numeric gradients, and decoded step by step.
#include "fovea/attention/multihead.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/align/entmax.h"
#include "fovea/attention/align/local.h"
#include "fovea/attention/align/softmax.h"
#include "fovea/attention/engine.h"
#include "fovea/attention/position/alibi.h"
#include "fovea/attention/position/rotary.h"
#include "fovea/attention/position/shaw.h"
#include "fovea/attention/position/t5.h"
#include "fovea/attention/score/additive.h"
#include "fovea/attention/score/general.h"
#include "fovea/attention/score/location.h"
#include "fovea/op/shape.h"
#include "support/golden.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

using Tensors = std::vector<Tensor>;

constexpr const char* projections[] = {"query", "key", "value", "out"};

TEST(Torch, MultiHeadAgreesForwardAndBackward) {
  Golden golden("attention.safetensors");
  auto agrees = [&](const std::string& name, int64_t width, int64_t d_memory, int64_t heads,
                    bool self, const Pattern& who = {}) {
    golden.check("mha " + name, [&](const Tensors& x) {
      Parameters table;
      const MultiHead layer(table, width, {.heads = heads, .d_memory = d_memory});
      std::vector<Parameter> biases;
      for (size_t i = 0; i < 4; ++i) {
        const std::string at = std::string(projections[i]);
        golden.hold(2 + i, x[2 + i], {table[at + "/weight"]});
        if (i < 3) biases.push_back(table[at + "/bias"]);
      }
      golden.hold(6, x[6], biases);
      golden.hold(7, x[7], {table["out/bias"]});
      return layer({.x = x[0], .memory = self ? Tensor() : x[1], .who = who & lengths(x[8])}).y;
    });
  };
  agrees("self", 12, 12, 3, true);
  agrees("causal", 12, 12, 3, true, causal());
  agrees("padding", 8, 8, 2, true);
  agrees("causal padding", 8, 8, 4, true, causal());
  agrees("cross", 8, 8, 2, false);
  agrees("cross padding", 10, 7, 2, false);
  EXPECT_EQ(golden.left("mha"), std::set<std::string>{});
}

TEST(Torch, ScaledDotProductAgreesForwardAndBackward) {
  Golden golden("attention.safetensors");
  using More = std::function<void(const Tensors&, AttentionInputs&)>;
  auto agrees = [&](const std::string& name, const More& more,
                    const Score& score = scaled_score()) {
    golden.check("sdpa " + name, [&](const Tensors& x) {
      AttentionInputs in{.q = x[0], .k = x[1], .v = x[2]};
      more(x, in);
      return attend(in, score).context;
    });
  };
  auto plain = [](const Tensors&, AttentionInputs&) {};
  auto upper_left = [](const Tensors&, AttentionInputs& in) { in.who = causal_upper_left(); };
  auto mask = [](const Tensors& x, AttentionInputs& in) { in.who = allow(x[3]); };
  auto bias = [](const Tensors& x, AttentionInputs& in) { in.bias = x[3]; };
  agrees("plain", plain);
  agrees("causal", upper_left);
  agrees("causal upper left", upper_left);
  agrees("bool mask", mask);
  agrees("bool mask broadcast", mask);
  agrees("float mask", bias);
  agrees("float mask broadcast", bias);
  agrees("grouped", plain);
  agrees("grouped causal", upper_left);
  agrees("scale", plain, [](const Tensor& q, const Tensor& k) { return ScoreForm{q, k, 0.3}; });
  EXPECT_EQ(golden.left("sdpa"), std::set<std::string>{});
}

struct Named {
  const char* name;
  MultiHeadOptions options;
};

// Everything that can be plugged into a layer 12 wide.
std::vector<Named> plugged() {
  const ScoreFactory additive = [](Scope s, int64_t q, int64_t k) {
    return additive_score(s, q, k, 5);
  };
  const ScoreFactory general = [](Scope s, int64_t q, int64_t k) { return general_score(s, q, k); };
  const ScoreFactory location = [](Scope s, int64_t q, int64_t) {
    return location_score(s, q, 40);
  };
  const AlignmentFactory entmax = [](Scope, int64_t) { return entmax_alignment(); };
  const AlignmentFactory gates = [](Scope, int64_t) { return sigmoid_alignment(); };
  const RotaryOptions halves{.pairs = RotaryOptions::Pairs::halves};
  return {
      {"plain", {.heads = 3}},
      {"one head, no bias", {.heads = 1, .bias = false}},
      {"grouped", {.heads = 4, .key_heads = 2}},
      {"one key head, own width", {.heads = 3, .key_heads = 1, .d_head = 6}},
      {"rotary", {.heads = 3, .positions = rotary_positions()}},
      {"rotary halves, grouped",
       {.heads = 6, .key_heads = 2, .positions = rotary_positions(halves)}},
      {"alibi", {.heads = 3, .positions = alibi_positions()}},
      {"t5", {.heads = 2, .positions = t5_positions({.buckets = 8, .longest = 6})}},
      {"t5 causal", {.heads = 2, .positions = t5_positions({.causal = true})}},
      {"shaw", {.heads = 3, .positions = shaw_positions(2)}},
      {"additive, entmax", {.heads = 2, .score = additive, .align = entmax}},
      {"general, sigmoid, alibi",
       {.heads = 3, .score = general, .align = gates, .positions = alibi_positions()}},
      {"location", {.heads = 3, .score = location}},
  };
}

TEST(MultiHead, GradientsReachInputsAndParameters) {
  const Tensor x = random_tensor({2, 4, 12}, 1), memory = random_tensor({2, 5, 12}, 2),
               bias = random_tensor({3, 1}, 3);
  for (const Named& plug : plugged()) {
    SCOPED_TRACE(plug.name);
    const auto self = [&](Scope s) {
      return [layer = MultiHead(s, 12, plug.options)](const Tensors& at) {
        return layer({.x = at[0], .who = causal()}).y;
      };
    };
    check_layer(self, {x});
    const auto cross = [&](Scope s) {
      return [layer = MultiHead(s, 12, plug.options)](const Tensors& at) {
        return layer({.x = at[0],
                      .memory = at[1],
                      .who = lengths(Tensor::ids({2}, {5, 0})),
                      .offset = 1})
            .y;
      };
    };
    check_layer(cross, {x, memory});
  }
  const auto biased = [](Scope s) {
    return [layer =
                MultiHead(s, 12, {.heads = 3, .positions = alibi_positions()})](const Tensors& at) {
      return layer(
                 {.x = at[0], .memory = at[1], .values = at[2], .bias = reshape(at[3], {3, 1, 1})})
          .y;
    };
  };
  check_layer(biased, {x, memory, random_tensor({2, 5, 12}, 4), bias});
}

TEST(MultiHead, FloatAgreesWithDoubleAtAwkwardSizes) {
  for (const Named& plug : plugged()) {
    for (const int64_t T : {1, 2, 7, 33}) {
      SCOPED_TRACE(say(plug.name, " ", T));
      check_float(
          [&](Scope s) {
            return [layer = MultiHead(s, 12, plug.options)](const Tensors& at) {
              return layer({.x = at[0], .who = causal()}).y;
            };
          },
          {random_tensor({3, T, 12}, 5)}, 2e-5);
    }
  }
}

// x in pieces of these sizes, one after the other.
Tensor in_steps(const MultiHead& layer, const Tensor& x, const std::vector<int64_t>& sizes,
                const Pattern& who) {
  KeyValueCache cache;
  std::vector<Tensor> parts;
  int64_t from = 0;
  for (const int64_t size : sizes) {
    parts.push_back(layer.step({.x = slice(x, 1, from, from + size), .who = who}, cache).y);
    from += size;
    EXPECT_EQ(cache.length(), from);
  }
  return concat(parts, 1);
}

TEST(MultiHead, StepByStepEqualsAllAtOnce) {
  const std::vector<int64_t> one_by_one(20, 1), pieces{3, 1, 1, 7, 1, 1, 1, 4, 1};
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const Tensor x = random_tensor({2, 20, 12}, 1).to(dtype);
    for (const Named& plug : plugged()) {
      SCOPED_TRACE(say(plug.name, " ", dtype));
      Parameters table(1, dtype);
      const MultiHead layer(table, 12, plug.options);
      const Tensor whole = layer({.x = x, .who = causal()}).y;
      expect_close(in_steps(layer, x, one_by_one, {}), whole);
      expect_close(in_steps(layer, x, pieces, causal_lower_right()), whole);
      const Tensor near = layer({.x = x, .who = window(4, 0)}).y;
      expect_close(in_steps(layer, x, pieces, window_lower_right(4, 0)), near);
      EXPECT_GT(relative_difference(near, whole), 1e-3);
      const Tensor strides = layer({.x = x, .who = causal() & strided(2)}).y;
      // Every second key, counted back from the query: with one query at the end of n keys.
      KeyValueCache cache;
      for (int64_t t = 0; t < 20; ++t) {
        Tensor every_second = Tensor::zeros({1, t + 1}, Dtype::i32);
        for (int64_t j = t; j >= 0; j -= 2) every_second.write<int32_t>()[j] = 1;
        const Tensor y =
            layer.step({.x = slice(x, 1, t, t + 1), .who = allow(every_second)}, cache).y;
        expect_close(y, slice(strides, 1, t, t + 1));
      }
    }
  }
}

TEST(MultiHead, StepsOnATapeHaveTheSameGradients) {
  for (const Named& plug : plugged()) {
    SCOPED_TRACE(plug.name);
    auto results = [&](bool steps) {
      return layer_results(
          [&](Scope s) {
            return [layer = MultiHead(s, 12, plug.options), steps](const Tensors& at) {
              return steps ? in_steps(layer, at[0], {2, 1, 3}, causal_lower_right())
                           : layer({.x = at[0], .who = causal()}).y;
            };
          },
          {random_tensor({2, 6, 12}, 1)}, Dtype::f64);
    };
    const Tensors whole = results(false), steps = results(true);
    for (size_t i = 0; i < whole.size(); ++i) expect_close(steps[i], whole[i], 1e-10);
  }
}

TEST(MultiHead, ABiasAndLengthsServeSteps) {
  Parameters table(1);
  const MultiHead layer(table, 12, {.heads = 3});
  const Tensor x = random_tensor({2, 9, 12}, 1).to(Dtype::f32),
               bias = random_tensor({3, 9, 9}, 2).to(Dtype::f32);
  // The second sequence's first three rows are padding.
  Tensor mask = Tensor::full({2, 1, 1, 9}, 1, Dtype::i32);
  for (int64_t j = 0; j < 3; ++j) mask.write<int32_t>()[9 + j] = 0;
  const Tensor whole = layer({.x = x, .who = causal() & allow(mask), .bias = bias}).y;
  KeyValueCache cache;
  for (int64_t t = 0; t < 9; ++t) {
    const Tensor row = slice(slice(bias, 1, t, t + 1), 2, 0, t + 1);
    const Pattern who = allow(slice(mask.to(Dtype::f32), 3, 0, t + 1).to(Dtype::i32));
    const Tensor y = layer.step({.x = slice(x, 1, t, t + 1), .who = who, .bias = row}, cache).y;
    expect_close(y, slice(whole, 1, t, t + 1));
  }
  EXPECT_THROW(layer.step({.x = slice(x, 1, 0, 1), .bias = bias}, cache), Error);
}

TEST(MultiHead, AMemoryIsReadManyTimes) {
  for (const Named& plug : plugged()) {
    SCOPED_TRACE(plug.name);
    Parameters table(1);
    const MultiHead layer(table, 12, plug.options);
    const Tensor x = random_tensor({2, 4, 12}, 1).to(Dtype::f32),
                 memory = random_tensor({2, 7, 12}, 2).to(Dtype::f32);
    const Pattern who = lengths(Tensor::ids({2}, {7, 4}));
    const Tensor whole = layer({.x = x, .memory = memory, .who = who}).y;
    KeyValueCache once, twice;
    layer.remember(memory, once);
    layer.remember(slice(memory, 1, 0, 5), twice);
    layer.remember(slice(memory, 1, 5, 7), twice);
    EXPECT_GT(twice.room(), twice.length());
    for (int64_t t = 0; t < 4; ++t) {
      const MultiHead::Inputs in{.x = slice(x, 1, t, t + 1), .who = who, .offset = t};
      expect_close(layer.read(in, once).y, slice(whole, 1, t, t + 1));
      expect_close(layer.read(in, twice).y, slice(whole, 1, t, t + 1));
    }
    EXPECT_EQ(once.length(), 7);
  }
}

TEST(MultiHead, WhatCountsTheKeysIsToldHowManyThereAre) {
  const ScoreFactory location = [](Scope s, int64_t q, int64_t) { return location_score(s, q, 5); };
  const AlignmentFactory local = [](Scope s, int64_t d) { return local_p_alignment(s, d, 2); };
  const Tensor x = random_tensor({2, 1, 12}, 1).to(Dtype::f32),
               memory = random_tensor({2, 5, 12}, 2).to(Dtype::f32);
  for (const MultiHeadOptions& options :
       {MultiHeadOptions{.heads = 3, .score = location}, {.heads = 3, .align = local}}) {
    Parameters table(1);
    const MultiHead layer(table, 12, options);
    KeyValueCache cache;
    layer.remember(slice(memory, 1, 0, 4), cache);
    layer.remember(slice(memory, 1, 4, 5), cache);
    ASSERT_GT(cache.room(), 5);
    expect_close(layer.read({.x = x}, cache).y, layer({.x = x, .memory = memory}).y);
  }
}

TEST(MultiHead, WeightsOfAStepAreThoseOfTheKeysThereAre) {
  Parameters table(1);
  const MultiHead layer(table, 12, {.heads = 3, .positions = rotary_positions()});
  const Tensor x = random_tensor({2, 6, 12}, 1).to(Dtype::f32);
  const Capture rows{.what = Capture::What::rows},
      summary{.what = Capture::What::summary, .map_cols = 6};
  const Tensor whole = layer({.x = x, .who = causal(), .capture = rows}).weights.rows;
  KeyValueCache cache;
  layer.step({.x = slice(x, 1, 0, 4)}, cache);
  layer.step({.x = slice(x, 1, 4, 5)}, cache);
  ASSERT_GT(cache.room(), 6);
  KeyValueCache again = cache;
  const Tensor last = layer.step({.x = slice(x, 1, 5, 6), .capture = rows}, cache).weights.rows;
  expect_close(last, slice(whole, 2, 5, 6));
  const Weights w = layer.step({.x = slice(x, 1, 5, 6), .capture = summary}, again).weights;
  expect_close(slice(w.map, 2, 0, 1), last);
}

TEST(MultiHead, RefusesWhatDoesNotFit) {
  Parameters table(1);
  const Scope s = table;
  EXPECT_THROW(MultiHead(s / "a", 10, {.heads = 3}), Error);
  EXPECT_THROW(MultiHead(s / "b", 12, {.heads = 4, .key_heads = 3}), Error);
  EXPECT_THROW(MultiHead(s / "c", 12, {.heads = 0}), Error);
  const MultiHead layer(s / "d", 12, {.heads = 3, .d_memory = 5});
  const Tensor x = Tensor::zeros({2, 3, 12}), memory = Tensor::zeros({2, 4, 5});
  KeyValueCache cache;
  EXPECT_THROW(layer({.x = x}), Error) << "the memory is of another width";
  EXPECT_THROW(layer({.x = memory, .memory = memory}), Error);
  EXPECT_THROW(layer.step({.x = x}, cache), Error);
  EXPECT_THROW(layer.read({.x = x}, cache), Error) << "nothing was remembered";
  EXPECT_EQ(layer({.x = x, .memory = memory}).y.shape(), (Shape{2, 3, 12}));
  EXPECT_THROW(layer({.x = x, .memory = Tensor::zeros({3, 4, 5})}), Error);
}

TEST(KeyValueCache, AStepCopiesItsOwnKeysAlone) {
  KeyValueCache cache;
  const Tensor one = random_tensor({2, 1, 3, 4}, 1).to(Dtype::f32),
               wide = random_tensor({2, 1, 3, 5}, 2).to(Dtype::f32);
  int grown = 0;
  const float* at = nullptr;
  for (int64_t t = 0; t < 1000; ++t) {
    cache.append(one * static_cast<double>(t), wide);
    grown += at != cache.stored_keys().read().data();
    at = cache.stored_keys().read().data();
  }
  EXPECT_LE(grown, 11);
  EXPECT_LE(cache.room(), 2 * cache.length());
  ASSERT_EQ(cache.keys().shape(), (Shape{2, 1000, 3, 4}));
  ASSERT_EQ(cache.values().shape(), (Shape{2, 1000, 3, 5}));
  for (const int64_t t : {0, 1, 2, 511, 512, 999}) {
    expect_same_bits(slice(cache.keys(), 1, t, t + 1), one * static_cast<double>(t));
  }
  KeyValueCache other = cache;
  other.append(one, wide);
  EXPECT_EQ(cache.length(), 1000);
  EXPECT_THROW(cache.append(wide, one), Error);
  EXPECT_THROW(cache.append(one, slice(wide, 0, 0, 1)), Error);
}

TEST(KeyValueCache, BeamsChangePlaces) {
  Parameters table(1);
  const MultiHead layer(table, 12, {.heads = 3, .positions = rotary_positions()});
  const Tensor x = random_tensor({3, 5, 12}, 1).to(Dtype::f32), ids = Tensor::ids({3}, {2, 0, 0});
  auto chosen = [&](const Tensor& t) {
    return concat({slice(t, 0, 2, 3), slice(t, 0, 0, 1), slice(t, 0, 0, 1)}, 0);
  };
  KeyValueCache cache;
  for (int64_t t = 0; t < 3; ++t) layer.step({.x = slice(x, 1, t, t + 1)}, cache);
  cache.select(ids);
  const Tensor mixed = concat({chosen(slice(x, 1, 0, 3)), slice(x, 1, 3, 5)}, 1);
  const Tensor whole = layer({.x = mixed, .who = causal()}).y;
  for (int64_t t = 3; t < 5; ++t) {
    expect_close(layer.step({.x = slice(x, 1, t, t + 1)}, cache).y, slice(whole, 1, t, t + 1));
  }
}

}  // namespace
}  // namespace fovea::test
