#include "fovea/base/communicator.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>

#include "fovea/base/error.h"

namespace fovea {

void finish(const std::unique_ptr<Transfer>& transfer) {
  while (!transfer->done(1)) {
  }
}

void finish(std::vector<std::unique_ptr<Transfer>>& transfers) {
  for (const auto& one : transfers) finish(one);
  transfers.clear();
}

void send(Communicator& ranks, int to, int tag, std::span<const std::byte> bytes) {
  finish(ranks.start_send(to, tag, bytes));
}

void receive(Communicator& ranks, int from, int tag, std::span<std::byte> bytes) {
  finish(ranks.start_receive(from, tag, bytes));
}

// Along a binomial tree: rank 2^k + r (counted from `from`) hears from r. Each step doubles those
// who know.
void broadcast(Communicator& ranks, std::span<std::byte> bytes, int from) {
  const int n = ranks.size(), me = (ranks.rank() - from + n) % n;
  int span = 1;
  while (span <= me) span *= 2;
  if (me > 0) receive(ranks, (me - span / 2 + from) % n, tag_small, bytes);
  std::vector<std::unique_ptr<Transfer>> sent;
  for (; me + span < n; span *= 2) {
    sent.push_back(ranks.start_send((me + span + from) % n, tag_small, bytes));
  }
  finish(sent);
}

void all_gather(Communicator& ranks, std::span<const std::span<std::byte>> parts) {
  const int n = ranks.size(), me = ranks.rank();
  check(static_cast<int>(parts.size()) == n, "all_gather: ", n, " ranks need as many parts, got ",
        parts.size());
  std::vector<std::unique_ptr<Transfer>> transfers;
  for (int k = 1; k < n; ++k) {
    const int to = (me + k) % n, other = (me - k + n) % n;
    transfers.push_back(ranks.start_receive(other, tag_small, parts[static_cast<size_t>(other)]));
    transfers.push_back(ranks.start_send(to, tag_small, parts[static_cast<size_t>(me)]));
  }
  finish(transfers);
}

void barrier(Communicator& ranks) { all_gather_value(ranks, char{}); }

struct InMemoryRanks::Mail {
  using Box = std::tuple<int, int, int>;  // from, to, tag
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<Box, std::deque<std::vector<std::byte>>> boxes;
  std::map<Box, std::pair<uint64_t, uint64_t>> turns;  // receives asked for and done
  int lost = -1;
};

class InMemoryRanks::End final : public Communicator {
 public:
  End(std::shared_ptr<Mail> mail, int rank, int size)
      : mail_(std::move(mail)), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  // A message is copied, and so is sent at once.
  std::unique_ptr<Transfer> start_send(int to, int tag, std::span<const std::byte> bytes) override {
    check(to >= 0 && to < size_, "ranks: there is no rank ", to);
    const std::lock_guard lock(mail_->mutex);
    mail_->boxes[{rank_, to, tag}].emplace_back(bytes.begin(), bytes.end());
    mail_->arrived.notify_all();
    return std::make_unique<Sent>();
  }

  std::unique_ptr<Transfer> start_receive(int from, int tag, std::span<std::byte> bytes) override {
    check(from >= 0 && from < size_, "ranks: there is no rank ", from);
    const std::lock_guard lock(mail_->mutex);
    const Mail::Box box{from, rank_, tag};
    return std::make_unique<Receiving>(*mail_, box, bytes, mail_->turns[box].first++);
  }

 private:
  struct Sent final : Transfer {
    bool done(double) override { return true; }
  };

  struct Receiving final : Transfer {
    Receiving(Mail& mail_of, const Mail::Box& from, std::span<std::byte> bytes, uint64_t my_turn)
        : mail(mail_of), box(from), to(bytes), turn(my_turn) {}

    bool done(double seconds) override {
      std::unique_lock lock(mail.mutex);
      if (through) return true;
      auto& waiting = mail.boxes[box];
      const auto here = [&] {
        return mail.lost >= 0 || (mail.turns[box].second == turn && !waiting.empty());
      };
      if (!here() && seconds > 0) {
        mail.arrived.wait_for(lock, std::chrono::duration<double>(seconds), here);
      }
      if (!here()) return false;
      check(mail.lost < 0, "ranks: rank ", mail.lost, " is lost");
      check(waiting.front().size() == to.size(), "ranks: ", waiting.front().size(),
            " bytes came where ", to.size(), " were awaited");
      if (!to.empty()) std::memcpy(to.data(), waiting.front().data(), to.size());
      waiting.pop_front();
      ++mail.turns[box].second;
      mail.arrived.notify_all();
      return through = true;
    }

    Mail& mail;
    Mail::Box box;
    std::span<std::byte> to;
    uint64_t turn;
    bool through = false;
  };

  std::shared_ptr<Mail> mail_;
  int rank_, size_;
};

InMemoryRanks::InMemoryRanks(int count) : mail_(std::make_shared<Mail>()) {
  check(count >= 1, "ranks: at least one is needed, got ", count);
  for (int r = 0; r < count; ++r) ends_.push_back(std::make_unique<End>(mail_, r, count));
}

InMemoryRanks::~InMemoryRanks() = default;

Communicator& InMemoryRanks::at(int rank) const {
  check(rank >= 0 && rank < static_cast<int>(ends_.size()), "ranks: there is no rank ", rank);
  return *ends_[static_cast<size_t>(rank)];
}

void InMemoryRanks::lose(int rank) {
  const std::lock_guard lock(mail_->mutex);
  mail_->lost = rank;
  mail_->arrived.notify_all();
}

}  // namespace fovea
