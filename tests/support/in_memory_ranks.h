// Threads as ranks.
#pragma once

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "fovea/base/communicator.h"

namespace fovea::test {

// f(ranks) on `count` ranks at once; what the first to fail throws is thrown again.
template <class F>
void on_ranks(int count, F&& f) {
  InMemoryRanks all(count);
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::exception_ptr first;
  for (int r = 0; r < count; ++r) {
    threads.emplace_back([&, r] {
      try {
        f(all.at(r));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
        all.lose(r);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace fovea::test
