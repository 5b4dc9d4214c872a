#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fovea/nn/recurrent.h"
#include "fovea/op/shape.h"
#include "fovea/tensor/safetensors.h"
#include "support/paths.h"
#include "support/recurrent.h"

namespace fovea::test {
namespace {

// PyTorch's name for the parameters of one direction of one layer.
std::string torch_name(const std::string& kind, int layer, bool backward) {
  return kind + "_l" + std::to_string(layer) + (backward ? "_reverse" : "");
}

TEST(RecurrentLayer, AgreesWithPyTorch) {
  const auto golden = Safetensors::open(golden_path("recurrent.safetensors"));
  for (Cell cell : cells) {
    for (const bool stacked : {false, true}) {
      for (Dtype dtype : {Dtype::f64, Dtype::f32}) {
        const std::string name = name_of(cell) + (stacked ? "2/" : "/");
        SCOPED_TRACE(name);
        auto load = [&](const std::string& what) { return golden.load(name + what).to(dtype); };
        const double tolerance = dtype == Dtype::f64 ? 1e-12 : 1e-5;
        const Tensor x = parameter(load("x"));
        Parameters table(0, dtype);
        const Recurrent layer(table, x.dim(-1), load("y").dim(-1) / (stacked ? 2 : 1),
                              {.cell = cell, .layers = stacked ? 2 : 1, .bidirectional = stacked});
        std::vector<std::pair<std::string, std::string>> names;  // ours, theirs
        for (int i = 0; i < layer.options.layers; ++i) {
          for (bool backward : {false, true}) {
            if (backward && !stacked) continue;
            const std::string path = std::to_string(i) + (backward ? "/backward/" : "/forward/");
            names.emplace_back(path + "input/weight", torch_name("weight_ih", i, backward));
            names.emplace_back(path + "hidden/weight", torch_name("weight_hh", i, backward));
            names.emplace_back(path + "input/bias", torch_name("bias_ih", i, backward));
            names.emplace_back(path + "hidden/bias", torch_name("bias_hh", i, backward));
          }
        }
        ASSERT_EQ(names.size(), table.entries().size());
        for (const auto& [ours, theirs] : names) table[ours] = load(theirs);

        Tape tape;
        const Tensor h0 = parameter(load("h0"));
        const Tensor c0 = cell == Cell::lstm ? parameter(load("c0")) : Tensor();
        auto part = [](const Tensor& t, int64_t i) {
          return t.empty() ? t : reshape(slice(t, 0, i, i + 1), {t.dim(1), t.dim(2)});
        };
        Recurrent::Inputs in{.x = x, .lengths = stacked ? golden.load(name + "lengths") : Tensor()};
        for (int64_t i = 0; i < h0.dim(0); ++i) in.start.push_back({part(h0, i), part(c0, i)});
        const Recurrent::Output out = layer(in);
        std::vector<Tensor> h, c;
        for (const RecurrentState& state : out.last) h.push_back(state.h), c.push_back(state.c);
        expect_close(out.y, load("y"), tolerance);
        expect_close(stack(h, 0), load("h"), tolerance);
        Tensor loss = sum(out.y * load("weigh_y")) + sum(stack(h, 0) * load("weigh_h"));
        if (cell == Cell::lstm) {
          expect_close(stack(c, 0), load("c"), tolerance);
          loss = loss + sum(stack(c, 0) * load("weigh_c"));
        }
        const Gradients g = tape.backward(loss);
        expect_close(g[x], load("d/x"), tolerance);
        expect_close(g[h0], load("d/h0"), tolerance);
        if (cell == Cell::lstm) expect_close(g[c0], load("d/c0"), tolerance);
        for (const auto& [ours, theirs] : names) {
          EXPECT_LE(relative_difference(g[table[ours]], load("d/" + theirs)), tolerance) << theirs;
        }
      }
    }
  }
}

TEST(RecurrentLayer, FirstValues) {
  Parameters table(3, Dtype::f64);
  const Recurrent layer(table, 5, 4, {.layers = 2, .bidirectional = true});
  EXPECT_EQ(table.entries().size(), 16u);
  EXPECT_EQ(table["1/backward/input/weight"].shape(), (Shape{16, 8}));
  const Tensor bias = table["0/forward/input/bias"];
  for (int64_t i = 0; i < 16; ++i) EXPECT_EQ(bias.read<double>()[i], i / 4 == 1 ? 1 : 0);
  // Each gate's block of the hidden weight is orthogonal by itself.
  const auto w = table["1/forward/hidden/weight"].read<double>();
  for (int64_t i = 0; i < 16; ++i) {
    for (int64_t j = i / 4 * 4; j < i / 4 * 4 + 4; ++j) {
      double dot = 0;
      for (int64_t k = 0; k < 4; ++k) dot += w[i * 4 + k] * w[j * 4 + k];
      EXPECT_NEAR(dot, i == j ? 1 : 0, 1e-12);
    }
  }
}

TEST(RecurrentLayer, StepByStepIsTheWholeSequence) {
  for (Cell cell : cells) {
    Parameters table(4, Dtype::f64);
    const Recurrent layer(table, 3, 4, {.cell = cell, .layers = 3});
    const Tensor x = random_tensor({2, 5, 3}, 8);
    const Recurrent::Output whole = layer({.x = x});
    RecurrentStates state;
    for (int64_t t = 0; t < 5; ++t) {
      const Tensor y = layer.step(reshape(slice(x, 1, t, t + 1), {2, 3}), state);
      expect_close(y, reshape(slice(whole.y, 1, t, t + 1), {2, 4}), 1e-13);
    }
    ASSERT_EQ(state.size(), whole.last.size());
    for (size_t i = 0; i < state.size(); ++i) expect_close(state[i].h, whole.last[i].h, 1e-13);
  }
}

TEST(RecurrentLayer, DropoutIsBetweenLayersAndOnlyWhileTraining) {
  auto differs = [](int layers) {
    Parameters table(4);
    const Recurrent layer(table, 3, 4, {.layers = layers, .dropout = 0.5});
    const Tensor x = random_tensor({2, 5, 3}, 8, -1, 1, Dtype::f32);
    const Tensor quiet = layer({.x = x}).y;
    Random random(1);
    Tape tape(random);
    const Tensor y = layer({.x = x}).y;
    return relative_difference(y, quiet) > 0.01;
  };
  EXPECT_FALSE(differs(1));
  EXPECT_TRUE(differs(2));
}

TEST(RecurrentLayer, SaysWhatItNeeds) {
  Parameters table;
  const Recurrent layer(Scope(table) / "a", 3, 4, {.bidirectional = true});
  RecurrentStates state;
  expect_says("forwards only", [&] { layer.step(Tensor::zeros({1, 3}), state); });
  expect_says("needs 2 states to start with, got 1", [&] {
    layer({.x = Tensor::zeros({1, 2, 3}), .start = {{}}});
  });
  EXPECT_THROW(Recurrent(Scope(table) / "b", 3, 4, {.layers = 0}), Error);
}

}  // namespace
}  // namespace fovea::test
