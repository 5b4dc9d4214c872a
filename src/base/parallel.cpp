// Why a pool of our own rather than OpenMP: libgomp decides between spinning and sleeping from an
// environment variable read before main, either choice is many times slower on some machine, and
// ThreadSanitizer cannot see through it. `bench/parallel_bench` shows the figures.
#include "fovea/base/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

thread_local bool inside_body = false;

constexpr int most_threads = 1024;

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
  std::span<Share> shares;  // one for each thread
  std::exception_ptr error{};
  std::atomic<bool> failed{false};

  void cut() {
    const int64_t chunks = (n - 1) / grain + 1, threads = std::ssize(shares);
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
      if (!failed.exchange(true)) error = std::current_exception();
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

int usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

int first_thread_count() {
  const char* text = std::getenv("FOVEA_THREADS");
  if (!text || !*text) return std::min(usable_cpus(), most_threads);
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  check(*end == '\0' && count >= 1 && count <= most_threads,
        "FOVEA_THREADS needs a whole number from 1 to ", most_threads, ", got '", text, "'");
  return static_cast<int>(count);
}

// A job is handed over without a lock: a worker counts itself in before it looks for the job, and
// the caller takes the job away before it looks whether anybody is in. Whatever the order, either
// the worker finds nothing or the caller waits for it.
//
// The pool is never constructed, destroyed or locked by more than an atomic: static objects of the
// host program may use it before and after main, and a child of fork() starts it anew whatever the
// parent's threads were doing.
class Pool {
 public:
  // Threads that a loop may use, the caller's included.
  int count() {
    const int known = count_;
    if (known > 0) return known;
    int none = 0;
    const int first = first_thread_count();
    return count_.compare_exchange_strong(none, first) ? first : none;
  }

  void set_count(int count) {
    while (taken_.exchange(1)) taken_.wait(1);
    count_ = count;
    crowd_ = 0;
    if (alive_ >= count) {
      announce();  // wakes the workers that are now too many
      wait_for(alive_, [count](int alive) { return alive < count; });
    }
    give_back();
  }

  // False when another thread's job has the pool, or when the callers themselves keep every core
  // busy and a worker would only take turns with them: the caller then does its work alone.
  bool run(int64_t n, int64_t grain, ChunkBody body) {
    const int wanted = count();
    if (wanted == 1) return false;
    if (callers_.load(std::memory_order_relaxed) >= wanted) {
      crowd_.store(crowd_loops, std::memory_order_relaxed);
      return false;
    }
    if (crowd_.load(std::memory_order_relaxed) > 0) {
      crowd_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    if (taken_.exchange(1)) return false;
    const int threads = count_;  // no longer changes
    if (!has_workers(threads)) {
      give_back();
      return false;
    }
    const uint32_t generation = generation_;
    Job job{n, grain, body, std::span(shares_).first(static_cast<size_t>(threads))};
    job.cut();
    job_ = &job;
    announce();
    job.run_chunks(0);
    check(generation == generation_, forked_inside);
    job_ = nullptr;  // a worker that wakes from now on finds nothing
    wait_for(inside_, [](int count) { return count == 0; });
    give_back();
    if (job.failed) std::rethrow_exception(job.error);
    return true;
  }

  // A thread that is in a loop of its own, counted while it is.
  class Caller {
   public:
    explicit Caller(Pool& pool) : callers_(pool.callers_) {
      callers_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Caller() { callers_.fetch_sub(1, std::memory_order_relaxed); }

   private:
    std::atomic<int>& callers_;
  };

  // In a child of fork() there is one thread and there are no workers; what the others held is
  // free.
  void start_anew() {
    generation_.fetch_add(1);
    job_ = nullptr;
    inside_ = 0;
    alive_ = 0;
    callers_ = 0;
    taken_ = 0;
  }

 private:
  static constexpr const char* forked_inside =
      "parallel_for: the process was forked inside this loop, and the threads that had a part in "
      "it are in the parent only; fork outside, or let the child end inside";

  // So many loops go alone after a crowd was seen: its callers are between two loops now and then.
  static constexpr int crowd_loops = 100;

  void give_back() {
    taken_ = 0;
    taken_.notify_one();
  }

  void announce() {
    epoch_.fetch_add(1);
    epoch_.notify_all();
  }

  // Starts those that are missing. A machine that gives no more threads is no reason to fail.
  bool has_workers(int threads) {
    while (alive_ < threads - 1) {
      const int thread = alive_.fetch_add(1) + 1;
      try {
        std::thread([this, thread, epoch = epoch_.load()] { work(thread, epoch); }).detach();
      } catch (const std::system_error&) {
        --alive_;
        return false;
      }
    }
    return true;
  }

  void work(int thread, uint32_t seen) {
    const uint32_t generation = generation_;
    for (;;) {
      seen = wait_for(epoch_, [seen](uint32_t epoch) { return epoch != seen; });
      if (thread >= count_) break;
      inside_.fetch_add(1);
      if (Job* job = job_) job->run_chunks(thread);
      check(generation == generation_, forked_inside);  // ends the child, which cannot go on
      if (inside_.fetch_sub(1) == 1) inside_.notify_one();
    }
    alive_.fetch_sub(1);
    alive_.notify_one();
  }

  std::array<Share, most_threads> shares_;
  std::atomic<int> count_{0};       // 0: nobody has asked yet
  std::atomic<int> alive_{0};       // workers, numbered from 1
  std::atomic<int> taken_{0};       // 1: somebody has the pool
  std::atomic<int> callers_{0};     // threads inside parallel_for, workers not counted
  std::atomic<int> crowd_{0};       // loops that still go alone
  std::atomic<uint32_t> epoch_{0};  // jobs so far, modulo 2^32: what a futex can wait for
  std::atomic<Job*> job_{nullptr};
  std::atomic<int> inside_{0};           // workers that may be using job_
  std::atomic<uint32_t> generation_{0};  // forks between the first process and this one
};
static_assert(std::is_trivially_destructible_v<Pool>);

constinit Pool the_pool;

[[maybe_unused]] const int at_fork =
    pthread_atfork(nullptr, nullptr, [] { the_pool.start_anew(); });

void run_alone(int64_t n, int64_t grain, ChunkBody body) {
  struct Inside {  // a loop is one, whoever runs it
    bool before = std::exchange(inside_body, true);
    ~Inside() { inside_body = before; }
  };
  const Inside inside;
  for (int64_t begin = 0; begin < n; begin += grain) body(begin, std::min(begin + grain, n));
}

}  // namespace

void parallel_for(int64_t n, int64_t grain, ChunkBody body) {
  grain = std::max<int64_t>(grain, 1);
  if (n <= grain) {
    if (n > 0) body(0, n);
    return;
  }
  if (inside_body) return run_alone(n, grain, body);
  const Pool::Caller caller(the_pool);
  if (!the_pool.run(n, grain, body)) run_alone(n, grain, body);
}

int threads() { return the_pool.count(); }

void set_threads(int count) {
  check(count >= 1 && count <= most_threads, "set_threads: needs a number from 1 to ", most_threads,
        ", got ", count);
  check(!inside_body, "set_threads: called inside a parallel_for, whose threads it would change");
  the_pool.set_count(count);
}

}  // namespace fovea
