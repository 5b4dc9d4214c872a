// The communicator over MPI. One thread of its own makes all calls of MPI, from the first to the
// last: others hand it what is to be sent or received and go on computing, so that messages move
// while they do, and no MPI needs to be safe for threads. It sleeps in short naps while nothing
// moves, as it shares its core with whoever computes.
#include "fovea/mpi/module.h"

#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "fovea/base/error.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// What becomes of a message, seen from both threads.
struct Progress {
  int left = 0;         // requests that are not through, under the communicator's lock
  bool failed = false;  // one of them never will be
};

struct Request {
  bool is_send;
  int peer, tag;
  std::byte* data;
  size_t bytes;
  std::shared_ptr<Progress> progress;
};

class MpiRanks final : public Communicator {
 public:
  MpiRanks() : thread_([this] { run(); }) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [this] { return state_ != State::starting; });
    if (state_ == State::running) return;
    lock.unlock();
    thread_.join();
    fail("MPI could not start; is this program's MPI the one of mpirun or srun?");
  }

  ~MpiRanks() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      asked_.notify_one();
    }
    thread_.join();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Transfer> start_send(int to, int tag, std::span<const std::byte> bytes) override {
    return start(true, to, tag, const_cast<std::byte*>(bytes.data()), bytes.size());
  }
  std::unique_ptr<Transfer> start_receive(int from, int tag, std::span<std::byte> bytes) override {
    return start(false, from, tag, bytes.data(), bytes.size());
  }

 private:
  enum class State { starting, running, failed };

  class Moving final : public Transfer {
   public:
    Moving(MpiRanks& ranks, std::shared_ptr<Progress> progress)
        : ranks_(ranks), progress_(std::move(progress)) {}
    // Nobody else writes to memory that is about to be someone else's; but a rank that is lost must
    // not keep this one.
    ~Moving() override {
      std::unique_lock lock(ranks_.mutex_);
      ranks_.wait(lock, 5, *progress_);
    }
    bool done(double seconds) override {
      std::unique_lock lock(ranks_.mutex_);
      if (seconds > 0) ranks_.wait(lock, seconds, *progress_);
      check<ErrorKind::io>(!progress_->failed,
                           "a message between ranks was lost: one of them is gone");
      return progress_->left == 0;
    }

   private:
    MpiRanks& ranks_;
    std::shared_ptr<Progress> progress_;
  };

  void wait(std::unique_lock<std::mutex>& lock, double seconds, const Progress& progress) {
    const auto through = [&] { return progress.left == 0 || progress.failed; };
    if (through()) return;
    ++waiting_;
    moved_.wait_for(lock, std::chrono::duration<double>(seconds), through);
    --waiting_;
  }

  std::unique_ptr<Transfer> start(bool is_send, int peer, int tag, std::byte* data, size_t bytes) {
    check(peer >= 0 && peer < size_ && peer != rank_, "ranks: there is no other rank ", peer);
    auto progress = std::make_shared<Progress>();
    const std::lock_guard lock(mutex_);
    // A count of MPI is an int.
    constexpr size_t most = size_t{1} << 30;
    size_t from = 0;
    do {
      const size_t some = std::min(most, bytes - from);
      queue_.push_back({is_send, peer, tag, data + from, some, progress});
      ++progress->left;
      from += some;
    } while (from < bytes);
    asked_.notify_one();
    return std::make_unique<Moving>(*this, std::move(progress));
  }

  // The thread that calls MPI.
  void run() {
    prctl(PR_SET_TIMERSLACK, 1000UL);  // naps are as long as they are meant to be
    int provided = 0;
    const bool ok =
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) == MPI_SUCCESS &&
        provided >= MPI_THREAD_FUNNELED;
    if (ok) {
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
      MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
      MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    {
      const std::lock_guard lock(mutex_);
      state_ = ok ? State::running : State::failed;
      moved_.notify_all();
    }
    if (ok) serve();
  }

  void serve() {
    std::vector<Request> fresh;
    auto last_move = Clock::now();
    int nap = 0;
    for (;;) {
      bool awaited = false;
      {
        std::unique_lock lock(mutex_);
        if (active_.empty()) {
          asked_.wait(lock, [this] { return ending_ || !queue_.empty(); });
          if (queue_.empty()) break;
        }
        fresh.swap(queue_);
        awaited = waiting_ > 0;
      }
      for (const Request& request : fresh) post(request);
      if (!fresh.empty()) last_move = Clock::now(), nap = 0;
      fresh.clear();
      if (test()) {
        last_move = Clock::now(), nap = 0;
        continue;
      }
      // Where somebody waits the core is free; where all compute, it is not.
      if (awaited && Clock::now() - last_move < microseconds(200)) {
        sched_yield();
        continue;
      }
      const int longest = awaited ? 100 : 500;
      nap = std::min(longest, std::max(20, nap + nap / 2));
      std::this_thread::sleep_for(microseconds(nap));
    }
    MPI_Finalize();
  }

  void post(const Request& request) {
    MPI_Request handle = MPI_REQUEST_NULL;
    const auto count = static_cast<int>(request.bytes);
    const int error = request.is_send ? MPI_Isend(request.data, count, MPI_BYTE, request.peer,
                                                  request.tag, MPI_COMM_WORLD, &handle)
                                      : MPI_Irecv(request.data, count, MPI_BYTE, request.peer,
                                                  request.tag, MPI_COMM_WORLD, &handle);
    if (error != MPI_SUCCESS) return through(request.progress, true);
    handles_.push_back(handle);
    active_.push_back(request);
  }

  void through(const std::shared_ptr<Progress>& progress, bool failed) {
    const std::lock_guard lock(mutex_);
    --progress->left;
    progress->failed |= failed;
    moved_.notify_all();
  }

  // Lets MPI work; whether something has come through.
  bool test() {
    if (active_.empty()) return false;
    const auto n = static_cast<int>(handles_.size());
    std::vector<int> which(handles_.size());
    std::vector<MPI_Status> statuses(handles_.size());
    int count = 0;
    const int error = MPI_Testsome(n, handles_.data(), &count, which.data(), statuses.data());
    if (count == MPI_UNDEFINED || count == 0) return false;
    for (int i = 0; i < count; ++i) {
      const Request& request = active_[static_cast<size_t>(which[static_cast<size_t>(i)])];
      const MPI_Status& status = statuses[static_cast<size_t>(i)];
      bool failed = error == MPI_ERR_IN_STATUS && status.MPI_ERROR != MPI_SUCCESS;
      int came = 0;
      if (!failed && !request.is_send) {
        MPI_Get_count(&status, MPI_BYTE, &came);
        failed = static_cast<size_t>(came) != request.bytes;
      }
      through(request.progress, failed);
    }
    size_t kept = 0;
    for (size_t i = 0; i < handles_.size(); ++i) {
      if (handles_[i] == MPI_REQUEST_NULL) continue;
      handles_[kept] = handles_[i];
      active_[kept++] = active_[i];
    }
    handles_.resize(kept);
    active_.resize(kept);
    return true;
  }

  int rank_ = 0, size_ = 1;
  std::mutex mutex_;
  std::condition_variable asked_, moved_;
  State state_ = State::starting;
  bool ending_ = false;
  int waiting_ = 0;             // threads that wait for a message
  std::vector<Request> queue_;  // not yet posted
  std::vector<Request> active_;
  std::vector<MPI_Request> handles_;  // of active_
  std::thread thread_;
};

std::unique_ptr<MpiRanks>& ranks() {
  // Never destroyed by itself: a process that ends without finish() must not wait here.
  static auto* one = new std::unique_ptr<MpiRanks>;
  return *one;
}

}  // namespace
}  // namespace fovea

extern "C" __attribute__((visibility("default"))) const fovea::MpiModule fovea_mpi_module{
    fovea::mpi_module_version,
    []() -> fovea::Communicator* {
      fovea::ranks() = std::make_unique<fovea::MpiRanks>();
      return fovea::ranks().get();
    },
    [] { fovea::ranks().reset(); },
    [](int status) {
      // Not on the thread that may call MPI, which can be stuck; so it gets no more than a moment.
      std::thread([status] {
        std::this_thread::sleep_for(std::chrono::seconds(3));
        std::_Exit(status);
      }).detach();
      MPI_Abort(MPI_COMM_WORLD, status);
      std::_Exit(status);
    },
};
