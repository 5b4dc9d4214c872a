#include "fovea/op/tape.h"

#include <gtest/gtest.h>

#include <thread>

#include "fovea/op/elementwise.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

TEST(Tape, RecordsOnlyWhileItLives) {
  const Tensor w = parameter(Tensor::scalar(3));
  square(w);
  Tape tape;
  EXPECT_EQ(tape.size(), 0);
  square(Tensor::scalar(2));
  EXPECT_EQ(tape.size(), 0) << "what no parameter leads to is not recorded";
  const Tensor y = square(w) * w;
  EXPECT_EQ(tape.size(), 3);
  EXPECT_FLOAT_EQ(tape.backward(y)[w].item(), 27);
}

TEST(Tape, ServesOneBackwardPass) {
  const Tensor w = parameter(Tensor::scalar(3));
  Tape tape;
  const Tensor y = square(w);
  tape.backward(y);
  try {
    tape.backward(y);
    FAIL() << "the second pass went through";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has been used"), std::string::npos);
  }
  EXPECT_EQ(Tape::current(), nullptr) << "a used tape records nothing more";
}

TEST(Tape, GradientsOfSeveralUsesAddUp) {
  const Tensor w = parameter(Tensor::scalar(2)), unused = parameter(Tensor::zeros({2, 2}));
  Tape tape;
  const Gradients g = tape.backward(w * w + w * 3);
  EXPECT_FLOAT_EQ(g[w].item(), 7);
  EXPECT_FALSE(g.has(unused));
  EXPECT_THROW(g[unused], Error);
  EXPECT_EQ(g.or_zeros(unused).shape(), (Shape{2, 2}));
}

TEST(Tape, LossMustBeOneNumber) {
  const Tensor w = parameter(Tensor::zeros({2}));
  Tape tape;
  EXPECT_THROW(tape.backward(w * 2), Error);
}

TEST(Tape, WritingAfterRecordingDoesNotChangeThePast) {
  Tensor w = parameter(Tensor::scalar(3));
  Tape tape;
  const Tensor y = square(w);
  w.write()[0] = 100;
  const Gradients g = tape.backward(y);
  EXPECT_FLOAT_EQ(g[w].item(), 6) << "the value recorded was 3, and w is still the parameter";
}

TEST(Tape, AValueWrittenToIsNoLongerTheRecordedOne) {
  const Tensor w = parameter(Tensor::scalar(3));
  Tape tape;
  Tensor y = square(w);
  y.write()[0] = 5;
  EXPECT_FALSE(tape.backward(y * 1.0).has(w));
}

TEST(Tape, Nests) {
  const Tensor w = parameter(Tensor::scalar(3));
  Tape outer;
  const Tensor y = square(w);
  {
    Tape inner;
    EXPECT_FLOAT_EQ(inner.backward(w * y)[w].item(), 9) << "y is a constant to the inner tape";
  }
  EXPECT_FLOAT_EQ(outer.backward(y)[w].item(), 6);
}

TEST(Tape, GradientsAreValues) {
  const Tensor a = parameter(Tensor::scalar(2)), b = parameter(Tensor::scalar(5));
  auto gradient = [&](const Tensor& loss_of) {
    Tape tape;
    return tape.backward(square(loss_of));
  };
  Gradients g = gradient(a);
  g += gradient(a);
  g += gradient(b);
  g *= 0.5;
  EXPECT_FLOAT_EQ(g[a].item(), 4);
  EXPECT_FLOAT_EQ(g[b].item(), 5);
}

TEST(Tape, EachThreadHasItsOwn) {
  const Tensor w = parameter(Tensor::full({100}, 2));
  std::vector<std::thread> threads;
  std::vector<float> results(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        Tape tape;
        results[i] = tape.backward(sum(square(w) * static_cast<double>(i)))[w].read()[99];
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(results[i], 4.0f * i);
}

TEST(Tape, AnOutputMustBeANewArray) {
  const Tensor w = parameter(Tensor::scalar(3));
  Tape tape;
  EXPECT_THROW(record("same", {w}, w, [](const Tensor&, InputGradients&) {}), Error);
}

TEST(Tape, MemoryOfAStepIsFreedAsTheBackwardPassGoes) {
  const Tensor w = parameter(Tensor::zeros({8}));
  Tape tape;
  Tensor y = w;
  for (int i = 0; i < 5000; ++i) y = tanh(y + w);
  EXPECT_EQ(tape.size(), 10001);
  EXPECT_TRUE(tape.backward(sum(y)).has(w)) << "long chains do not recurse";
}

}  // namespace
}  // namespace fovea::test
