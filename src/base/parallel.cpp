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

// Whoever waits looks this long before sleeping, which bridges the gap between two ops of one
// training step: to wake a sleeper takes as long as a small op. After the first part of it the
// core is left to anyone else who has work.
constexpr auto look_time = std::chrono::microseconds(200), alone_time = look_time / 8;

// Chunks that one thread takes first: the same part of every loop, so that it mostly reads what it
// has itself written. On a cache line of its own.
struct alignas(64) Share {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};

struct Job {
  int64_t n, grain;
  ChunkBody body;
  std::vector<Share>& shares;  // one for each thread
  std::exception_ptr error{};
  std::mutex error_mutex{};

  void cut() {
    const int64_t chunks = (n + grain - 1) / grain, threads = std::ssize(shares);
    for (int64_t i = 0; i < threads; ++i) {
      shares[i].next = chunks * i / threads * grain;
      shares[i].end = std::min(n, chunks * (i + 1) / threads * grain);
    }
  }

  // The thread's own share, then what is left of the others'.
  void run_chunks(int64_t thread) {
    inside_body = true;
    for (int64_t i = 0; i < std::ssize(shares); ++i) {
      Share& share = shares[(thread + i) % std::ssize(shares)];
      for (;;) {
        const int64_t begin = share.next.fetch_add(grain, std::memory_order_relaxed);
        if (begin >= share.end) break;
        run_chunk(begin);
      }
    }
    inside_body = false;
  }

 private:
  void run_chunk(int64_t begin) {
    try {
      body(begin, std::min(begin + grain, n));
    } catch (...) {
      for (Share& share : shares) share.next.store(n, std::memory_order_relaxed);
      std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
  }
};

// Waits until `ready` of the value, first by looking and then asleep; returns the value.
template <class T, class Ready>
T wait_for(const std::atomic<T>& value, Ready ready) {
  using Clock = std::chrono::steady_clock;
  T now = value.load();
  if (ready(now)) return now;
  const Clock::time_point start = Clock::now();
  for (auto waited = Clock::duration::zero(); !ready(now) && waited < look_time;) {
    if (waited > alone_time) sched_yield();
    now = value.load();
    waited = Clock::now() - start;
  }
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
  explicit Pool(int threads) : shares_(threads) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
  }
  ~Pool() {
    stop_ = true;
    announce();
    for (auto& worker : workers_) worker.join();
  }

  // False when another thread's job has the pool: the caller then does its work alone.
  bool run(int64_t n, int64_t grain, ChunkBody body) {
    std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn) return false;
    Job job{n, grain, body, shares_};
    job.cut();
    job_ = &job;
    announce();
    job.run_chunks(0);
    job_ = nullptr;  // a worker that wakes from now on finds nothing
    wait_for(inside_, [](int count) { return count == 0; });
    if (job.error) std::rethrow_exception(job.error);
    return true;
  }

 private:
  void announce() {
    epoch_.fetch_add(1);
    epoch_.notify_all();
  }

  void work(int64_t thread) {
    uint32_t seen = 0;
    for (;;) {
      seen = wait_for(epoch_, [seen](uint32_t epoch) { return epoch != seen; });
      if (stop_) return;
      inside_.fetch_add(1);
      if (Job* job = job_) job->run_chunks(thread);
      if (inside_.fetch_sub(1) == 1) inside_.notify_one();
    }
  }

  std::vector<Share> shares_;
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
  std::unique_ptr<Pool> pool = count > 1 ? std::make_unique<Pool>(count) : nullptr;
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
    Pool* pool = the_threads().pool.get();
    if (pool && pool->run(n, grain, body)) return;
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
  if (count > 1) it.pool = std::make_unique<Pool>(count);
}

}  // namespace fovea
