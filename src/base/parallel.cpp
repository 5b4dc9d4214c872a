// Why a pool of our own rather than OpenMP: libgomp decides between spinning and sleeping from an
// environment variable read before main, either choice is many times slower on some machine, and
// ThreadSanitizer cannot see through it. `bench/parallel_bench` shows the figures.
#include "fovea/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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

// Whoever waits looks this long before sleeping: long enough to bridge the gap between two ops of
// one training step, short enough not to steal a core from a neighbour.
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

// Waits until `ready` of the value, first by looking and then asleep; returns the value.
template <class T, class Ready>
T wait_for(const std::atomic<T>& value, Ready ready) {
  T now = value.load();
  const auto give_up = std::chrono::steady_clock::now() + spin_time;
  while (!ready(now) && std::chrono::steady_clock::now() < give_up) now = value.load();
  while (!ready(now)) {
    value.wait(now);
    now = value.load();
  }
  return now;
}

// A job is handed over without a lock: a worker counts itself in before it looks for the job, and
// the caller takes the job away before it looks whether anybody is in. Whatever the order, either
// the worker finds nothing or the caller waits for it.
class Pool {
 public:
  explicit Pool(int workers) {
    for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
  }
  ~Pool() {
    stop_ = true;
    announce();
    for (auto& worker : workers_) worker.join();
  }

  // False when another thread's job has the pool: the caller then does its work alone.
  bool run(Job& job) {
    std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn) return false;
    job_ = &job;
    announce();
    job.run_chunks();
    job_ = nullptr;  // a worker that wakes from now on finds nothing
    wait_for(inside_, [](int count) { return count == 0; });
    return true;
  }

 private:
  void announce() {
    epoch_.fetch_add(1);
    epoch_.notify_all();
  }

  void work() {
    uint32_t seen = 0;
    for (;;) {
      seen = wait_for(epoch_, [seen](uint32_t epoch) { return epoch != seen; });
      if (stop_) return;
      inside_.fetch_add(1);
      if (Job* job = job_) job->run_chunks();
      if (inside_.fetch_sub(1) == 1) inside_.notify_one();
    }
  }

  std::vector<std::thread> workers_;
  std::mutex turn_;
  std::atomic<uint32_t> epoch_{0};  // jobs so far, modulo 2^32: what a futex can wait for
  std::atomic<Job*> job_{nullptr};
  std::atomic<int> inside_{0};  // workers that may be using job_
  std::atomic<bool> stop_{false};
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
