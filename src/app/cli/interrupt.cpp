#include "fovea/app/cli/interrupt.h"

#include <csignal>
#include <ctime>

namespace fovea::cli {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<int64_t> first_at{0};  // milliseconds
static_assert(std::atomic<int64_t>::is_always_lock_free);

int64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

// One wish to stop can arrive twice: timeout(1) signals the process and then its whole group. Only
// a person who asks again after waiting means "without saving".
void on_signal(int signal) {
  const int64_t now = now_ms();
  if (!interrupted) {
    first_at = now;
    interrupted = true;
  } else if (now - first_at >= 500) {
    std::signal(signal, SIG_DFL);
    raise(signal);
  }
}

}  // namespace

const std::atomic<bool>& watch_for_interrupt() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

}  // namespace fovea::cli
