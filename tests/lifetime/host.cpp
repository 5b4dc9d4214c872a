// A host program of fovea::core that asks more of it than most: static objects that attend before
// and after main, forks beside a busy thread, threads that come and go. `host WHAT` runs one of
// these and returns 0 when all is well; under AddressSanitizer nothing may leak or be used late.
#include <fovea/core.h>
#include <fovea/tensor/pool.h>
#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

using namespace fovea;

namespace {

Tensor random_tensor(const Shape& shape) {
  Random random(7);
  return init::normal(1)(shape, random).to(Dtype::f32);
}

// Long enough for every thread to get a part: fused, by rows (entmax), and as plain ops.
double attended() {
  const Tensor x = random_tensor({1, 256, 2, 16});
  const AttentionInputs in{.q = x, .k = x, .v = x};
  const Tensor fused = attend(in).context;
  const Tensor rows = attend(in, dot_score(), entmax_alignment(1.5)).context;
  return sum(square(fused)).item() + sum(square(rows)).item() +
         sum(matmul(x.reshaped({512, 16}), x.reshaped({16, 512}))).item();
}

void expect(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "host: %s\n", what);
  std::_Exit(1);
}

// Constructed before main and destroyed after it, with what main has used in between.
struct Late {
  std::vector<Tensor> kept;
  double first = attended();
  ~Late() {
    expect(attended() == first, "a static destructor got other numbers");
    kept.clear();
    set_threads(3);
    expect(attended() == first, "a static destructor got other numbers with other threads");
  }
} late;

int use_in_statics() {
  late.kept.push_back(random_tensor({1000}));
  return attended() == late.first ? 0 : 1;
}

// Whether the child comes to its end by itself.
bool ends_well(pid_t child) {
  for (int tenths = 0; tenths < 600; ++tenths) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) && !WEXITSTATUS(status);
    usleep(tenths < 100 ? 1000 : 100000);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return false;
}

int fork_beside_a_busy_thread() {
  const double want = attended();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    const Tensor x = random_tensor({1, 64, 2, 16});
    while (!stop) attend({.q = x, .k = x, .v = x});
  });
  for (int round = 0; round < 300; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(attended() == want ? 0 : 1);
    expect(ends_well(child), "a child of fork() did not work");
  }
  stop = true;
  busy.join();
  expect(attended() == want, "the parent no longer works");
  // Inside a loop the child has only its own part of it, and must say so rather than wait.
  set_threads(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> arrived{0};
  pid_t child = -1;
  try {
    parallel_for(2, 1, [&](int64_t, int64_t) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();  // so that each thread has one of the two
      if (std::this_thread::get_id() == caller) child = fork();
    });
  } catch (const Error&) {
    _exit(child == 0 ? 3 : 1);
  }
  if (child == 0) _exit(1);
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 3, "a child forked inside a loop went on");
  return 0;
}

int threads_come_and_go() {
  auto some = [](int count) {
    for (int i = 0; i < count; ++i) std::thread([] { attended(); }).join();
    pool::trim();
    malloc_trim(0);
    return mallinfo2().uordblks + mallinfo2().hblkhd;
  };
  const size_t before = some(20), after = some(200);
  // A thread keeps about 100 kB of scratch; were one in ten kept, this would be 2 MB.
  expect(after < before + (1u << 20), "threads that ended have left memory behind");
  return 0;
}

int errors_through_futures() {
  for (int round = 0; round < 20; ++round) {
    auto bad = std::async(std::launch::async, [] {
      const Tensor x = random_tensor({1, 4, 1, 8}), y = random_tensor({1, 4, 1, 9});
      attend({.q = x, .k = y, .v = y});
    });
    auto worse = std::async(std::launch::async, [] {
      parallel_for(1000, 1, [](int64_t i, int64_t) { check(i != 500, "chunk ", i); });
    });
    auto good = std::async(std::launch::async, attended);
    try {
      bad.get();
      return 1;
    } catch (const Error&) {
    }
    try {
      worse.get();
      return 1;
    } catch (const Error& error) {
      expect(std::strcmp(error.what(), "chunk 500") == 0, error.what());
    }
    expect(good.get() == late.first, "another thread's error changed the numbers");
  }
  return 0;
}

// For the test that FOVEA_TARGET counts in any program.
int say_target() {
  std::puts(kernel::simd_target().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "statics") return use_in_statics();
    if (what == "fork") return fork_beside_a_busy_thread();
    if (what == "threads") return threads_come_and_go();
    if (what == "futures") return errors_through_futures();
    if (what == "target") return say_target();
  } catch (const Error& error) {
    std::fprintf(stderr, "host: %s\n", error.what());
    return 1;
  }
  std::fputs("host: statics, fork, threads, futures or target\n", stderr);
  return 2;
}
