#include "fovea/tensor/tensor.h"

#include <gtest/gtest.h>

#include <thread>

#include "fovea/op/elementwise.h"
#include "fovea/op/linear.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/tensor/pool.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

TEST(Shape, PrintsAndCounts) {
  EXPECT_EQ(say(Shape{2, 3, 5}), "[2, 3, 5]");
  EXPECT_EQ((Shape{2, 3, 5}).elements(), 30);
  EXPECT_EQ(Shape{}.elements(), 1);
  EXPECT_EQ((Shape{2, 3})[-1], 3);
  EXPECT_THROW((Shape{2, 3})[2], Error);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1}), Error);
  EXPECT_THROW((Shape{-1}), Error);
}

TEST(Tensor, IsAValue) {
  Tensor a = Tensor::of({3}, {1, 2, 3});
  Tensor b = a;
  EXPECT_EQ(a.read().data(), b.read().data()) << "a copy shares memory";
  b.write()[0] = 9;
  EXPECT_EQ(a.read()[0], 1) << "until one is written to";
  EXPECT_EQ(b.read()[0], 9);
}

TEST(Tensor, AReshapedViewIsAValueToo) {
  Tensor a = Tensor::of({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor b = a.reshaped({3, 2});
  EXPECT_EQ(a.read().data(), b.read().data());
  a.write()[0] = 9;
  EXPECT_EQ(b.read()[0], 1);
  b.write()[5] = 8;
  EXPECT_EQ(a.read()[5], 6);
  EXPECT_THROW(a.reshaped({4}), Error);
}

TEST(Tensor, AViewOutlivesWhatItViews) {
  Tensor view;
  {
    const Tensor a = Tensor::of({4}, {1, 2, 3, 4});
    view = a.reshaped({2, 2}).reshaped({1, 4});
  }
  EXPECT_EQ(view.read()[3], 4);
}

TEST(Tensor, TypesAreCheckedAndConverted) {
  const Tensor ids = Tensor::ids({2}, {3, -4});
  EXPECT_THROW(ids.read<float>(), Error);
  EXPECT_EQ(ids.to(Dtype::f64).read<double>()[1], -4);
  EXPECT_EQ(Tensor::of({1}, {2.75f}).to(Dtype::i32).read<int32_t>()[0], 2);
  EXPECT_EQ(Tensor::scalar(2.5).item(), 2.5);
  EXPECT_THROW(Tensor().shape(), Error);
  EXPECT_THROW(Tensor::of({2}, {1}), Error);
}

TEST(Tensor, EmptyAxesAreFine) {
  const Tensor none = Tensor::zeros({0, 3});
  EXPECT_EQ(none.elements(), 0);
  EXPECT_EQ((none + none).shape(), (Shape{0, 3}));
  EXPECT_EQ(sum(none).item(), 0);
  EXPECT_EQ(sum(matmul(Tensor::zeros({2, 0}), none)).item(), 0) << "an empty sum is zero";
}

TEST(Pool, ASteadyTrainingStepAsksTheSystemForNothing) {
  const Tensor w = parameter(random_tensor({64, 64}, 1, -1, 1, Dtype::f32));
  const Tensor x = random_tensor({128, 64}, 2, -1, 1, Dtype::f32);
  auto step = [&] {
    Tape tape;
    return tape.backward(mean(square(tanh(linear(x, w)))))[w];
  };
  step();
  step();
  const int64_t before = pool::stats().system_allocations;
  for (int i = 0; i < 20; ++i) step();
  EXPECT_EQ(pool::stats().system_allocations, before);
  pool::trim();
  Tensor larger({1000, 1001});
  EXPECT_EQ(pool::stats().system_allocations, before + 1) << "the counter does count";
}

TEST(Pool, GivesBackWhatWaits) {
  { const Tensor big({1 << 20}); }
  EXPECT_GE(pool::stats().held_bytes, 4 << 20);
  pool::trim();
  EXPECT_EQ(pool::stats().held_bytes, 0);
}

TEST(Pool, MemoryIsAligned) {
  for (int64_t n : {1, 3, 100, 12345}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(Tensor({n}).read().data()) % 64, 0u);
  }
}

TEST(Tensor, CopiesMayLiveOnSeveralThreads) {
  const Tensor shared = Tensor::full({1000}, 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([shared, i] {
      for (int round = 0; round < 100; ++round) {
        Tensor mine = shared;
        mine.write()[0] = static_cast<float>(i);
        EXPECT_EQ(mine.read()[0], static_cast<float>(i));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(shared.read()[0], 1);
}

}  // namespace
}  // namespace fovea::test
