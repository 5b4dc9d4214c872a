#include "fovea/app/cli/rank_jobs.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "fovea/app/cli/interrupt.h"
#include "fovea/app/cli/ranks.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"

namespace fovea::cli {
namespace {

using Clock = std::chrono::steady_clock;

// From the first rank: `bytes` of JSON follow where a job begins.
struct Order {
  enum class What : int32_t { run, stop, end } what;
  int64_t bytes;
};
// To the first rank.
struct News {
  enum class What : int32_t { alive, ended } what;
  int32_t code;
};

// A rank that says nothing for so long is taken for lost; all say something every second.
constexpr double silence = 10;

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

class Elsewhere final : public JobPlace {
 public:
  Elsewhere(Communicator& ranks, int rank) : ranks_(ranks), rank_(rank) { listen(); }

  void start(size_t, const Job& job) override {
    const std::string text = nlohmann::json{{"commands", job.commands}, {"log", job.log}}.dump();
    say_to(Order{Order::What::run, static_cast<int64_t>(text.size())}, text);
  }
  std::optional<int> ended() override {
    hear();
    return std::exchange(code_, {});
  }
  void stop() override { say_to(Order{Order::What::stop, 0}, ""); }
  bool lost() override {
    hear();
    return lost_;
  }
  bool remote() const override { return true; }

 private:
  void listen() { coming_ = ranks_.start_receive(rank_, tag_jobs, bytes_of(news_)); }

  void hear() {
    if (lost_) return;
    try {
      while (coming_->done()) {
        last_ = Clock::now();
        if (news_.what == News::What::ended) code_ = news_.code;
        listen();
      }
    } catch (const Error&) {
      lost_ = true;
    }
    const double quiet = std::chrono::duration<double>(Clock::now() - last_).count();
    if (is_lost(rank_) || quiet > silence) lost_ = true;
    if (lost_) {
      note_lost(rank_);
      // Its memory is still MPI's to write to.
      static std::vector<std::unique_ptr<Transfer>> kept;
      kept.push_back(std::move(coming_));
    }
  }

  // Copies stay until they are sent: the other side may be slow to take them.
  void say_to(const Order& order, const std::string& text) {
    auto message = std::make_unique<Message>();
    message->order = order;
    message->text = text;
    message->sent.push_back(ranks_.start_send(rank_, tag_jobs, bytes_of(message->order)));
    if (!text.empty()) {
      message->sent.push_back(
          ranks_.start_send(rank_, tag_jobs, std::as_bytes(std::span(message->text))));
    }
    messages_.push_back(std::move(message));
  }

  struct Message {
    Order order{};
    std::string text;
    std::vector<std::unique_ptr<Transfer>> sent;
  };

  Communicator& ranks_;
  int rank_;
  News news_{};
  std::unique_ptr<Transfer> coming_;
  std::optional<int> code_;
  std::vector<std::unique_ptr<Message>> messages_;
  Clock::time_point last_ = Clock::now();
  bool lost_ = false;
};

}  // namespace

void add_rank_places(Communicator& ranks, std::vector<std::unique_ptr<JobPlace>>& places) {
  for (int r = 1; r < ranks.size(); ++r) places.push_back(std::make_unique<Elsewhere>(ranks, r));
}

int serve_jobs(Communicator& ranks) {
  watch_for_interrupt();  // the first rank says when to stop
  std::optional<JobProcess> process;
  Order order{};
  auto coming = ranks.start_receive(0, tag_jobs, bytes_of(order));
  auto told = Clock::now();
  const auto tell = [&](News news) {
    send(ranks, 0, tag_jobs, bytes_of(news));
    told = Clock::now();
  };
  for (;;) {
    if (coming->done(0.05)) {
      if (order.what == Order::What::end) break;
      if (order.what == Order::What::stop) {
        if (process) process->stop();
      } else {
        std::string text(static_cast<size_t>(order.bytes), ' ');
        receive(ranks, 0, tag_jobs, std::as_writable_bytes(std::span(text)));
        const auto json = nlohmann::json::parse(text);
        process.emplace(Job{json["commands"], json["log"]}, threads());
      }
      coming = ranks.start_receive(0, tag_jobs, bytes_of(order));
    }
    if (process) {
      if (const std::optional<int> code = process->ended()) {
        process.reset();
        tell({News::What::ended, *code});
      }
    }
    if (Clock::now() - told > std::chrono::seconds(1)) tell({News::What::alive, 0});
    if (is_lost(0)) {
      if (process) process->stop();
      fail("the first rank is gone");
    }
  }
  return 0;
}

void end_rank_jobs(Communicator& ranks) {
  for (int r = 1; r < ranks.size(); ++r) {
    if (is_lost(r)) continue;
    Order order{Order::What::end, 0};
    send(ranks, r, tag_jobs, bytes_of(order));
  }
}

}  // namespace fovea::cli
