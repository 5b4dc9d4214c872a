// Why a pool of our own rather than OpenMP: libgomp decides between spinning and sleeping from an
// environment variable read before main, either choice is many times slower on some machine, and
// ThreadSanitizer cannot see through it. `bench/parallel_bench` shows the figures.
#include "fovea/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

thread_local bool inside_body = false;

// Workers look for the next job this long before they sleep: long enough to bridge the gap between
// two ops of one training step, short enough not to steal a core from a neighbour.
constexpr auto spin_time = std::chrono::microseconds(30);

struct Job {
  int64_t n, grain;
  ChunkBody body;
  std::atomic<int64_t> next{0};
  std::exception_ptr error{};
  std::mutex error_mutex{};

  void run_chunks() {
    inside_body = true;
    for (;;) {
      const int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= n) break;
      try {
        body(begin, std::min(begin + grain, n));
      } catch (...) {
        next.store(n, std::memory_order_relaxed);  // no further chunk starts
        std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
      }
    }
    inside_body = false;
  }
};

class Pool {
 public:
  explicit Pool(int workers) {
    for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
      epoch_.fetch_add(1);
    }
    wake_.notify_all();
    for (auto& worker : workers_) worker.join();
  }

  // False when another thread's job has the pool: the caller then does its work alone.
  bool run(Job& job) {
    std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn) return false;
    {
      std::lock_guard lock(mutex_);
      job_ = &job;
      epoch_.fetch_add(1);
    }
    wake_.notify_all();
    job.run_chunks();
    std::unique_lock lock(mutex_);
    job_ =
        nullptr;  // a worker that wakes from now on finds nothing: the caller need not wait for it
    done_.wait(lock, [this] { return inside_ == 0; });
    return true;
  }

 private:
  void work() {
    uint64_t seen = 0;
    for (;;) {
      const auto give_up = std::chrono::steady_clock::now() + spin_time;
      while (epoch_.load(std::memory_order_relaxed) == seen &&
             std::chrono::steady_clock::now() < give_up) {
      }
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return epoch_.load(std::memory_order_relaxed) != seen; });
      seen = epoch_.load(std::memory_order_relaxed);
      if (stop_) return;
      Job* job = job_;
      if (!job) continue;
      ++inside_;
      lock.unlock();
      job->run_chunks();
      lock.lock();
      if (--inside_ == 0) done_.notify_one();
    }
  }

  std::vector<std::thread> workers_;
  std::mutex turn_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_, done_;
  std::atomic<uint64_t> epoch_{0};
  Job* job_ = nullptr;
  int inside_ = 0;
  bool stop_ = false;
};

int usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

int first_thread_count() {
  const char* text = std::getenv("FOVEA_THREADS");
  if (!text || !*text) return usable_cpus();
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  check(*end == '\0' && count >= 1 && count <= 1024,
        "FOVEA_THREADS needs a whole number from 1 to 1024, got '", text, "'");
  return static_cast<int>(count);
}

struct Threads {
  int count = first_thread_count();
  std::unique_ptr<Pool> pool = count > 1 ? std::make_unique<Pool>(count - 1) : nullptr;
};

Threads& the_threads() {
  static Threads it;
  return it;
}

}  // namespace

void parallel_for(int64_t n, int64_t grain, ChunkBody body) {
  if (n <= grain) {
    if (n > 0) body(0, n);
    return;
  }
  if (!inside_body) {
    if (Pool* pool = the_threads().pool.get()) {
      Job job{n, grain, body};
      if (pool->run(job)) {
        if (job.error) std::rethrow_exception(job.error);
        return;
      }
    }
  }
  for (int64_t begin = 0; begin < n; begin += grain) body(begin, std::min(begin + grain, n));
}

int threads() { return the_threads().count; }

void set_threads(int count) {
  check(count >= 1 && count <= 1024, "set_threads: needs a number from 1 to 1024, got ", count);
  Threads& it = the_threads();
  if (count == it.count) return;
  it.pool.reset();
  it.count = count;
  if (count > 1) it.pool = std::make_unique<Pool>(count - 1);
}

}  // namespace fovea
