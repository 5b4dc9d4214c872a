#include "fovea/kernel/scratch.h"

#include <pthread.h>

#include <atomic>
#include <new>

namespace fovea::kernel {
namespace {

constexpr std::align_val_t alignment{128};

struct Block {
  std::byte* data;
  int64_t bytes;
};
struct Blocks {
  Block of_kind[4];
};

// Without a destructor: those of the main thread's thread_locals run before the host program's
// static objects are destroyed, which may still call us. A thread that ends releases its blocks by
// a key of pthread's, after every C++ destructor of that thread.
constinit thread_local Blocks blocks{};

void release(void* data) {
  for (Block& block : static_cast<Blocks*>(data)->of_kind) {
    ::operator delete(block.data, alignment);
    block = {};
  }
}

// Threads that come first at once make a key each, and the others' are given back: no lock that a
// child of fork() could find held.
pthread_key_t release_key() {
  static constinit std::atomic<int64_t> known{-1};
  int64_t key = known;
  if (key >= 0) return static_cast<pthread_key_t>(key);
  pthread_key_t made;
  if (pthread_key_create(&made, release) != 0) throw std::bad_alloc();
  if (known.compare_exchange_strong(key, made)) return made;
  pthread_key_delete(made);
  return static_cast<pthread_key_t>(key);
}

}  // namespace

std::byte* Scratch::memory(int64_t bytes, Kind kind) {
  Block& block = blocks.of_kind[kind];
  if (block.bytes < bytes) {
    pthread_setspecific(release_key(), &blocks);
    ::operator delete(block.data, alignment);
    block = {};
    block.data = static_cast<std::byte*>(::operator new(static_cast<size_t>(bytes), alignment));
    block.bytes = bytes;
  }
  return block.data;
}

}  // namespace fovea::kernel
