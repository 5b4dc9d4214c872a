// Memory for arrays, kept for reuse: a steady training step asks the system for none. Every thread
// may call, also in static constructors and destructors and in a child of fork().
#pragma once

#include <cstddef>
#include <cstdint>

namespace fovea::pool {

// 64-byte aligned and uninitialised.
void* take(size_t bytes);
// Under AddressSanitizer, whoever reads the block afterwards is reported.
void release(void* block);
// Whether that is so in this build.
bool reports_late_reads();

// What the pool has done and holds.
struct Stats {
  int64_t system_allocations;  // calls that the pool could not serve from what it holds
  int64_t live_bytes;          // handed out now
  int64_t held_bytes;          // free, waiting for reuse
  int64_t peak_live_bytes;     // the most that were handed out at once
};
// As it stands now.
Stats stats();

// Gives everything that waits for reuse back to the system.
void trim();

}  // namespace fovea::pool
