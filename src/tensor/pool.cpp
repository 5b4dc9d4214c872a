#include "fovea/tensor/pool.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "fovea/base/error.h"

// Under AddressSanitizer a block that waits for reuse may not be read, nor what lies behind the
// bytes that were asked for.
#if defined(__SANITIZE_ADDRESS__)
#define FOVEA_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FOVEA_POISONS 1
#endif
#endif
#ifdef FOVEA_POISONS
#include <sanitizer/asan_interface.h>
#else
#define FOVEA_POISONS 0
#define ASAN_POISON_MEMORY_REGION(data, bytes)
#define ASAN_UNPOISON_MEMORY_REGION(data, bytes)
#endif

namespace fovea::pool {
namespace {

constexpr size_t alignment = 64;
constexpr int steps = 4;  // size classes in each doubling: at most a quarter of a block is unused
constexpr int classes = 48 * steps;
// A request may use a free block of a class this much further up (twice the size): batches of
// varying length would otherwise leave one idle block in every class.
constexpr int reach = steps;

struct Class {
  int index;
  size_t bytes;
};

Class class_of(size_t bytes) {
  bytes = std::max(bytes, alignment * steps);
  const int log = std::bit_width(bytes - 1) - 1;  // 2^log < bytes <= 2^(log+1)
  const size_t step = (size_t{1} << log) / steps;
  const size_t part = (bytes - (size_t{1} << log) + step - 1) / step;  // 1..steps
  return {log * steps + static_cast<int>(part) - 1, (size_t{1} << log) + part * step};
}

class Pool {
 public:
  void* take(size_t bytes) {
    const Class c = class_of(bytes);
    check(c.index < classes, "memory: a block of ", bytes, " bytes is more than any machine has");
    std::lock_guard lock(mutex_);
    for (int i = c.index; i < std::min(c.index + reach, classes); ++i) {
      if (free_[i].empty()) continue;
      const Block block = free_[i].back();
      free_[i].pop_back();
      stats_.held_bytes -= static_cast<int64_t>(block.bytes);
      // A larger block is remembered under the smaller class from now on, with its true size.
      return hand_out(block, bytes);
    }
    void* data = std::aligned_alloc(alignment, c.bytes + alignment);
    if (!data) fail("memory: the system has no ", c.bytes, " bytes to give");
    ++stats_.system_allocations;
    return hand_out({data, c.bytes}, bytes);
  }

  void release(void* data) {
    std::lock_guard lock(mutex_);
    const Block block{static_cast<char*>(data) - alignment,
                      *reinterpret_cast<size_t*>(static_cast<char*>(data) - alignment)};
    stats_.live_bytes -= static_cast<int64_t>(block.bytes);
    stats_.held_bytes += static_cast<int64_t>(block.bytes);
    ASAN_POISON_MEMORY_REGION(data, block.bytes);
    free_[class_of(block.bytes).index].push_back(block);
  }

  // Round a fork(), so that the child does not find the lock held by a thread it does not have.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  Stats stats() {
    std::lock_guard lock(mutex_);
    return stats_;
  }

  void trim() {
    std::lock_guard lock(mutex_);
    for (auto& blocks : free_) {
      for (const Block& block : blocks) {
        ASAN_UNPOISON_MEMORY_REGION(block.data, block.bytes + alignment);
        std::free(block.data);
      }
      blocks.clear();
    }
    stats_.held_bytes = 0;
  }

 private:
  // The first 64 bytes keep the block's true size, since it may serve requests of several classes.
  struct Block {
    void* data;
    size_t bytes;
  };

  void* hand_out(const Block& block, [[maybe_unused]] size_t bytes) {
    stats_.live_bytes += static_cast<int64_t>(block.bytes);
    stats_.peak_live_bytes = std::max(stats_.peak_live_bytes, stats_.live_bytes);
    *static_cast<size_t*>(block.data) = block.bytes;
    void* data = static_cast<char*>(block.data) + alignment;
    ASAN_POISON_MEMORY_REGION(data, block.bytes);
    ASAN_UNPOISON_MEMORY_REGION(data, bytes);
    return data;
  }

  std::mutex mutex_;
  std::array<std::vector<Block>, classes> free_;
  Stats stats_{};
};

// Never constructed nor destroyed while the program runs: static objects of the host may use arrays
// before and after main.
union Static {
  Pool pool;
  constexpr Static() : pool() {}
  ~Static() {}
};
constinit Static the;

[[maybe_unused]] const int at_fork =
    pthread_atfork([] { the.pool.lock(); }, [] { the.pool.unlock(); }, [] { the.pool.unlock(); });

}  // namespace

void* take(size_t bytes) { return the.pool.take(bytes); }
void release(void* block) { the.pool.release(block); }
bool reports_late_reads() { return FOVEA_POISONS == 1; }
Stats stats() { return the.pool.stats(); }
void trim() { the.pool.trim(); }

}  // namespace fovea::pool
