#include "fovea/tensor/pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "fovea/base/error.h"

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
      stats_.held_bytes -= block.bytes;
      // A larger block is remembered under the smaller class from now on, with its true size.
      return hand_out(block);
    }
    void* data = std::aligned_alloc(alignment, c.bytes + alignment);
    if (!data) fail("memory: the system has no ", c.bytes, " bytes to give");
    ++stats_.system_allocations;
    return hand_out({data, c.bytes});
  }

  void release(void* data) {
    std::lock_guard lock(mutex_);
    const Block block{static_cast<char*>(data) - alignment,
                      *reinterpret_cast<size_t*>(static_cast<char*>(data) - alignment)};
    stats_.live_bytes -= block.bytes;
    stats_.held_bytes += block.bytes;
    free_[class_of(block.bytes).index].push_back(block);
  }

  Stats stats() {
    std::lock_guard lock(mutex_);
    return stats_;
  }

  void trim() {
    std::lock_guard lock(mutex_);
    for (auto& blocks : free_) {
      for (const Block& block : blocks) std::free(block.data);
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

  void* hand_out(const Block& block) {
    stats_.live_bytes += block.bytes;
    stats_.peak_live_bytes = std::max(stats_.peak_live_bytes, stats_.live_bytes);
    *static_cast<size_t*>(block.data) = block.bytes;
    return static_cast<char*>(block.data) + alignment;
  }

  std::mutex mutex_;
  std::array<std::vector<Block>, classes> free_;
  Stats stats_{};
};

// Never destroyed: arrays that outlive main's statics may still come back.
Pool& the_pool() {
  static Pool& it = *new Pool;
  return it;
}

}  // namespace

void* take(size_t bytes) { return the_pool().take(bytes); }
void release(void* block) { the_pool().release(block); }
Stats stats() { return the_pool().stats(); }
void trim() { the_pool().trim(); }

}  // namespace fovea::pool
