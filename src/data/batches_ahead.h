// What a step needs, made by another thread while the steps before it run: decoding pictures, say.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"

namespace fovea {

// make(i) gives batch i, whoever calls it: which thread made a batch, and when, changes no bit of
// it. At most `most` are ready at a time. Where only one thread is to be used, nothing is made
// ahead.
template <class Batch>
class BatchesAhead {
 public:
  BatchesAhead() = default;
  BatchesAhead(const BatchesAhead&) = delete;
  BatchesAhead& operator=(const BatchesAhead&) = delete;
  ~BatchesAhead() { stop(); }

  // Batches 0 to count - 1 from now on; those of before are forgotten.
  void start(int64_t count, std::function<Batch(int64_t)> make, size_t most = 4) {
    stop();
    count_ = count, make_ = std::move(make), most_ = most, next_ = 0;
  }

  // Batch i; mostly that after the last one. Throws what making it threw.
  Batch take(int64_t i) {
    check(i >= 0 && i < count_, "batches: there is no batch ", i, " of ", count_);
    if (threads() <= 1) return make_(i);
    if (!thread_.joinable() || i != next_) begin(i);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || failed_; });
    if (ready_.empty()) {
      const std::exception_ptr failed = failed_;
      lock.unlock();
      stop();
      std::rethrow_exception(failed);
    }
    Batch batch = std::move(ready_.front());
    ready_.pop_front();
    next_ = i + 1;
    changed_.notify_all();
    return batch;
  }

  // Ends the thread.
  void stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    thread_.join();
    ready_.clear();
    stopping_ = false, failed_ = nullptr;
  }

 private:
  void begin(int64_t first) {
    stop();
    next_ = first;
    thread_ = std::thread([this, first] {
      try {
        for (int64_t i = first; i < count_; ++i) {
          {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return ready_.size() < most_ || stopping_; });
            if (stopping_) return;
          }
          Batch batch = make_(i);
          const std::lock_guard lock(mutex_);
          ready_.push_back(std::move(batch));
          changed_.notify_all();
        }
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failed_ = std::current_exception();
        changed_.notify_all();
      }
    });
  }

  int64_t count_ = 0, next_ = 0;
  std::function<Batch(int64_t)> make_;
  size_t most_ = 4;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  bool stopping_ = false;
  std::exception_ptr failed_;
};

}  // namespace fovea
