// The one place that owns threads. Work is cut into chunks by its size alone, never by the number
// of threads, so that a sum over chunks has the same bits with 1, 2 or 4 of them.
#pragma once

#include <cstdint>
#include <type_traits>

namespace fovea {

// Borrowed callable: parallel_for never outlives the call, so nothing is copied or allocated.
class ChunkBody {
 public:
  // Any f(begin, end) that lives as long as the call.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, ChunkBody>)
      ChunkBody(F&& f)  // NOLINT: implicit on purpose
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, int64_t begin, int64_t end) {
          (*static_cast<std::remove_reference_t<F>*>(object))(begin, end);
        }) {}
  // Does the chunk [begin, end).
  void operator()(int64_t begin, int64_t end) const { call_(object_, begin, end); }

 private:
  void* object_;
  void (*call_)(void*, int64_t, int64_t);
};

// Calls body(begin, end) for every chunk [k*grain, min((k+1)*grain, n)) of [0, n), on any thread
// and in any order; a grain below 1 counts as 1. A call from inside a body runs its chunks in turn
// on that thread, and so does one that finds the workers busy with another thread's loop: callers
// never wait for each other. The first exception a body throws is thrown again here once all chunks
// have stopped. Works in static constructors and destructors, and in a child of fork(), which gets
// workers of its own; only a loop that was running in the forking thread itself ends with an Error.
void parallel_for(int64_t n, int64_t grain, ChunkBody body);

// Threads that parallel_for may use, the caller's included: FOVEA_THREADS, else the CPUs this
// process may run on.
int threads();
// Changes it for the whole process, once the loop that is running has ended; an Error inside one.
void set_threads(int count);

}  // namespace fovea
