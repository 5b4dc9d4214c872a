#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/base/random.h"

namespace fovea::test {
namespace {

TEST(Philox, HasThePublishedValues) {
  // Known answers that come with the authors' Random123 library.
  using Four = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, StreamsAreReproducibleAndApart) {
  Random a(1), b(1), c(2);
  const uint32_t first = a.bits();
  EXPECT_EQ(first, b.bits());
  EXPECT_NE(first, c.bits());
  EXPECT_EQ(first, Random(1).bits_at(0));
  EXPECT_EQ(a.fork("x").bits(), b.fork("x").bits()) << "a fork does not depend on the position";
  EXPECT_NE(a.fork("x").bits(), a.fork("y").bits());
  EXPECT_NE(a.fork("x").bits(), c.fork("x").bits());
  Random resumed(a.state());
  EXPECT_EQ(a.bits64(), resumed.bits64());
}

TEST(Random, NumbersAreDistributedAsTheySay) {
  Random random(7);
  double sum = 0, squares = 0, normal = 0, normal_squares = 0;
  std::vector<int> dice(6);
  constexpr int n = 60000;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform(), z = random.normal();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
    normal += z;
    normal_squares += z * z;
    ++dice[random.below(6)];
  }
  EXPECT_NEAR(sum / n, 0.5, 0.005);
  EXPECT_NEAR(squares / n, 1.0 / 3, 0.005);
  EXPECT_NEAR(normal / n, 0, 0.02);
  EXPECT_NEAR(normal_squares / n, 1, 0.03);
  for (int count : dice) EXPECT_NEAR(count, n / 6, 400);
}

TEST(Parallel, EveryElementOnce) {
  for (int count : {1, 2, 4}) {
    set_threads(count);
    for (int64_t n : {0, 1, 7, 100, 1001}) {
      std::vector<std::atomic<int>> seen(n);
      parallel_for(n, 10, [&](int64_t begin, int64_t end) {
        EXPECT_EQ(begin % 10, 0) << "chunks depend on size and grain alone";
        EXPECT_EQ(end, std::min<int64_t>(begin + 10, n));
        for (int64_t i = begin; i < end; ++i) ++seen[i];
      });
      for (auto& times : seen) EXPECT_EQ(times, 1);
    }
  }
  set_threads(2);
}

TEST(Parallel, SeveralThreadsTakePart) {
  set_threads(2);
  std::set<std::thread::id> ids;
  std::mutex mutex;
  std::atomic<int> arrived{0};
  // Both chunks wait for each other, so that one thread alone could not finish.
  parallel_for(2, 1, [&](int64_t, int64_t) {
    ++arrived;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(ids.size(), 2u);
}

TEST(Parallel, ErrorsComeBackAndThePoolGoesOn) {
  set_threads(4);
  EXPECT_THROW(parallel_for(100, 1,
                            [](int64_t i, int64_t) {
                              if (i == 37) fail("chunk 37");
                            }),
               Error);
  std::atomic<int> sum{0};
  parallel_for(100, 1, [&](int64_t i, int64_t) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum, 4950);
  set_threads(2);
}

TEST(Parallel, NestedAndConcurrentCallsWork) {
  set_threads(2);
  std::atomic<int> count{0};
  auto work = [&] {
    for (int round = 0; round < 50; ++round) {
      parallel_for(
          4, 1, [&](int64_t, int64_t) { parallel_for(5, 1, [&](int64_t, int64_t) { ++count; }); });
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(count, 2 * 50 * 20);
}

}  // namespace
}  // namespace fovea::test
