// Parameters cannot be lost by accident, models are values, and gradients reach any recorded value.
#include "fovea/op/parameter.h"

#include <gtest/gtest.h>

#include <thread>

#include "fovea/nn/linear.h"
#include "fovea/nn/parameter_file.h"
#include "fovea/op/recompute.h"
#include "fovea/train/checkpoint.h"
#include "fovea/train/optimizer.h"
#include "support/gradient.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool says(const std::function<void()>& f, const std::string& part) {
  return message(f).find(part) != std::string::npos;
}

TEST(Parameter, ACopyIsTheSameAndAnOptimiserTrainsIt) {
  Parameters table(1);
  auto w = Scope(table).param("w", {2}, init::ones());  // a copy of the handle
  const auto sgd = make_optimizer(table, {.kind = "sgd", .rate = 1, .momentum = 0});
  Tape tape;
  sgd->step(tape.backward(sum(w * 3.0)));
  EXPECT_EQ(w.read()[0], -2);
  EXPECT_EQ(table["w"].read()[0], -2);
}

TEST(Parameter, AssigningSetsTheValueAndKeepsTheIdentity) {
  Parameters table(1);
  const Parameter w = Scope(table).param("w", {2}, init::ones()),
                  b = Scope(table).param("b", {2}, init::zeros());
  const uint32_t number = w.number();
  table["w"] = Tensor::of({2}, {5, 6});
  EXPECT_EQ(w.read()[1], 6);
  EXPECT_EQ(w.number(), number);
  table["b"] = table["w"];  // the value, not the parameter
  EXPECT_EQ(b.read()[0], 5);
  EXPECT_NE(b.number(), w.number());
  Tape tape;
  EXPECT_EQ(tape.backward(sum(w * 2.0))[w].read()[0], 2);
  EXPECT_TRUE(says([&] { table["w"] = Tensor::zeros({3}); }, "cannot become float32 [3]"));
  EXPECT_TRUE(says([&] { table["weight"]; }, "unknown parameter 'weight'"));
}

TEST(Parameter, AFrozenOneIsAConstant) {
  Parameters table(1);
  const Linear layer(table, 3, 2);
  layer.weight.freeze();
  const Tensor before = layer.weight.value(), x = random_tensor({4, 3}, 1).to(Dtype::f32);
  const auto adam = make_optimizer(table, {.rate = 0.1});
  Tape tape;
  const Gradients g = tape.backward(sum(layer(x)));
  EXPECT_FALSE(g.has(layer.weight));
  EXPECT_TRUE(says([&] { g[layer.weight]; }, "frozen"));
  adam->step(g);
  expect_same_bits(layer.weight, before);
  EXPECT_NE(layer.bias.read()[0], 0);
  layer.weight.freeze(false);
  Tape again;
  EXPECT_TRUE(again.backward(sum(layer(x))).has(layer.weight));
}

TEST(Parameter, GroupsHaveTheirOwnRates) {
  Parameters table(1);
  const Parameter a = Scope(table).param("slow/w", {1}, init::zeros()),
                  b = Scope(table).param("fast/w", {1}, init::zeros());
  const auto sgd = make_optimizer(table, {.kind = "sgd", .rate = 1, .momentum = 0},
                                  {{.prefix = "slow/", .rate = 0.1}});
  Tape tape;
  sgd->step(tape.backward(sum(a + b)));
  EXPECT_FLOAT_EQ(a.read()[0], -0.1f);
  EXPECT_FLOAT_EQ(b.read()[0], -1);
}

// A score keeps its parameters inside of a function; a clone has others there too.
struct Small {
  Parameters table{3};
  Linear layer{Scope(table) / "layer", 2, 2};
  std::function<Tensor(const Tensor&)> inside = [w = layer.weight](const Tensor& x) {
    return x * sum(w);
  };
};

TEST(Clone, SharesNoParameterAndACopySharesAll) {
  const Small model;
  const Small same = model, other = clone(model);
  EXPECT_TRUE(same.layer.weight.same_as(model.layer.weight));
  EXPECT_FALSE(other.layer.weight.same_as(model.layer.weight));
  EXPECT_TRUE(other.layer.weight.same_as(other.table["layer/weight"]));
  const Tensor x = Tensor::of({1}, {1});
  const double before = model.inside(x).item();
  EXPECT_EQ(other.inside(x).item(), before);
  other.table["layer/weight"] = Tensor::full({2, 2}, 7);
  EXPECT_EQ(other.inside(x).item(), 28);
  EXPECT_EQ(model.inside(x).item(), before);
  std::vector<Small> list{model, clone(model)};
  list.push_back(std::move(list[1]));
  EXPECT_EQ(list[2].inside(x).item(), before);
}

TEST(Gradients, ReachAnyRecordedValue) {
  Tape tape;
  const Tensor q = tape.watch(Tensor::of({2}, {1, 2})), w = Tensor::of({2}, {3, 4});
  const Tensor middle = q * w;
  const Tensor loss = sum(square(middle));
  const auto g = gradients(loss, {q, middle});
  EXPECT_EQ(g[1].read()[0], 6);   // 2 m
  EXPECT_EQ(g[0].read()[1], 64);  // 2 m w
}

TEST(Gradients, ThatCannotBeReachedSayWhy) {
  const auto refused = [](const std::function<std::vector<Tensor>(Tape&)>& f, const char* part) {
    return says(
        [&] {
          Tape tape;
          f(tape);
        },
        part);
  };
  const Tensor x = Tensor::of({1}, {2});
  const Parameter p = parameter(x);
  EXPECT_TRUE(refused(
      [&](Tape& tape) { return tape.gradients(sum(tape.watch(x) * 2.0), std::vector<Tensor>{x}); },
      "never recorded"));
  EXPECT_TRUE(refused(
      [&](Tape& tape) { return tape.gradients(sum(tape.watch(x) * 2.0), std::vector<Tensor>{p}); },
      "nothing recorded on this tape has used"));
  EXPECT_TRUE(refused(
      [&](Tape& tape) {
        const Tensor a = tape.watch(x), b = tape.watch(x);
        return tape.gradients(sum(a * 2.0), std::vector<Tensor>{b});
      },
      "does not depend on value 0"));
  EXPECT_TRUE(says([&] { gradients(x, {x}); }, "no tape is recording"));
}

TEST(Tape, AreDestroyedInAnyOrderAndOnAnyThread) {
  const Parameter w = parameter(Tensor::scalar(3));
  auto outer = std::make_unique<Tape>(), inner = std::make_unique<Tape>();
  outer.reset();  // the older first
  EXPECT_EQ(Tape::current(), inner.get());
  EXPECT_EQ(inner->backward(w * 2.0)[w].item(), 2);
  inner.reset();
  EXPECT_EQ(Tape::current(), nullptr);
  auto here = std::make_unique<Tape>();
  std::thread([&] { here.reset(); }).join();
  EXPECT_EQ(Tape::current(), nullptr);
}

TEST(Tape, TrainsOnlyWithAStream) {
  EXPECT_EQ(Tape::random(), nullptr);
  const Tape records;
  EXPECT_EQ(Tape::random(), nullptr);
  Random random(1);
  const Tape trains(random);
  EXPECT_EQ(Tape::random(), &random);
  const Tape::Pause pause;
  EXPECT_EQ(Tape::current(), nullptr);
  EXPECT_EQ(Tape::random(), &random);
}

TEST(Recomputed, ReachesParametersWithoutTouchingThem) {
  Parameters table(1, Dtype::f64);
  const Linear layer(table, 3, 3);
  const double error = gradient_error(
      [&](const std::vector<Tensor>& x) {
        return recomputed([&](std::span<const Tensor> at) { return tanh(layer(at[0])); }, {x[0]},
                          Scope(table).below());
      },
      {random_tensor({2, 3}, 1)}, table);
  EXPECT_LT(error, 1e-5);
}

TEST(ParameterFile, LoadsInsteadOfDrawingAndUnderOthersNames) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/w.safetensors";
  const Tensor packed = random_tensor({4, 6}, 1).to(Dtype::f32), b = Tensor::of({2}, {1, 2});
  save_safetensors(path, std::vector<NamedTensor>{{"lin.weight", packed}, {"lin.bias", b}});
  // Three matrices [2, 4] in one, transposed: ours is the second.
  const auto where = [](const std::string& name) -> StoredAt {
    if (name == "weight") return {.name = "lin.weight", .part = 1, .parts = 3, .transposed = true};
    return {.name = "lin." + name};
  };
  const ParameterFile file(path, {.where = where});
  Parameters table(1, Dtype::f32, file.source());
  const Linear layer(table, 4, 2);
  file.finish();
  EXPECT_EQ(layer.bias.read()[1], 2);
  EXPECT_EQ(layer.weight.read()[1], packed.read()[1 * 6 + 2]);  // row 0 of part 1: column 2

  const ParameterFile strict(path);
  Parameters refused(1, Dtype::f32, strict.source());
  EXPECT_TRUE(says([&] { Linear(refused, 4, 2); }, "has no array 'weight'"));
  const ParameterFile loose(path, {.strict = false});
  Parameters drawn(1, Dtype::f32, loose.source());
  Linear(drawn, 4, 2);
  EXPECT_EQ(loose.missing(), (std::vector<std::string>{"weight", "bias"}));
  EXPECT_EQ(loose.left_over(), (std::vector<std::string>{"lin.bias", "lin.weight"}));
}

}  // namespace
}  // namespace fovea::test
