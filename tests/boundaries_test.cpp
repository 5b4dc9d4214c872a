// What a host program may do to the library: sizes that cannot be counted, grains of nothing, use
// of what was freed, many threads at once.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <thread>
#include <vector>

#include "fovea/app/bench/sgemm.h"
#include "fovea/attention/engine.h"
#include "fovea/base/parallel.h"
#include "fovea/base/random.h"
#include "fovea/tensor/pool.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

// Whether f throws an Error that has these words.
template <class F>
void expect_error(const F& f, const std::string& words) {
  try {
    f();
    ADD_FAILURE() << "nothing was refused that needs: " << words;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Shape, RefusesToCountWhatHasNoNumber) {
  constexpr int64_t big = int64_t{1} << 32;
  expect_error([] { static_cast<void>(Shape{big, big}.elements()); }, "more elements than 63 bits");
  expect_error([] { static_cast<void>(Shape{2, big, big}.product(1, 3)); }, "[2, 4294967296, 429");
  EXPECT_EQ((Shape{big, big, 0}).elements(), 0);
  EXPECT_EQ((Shape{big, big / 4}).elements(), int64_t{1} << 62);
  expect_error([] { Shape{1}.set(0, -1); }, "cannot have size -1");
}

TEST(Tensor, RefusesMoreBytesThanThereAre) {
  expect_error([] { Tensor({(int64_t{1} << 62) + 1}); }, "more bytes than can be addressed");
  expect_error([] { Tensor({int64_t{1} << 61}, Dtype::f64); }, "more bytes than can be addressed");
  expect_error([] { Tensor({int64_t{1} << 60}); }, "memory: ");
  expect_error([] { Tensor::zeros({1 << 30, 1 << 30, 1 << 30}); }, "more elements than 63 bits");
}

TEST(Random, HasNoNumberBelowZero) {
  Random random(1);
  expect_error([&] { random.below(0); }, "no number below 0");
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Parallel, AGrainOfNothingCountsAsOne) {
  for (int64_t grain : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    std::atomic<int> sum{0};
    parallel_for(10, grain, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(end, begin + 1);
      sum += static_cast<int>(begin);
    });
    EXPECT_EQ(sum, 45);
  }
  parallel_for(-3, 0, [](int64_t, int64_t) { FAIL() << "there is nothing to do"; });
}

TEST(Parallel, ThreadsAreNotChangedInsideALoop) {
  set_threads(2);
  expect_error([] { parallel_for(4, 1, [](int64_t, int64_t) { set_threads(3); }); }, "set_threads");
  EXPECT_EQ(threads(), 2);
}

TEST(Parallel, ThreadsChangeWhileOthersWork) {
  std::atomic<bool> stop{false};
  std::atomic<int64_t> wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      while (!stop) {
        std::atomic<int64_t> sum{0};
        parallel_for(100, 3, [&](int64_t begin, int64_t end) { sum += end - begin; });
        wrong += sum != 100;
      }
    });
  }
  for (int round = 0; round < 50; ++round) set_threads(1 + round % 5);
  stop = true;
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  set_threads(2);
}

TEST(Attention, SeveralThreadsAtOnceGetTheSameBits) {
  set_threads(2);
  const Tensor x = random_tensor({2, 100, 3, 16}, 1, -1, 1, Dtype::f32);
  const AttentionInputs in{.q = x, .k = x, .v = x, .who = causal()};
  const Tensor want = attend(in).context;
  std::vector<std::thread> hosts;
  for (int i = 0; i < 4; ++i) {
    hosts.emplace_back([&] {
      for (int round = 0; round < 20; ++round) expect_same_bits(attend(in).context, want);
    });
  }
  for (auto& host : hosts) host.join();
}

TEST(Sgemm, SaysWhatToInstallWhenThereIsNone) {
  expect_error(
      [] {
        bench::Sgemm({"libnothing.so.1", "libnone.so"});
      },
      "libnone.so is not there; install it (Debian's package libdnnl2)");
}

TEST(PoolDeathTest, ReadingWhatWasFreedIsReported) {
  if (!pool::reports_late_reads()) GTEST_SKIP() << "needs AddressSanitizer";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto read_late = [] {
    const float* data = nullptr;
    {
      const Tensor gone = Tensor::full({100}, 1);
      data = gone.read().data();
    }
    return *const_cast<const volatile float*>(data + 50);
  };
  EXPECT_DEATH(read_late(), "use-after-poison");
  auto read_behind = [] {
    const Tensor x = Tensor::full({100}, 1);
    return *const_cast<const volatile float*>(x.read().data() + 100);
  };
  EXPECT_DEATH(read_behind(), "use-after-poison");
}

}  // namespace
}  // namespace fovea::test
