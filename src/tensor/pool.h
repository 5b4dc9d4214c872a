// Memory for arrays, kept for reuse: a steady training step asks the system for none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fovea::pool {

// 64-byte aligned and uninitialised.
void* take(size_t bytes);
void release(void* block);

struct Stats {
  int64_t system_allocations;  // calls that the pool could not serve from what it holds
  int64_t live_bytes;          // handed out now
  int64_t held_bytes;          // free, waiting for reuse
  int64_t peak_live_bytes;
};
Stats stats();

// Gives everything that waits for reuse back to the system.
void trim();

}  // namespace fovea::pool
