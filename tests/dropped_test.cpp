// Dropout joined with the residual, and all of it with the feed-forward layer, against the same in
// single steps.
#include "fovea/op/dropped.h"

#include <gtest/gtest.h>

#include <optional>

#include "fovea/base/parallel.h"
#include "fovea/op/linear.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

using kernel::Unary;
using Tensors = std::vector<Tensor>;

constexpr double p = 0.3;

// What add_dropped() multiplies with, for this shape and the key that a stream gives after others:
// 0 or 1 / (1 - p).
Tensor mask_of(const Shape& shape, Dtype dtype, uint64_t seed, int after = 0) {
  Random random(seed);
  for (int i = 0; i < after; ++i) random.bits64();
  Tape tape(random);
  return add_dropped(Tensor::zeros(shape, dtype), Tensor::full(shape, 1, dtype), p);
}

Tensor plain(Unary f, const Tensor& x) {
  return f == Unary::relu ? relu(x) : f == Unary::gelu ? gelu(x) : gelu_tanh(x);
}

Tensor in_single_steps(Unary f, const Tensors& in) {
  return in[0] + linear(plain(f, linear(in[1], in[2], in[3])), in[4], in[5]);
}

// The value and the gradients of its inputs, while what is dropped comes from the stream 5.
Tensors results(const Function& f, const Tensors& inputs, bool drops = true) {
  Random random(5);
  std::optional<Tape> made;
  Tape& tape = drops ? made.emplace(random) : made.emplace();
  Tensors list{f(inputs)};
  const Gradients g =
      tape.backward(list[0], random_tensor(list[0].shape(), 9).to(inputs[0].dtype()));
  for (const Tensor& x : inputs) list.push_back(g[x]);
  return list;
}

void expect_all_close(const Tensors& a, const Tensors& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(i);
    expect_close(a[i], b[i], tolerance);
  }
}

TEST(Dropped, EqualsTheSingleSteps) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const double tolerance = dtype == Dtype::f32 ? 2e-6 : 1e-12;
    // Wider than a chunk, many chunks, one row, and nothing that vectors divide.
    for (const Shape& shape : {Shape{2, 9001}, Shape{301, 67}, Shape{1, 5}, Shape{3, 2, 7}}) {
      const Tensor x = parameter(random_tensor(shape, 1).to(dtype)),
                   y = parameter(random_tensor(shape, 2).to(dtype));
      const Tensor mask = mask_of(shape, dtype, 5);
      expect_all_close(
          results([](const Tensors& in) { return add_dropped(in[0], in[1], p); }, {x, y}),
          results([&](const Tensors& in) { return in[0] + mask * in[1]; }, {x, y}), tolerance);
    }
  }
}

TEST(Dropped, FeedForwardEqualsTheSingleSteps) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const double tolerance = dtype == Dtype::f32 ? 4e-6 : 1e-12;
    // One row, few rows, a few hundred (which a product takes in blocks), and a batch of sequences.
    for (const Shape& before : {Shape{1}, Shape{7}, Shape{301}, Shape{3, 67}}) {
      Shape shape = before, inner = before;
      shape.push_back(19);
      inner.push_back(45);
      auto make = [&](const Shape& s, uint64_t seed) {
        return parameter(random_tensor(s, seed).to(dtype));
      };
      const Tensors inputs{make(shape, 1), make(shape, 2),    make({45, 19}, 3),
                           make({45}, 4),  make({19, 45}, 5), make({19}, 6)};
      // A stream of keys: the hidden layer draws the first, the residual the second.
      const Tensor first = mask_of(inner, dtype, 5), second = mask_of(shape, dtype, 5, 1);
      for (const Unary f : {Unary::relu, Unary::gelu, Unary::gelu_tanh}) {
        for (const bool drops : {true, false}) {
          auto joined = [&](const Tensors& in) {
            return feed_forward(in[0], in[1], {in[2], in[3], in[4], in[5]}, f, p);
          };
          auto single = [&](const Tensors& in) {
            Tensor h = plain(f, linear(in[1], in[2], in[3]));
            if (drops) h = first * h;
            const Tensor y = linear(h, in[4], in[5]);
            return in[0] + (drops ? second * y : y);
          };
          SCOPED_TRACE(say(dtype, " ", shape, " ", static_cast<int>(f), drops));
          expect_all_close(results(joined, inputs, drops), results(single, inputs), tolerance);
          // What it returns for the same array as residual and input has both gradients.
          const Tensors twice{inputs[0], inputs[0], inputs[2], inputs[3], inputs[4], inputs[5]};
          expect_all_close(results(joined, twice, drops), results(single, twice), tolerance);
          // Without a tape nothing is dropped.
          expect_close(joined(inputs), in_single_steps(f, inputs), tolerance);
        }
      }
    }
  }
}

TEST(Dropped, DropsAsOftenAsAskedAndOnlyWhileTraining) {
  const Tensor mask = mask_of({1000, 200}, Dtype::f32, 6);
  int64_t zeros = 0;
  for (const float m : mask.read<float>()) {
    zeros += m == 0;
    EXPECT_FLOAT_EQ(m == 0 ? 1 / 0.7f : m, 1 / 0.7f);
  }
  EXPECT_NEAR(static_cast<double>(zeros) / 200000, p, 0.005);
  // No chunk repeats the mask of the one before it.
  const auto m = mask.read<float>();
  int64_t same = 0;
  for (int64_t i = 0; i < 8200; ++i) same += (m[i] == 0) == (m[i + 8200] == 0);
  EXPECT_NEAR(static_cast<double>(same) / 8200, p * p + (1 - p) * (1 - p), 0.03);

  const Tensor x = random_tensor({3, 4}, 1);
  expect_same_bits(add_dropped(x, x, p), x + x);
  const Tape records_but_does_not_train;
  expect_same_bits(add_dropped(x, x, p), x + x);
}

TEST(Dropped, SameBitsWithAnyNumberOfThreads) {
  auto make = [](const Shape& shape, uint64_t seed) {
    return parameter(random_tensor(shape, seed, -1, 1, Dtype::f32));
  };
  const Tensors inputs{make({500, 96}, 1), make({500, 96}, 2), make({130, 96}, 3),
                       make({130}, 4),     make({96, 130}, 5), make({96}, 6)};
  const int before = threads();
  Tensors first;
  for (const int n : {1, 2, 4}) {
    set_threads(n);
    const Tensors now = results(
        [](const Tensors& in) {
          return feed_forward(in[0], in[1], {in[2], in[3], in[4], in[5]}, Unary::gelu, p);
        },
        inputs);
    if (first.empty()) first = now;
    for (size_t i = 0; i < now.size(); ++i) expect_same_bits(now[i], first[i]);
  }
  set_threads(before);
}

}  // namespace
}  // namespace fovea::test
