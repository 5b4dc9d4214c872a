#include "fovea/train/trainer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>

#include "fovea/op/tape.h"
#include "fovea/train/average.h"
#include "fovea/train/checkpoint.h"
#include "fovea/train/run_log.h"
#include "fovea/train/run_state.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool finite(const Tensor& x) {
  return std::ranges::all_of(x.read(), [](float value) { return std::isfinite(value); });
}

[[noreturn]] void report_not_finite(int64_t step, double loss, const Parameters& parameters,
                                    const Gradients& gradients) {
  std::string where = "no single layer";
  for (const auto& entry : parameters.entries()) {
    const bool weights = !finite(entry);
    if (!weights && (!gradients.has(entry) || finite(gradients[entry]))) continue;
    where = say(weights ? "the weights '" : "the gradient of '", entry.name(), "'");
    break;
  }
  fail("training: the loss is ", loss, " at step ", step, "; the first to stop being finite is ",
       where, "; try a smaller rate, a smaller clip, or a longer warmup");
}

class Run {
 public:
  Run(Learner& learner, const TrainCall& call)
      : learner_(learner),
        o_(call.options),
        call_(call),
        budget_(seconds_of(o_.time)),
        schedule_(schedule_options(o_)),
        optimizer_(make_optimizer(learner.parameters(), optimizer_options(o_), call.groups)),
        snapshots_(learner.parameters(), o_.average) {
    check(budget_ > 0 || o_.steps > 0 || o_.epochs > 0,
          "training: needs a budget: time, steps or epochs");
    check(o_.accumulate >= 1, "training: accumulate must be at least 1, got ", o_.accumulate);
    check(o_.average >= 0,
          "training: average must be 0 (off) or how many snapshots to average, got ", o_.average);
    if (call.folder.empty()) return;
    std::filesystem::create_directories(call.folder);
    if (call.resume && std::filesystem::exists(state_path())) resume();
    log_.emplace(call.folder, state_.step, o_.tensorboard);
  }

  TrainResult operator()() {
    start_ = saved_ = Clock::now();
    if (!resumed_) learner_.fit([this] { return stopped() || out_of_time() || enough(); });
    const bool is_fitted = resumed_ || !stopped();
    // What was fitted may stay the best of all.
    if (!resumed_ && learner_.fits() && learner_.learns_by_steps() && is_fitted) validate();
    if (learner_.learns_by_steps()) batches_ = learner_.begin_epoch(state_.epoch);
    std::string why;
    while ((why = why_stop()).empty()) {
      step();
      const bool new_epoch = state_.batch >= batches_;
      if (o_.validate_every > 0 ? state_.step % o_.validate_every == 0 : new_epoch) validate();
      if (new_epoch) batches_ = learner_.begin_epoch(++state_.epoch), state_.batch = 0;
      if (seconds_since(saved_) > o_.save_every) save();
    }
    TrainResult result{.stopped = why,
                       .steps = state_.step,
                       .epochs = state_.epoch,
                       .best_step = state_.best_step,
                       .seconds = seconds(),
                       .step_seconds = state_.step_seconds / std::max<double>(1, state_.step),
                       .best = {}};
    const bool measured = state_.best && state_.validated_step == state_.step;
    if (result.stopped != "interrupted" && !measured) validate();
    result.best_step = state_.best_step;
    if (is_fitted) save();  // else it is fitted again, and whole, when the run goes on
    if (result.stopped != "interrupted") snapshots_.mean_in_place().keep();
    if (!best_.empty()) Replaced(learner_.parameters(), std::move(best_)).keep();
    if (state_.best) {
      result.best = Metric{state_.best_name, state_.best_is_higher, *state_.best};
    }
    return result;
  }

 private:
  std::string state_path() const { return call_.folder + "/state.safetensors"; }
  double seconds() const { return state_.seconds + seconds_since(start_); }

  void resume() {
    const Safetensors file = Safetensors::open(state_path());
    state_ = RunState::read(file, state_path());
    load_parameters(file, state_path(), learner_.parameters(), "parameter/");
    optimizer_->restore(file);
    snapshots_.restore(file, state_path());
    schedule_.restore(state_.schedule);
    resumed_ = true;
  }

  double done() const {
    if (!learner_.learns_by_steps()) return 1;
    double part = 0;
    if (budget_ > 0) part = std::max(part, seconds() / budget_);
    if (o_.steps > 0) part = std::max(part, static_cast<double>(state_.step) / o_.steps);
    if (o_.epochs > 0) {
      const double epochs = state_.epoch + static_cast<double>(state_.batch) / batches_;
      part = std::max(part, epochs / o_.epochs);
    }
    return std::min(part, 1.0);
  }

  bool stopped() const { return call_.stop && *call_.stop; }
  bool enough() const { return call_.enough && call_.enough(state_.step); }
  bool out_of_time() const { return budget_ > 0 && seconds() >= budget_; }

  // Asked once a step: what it says may not stay the same.
  std::string why_stop() {
    if (stopped() || (call_.stop_when && call_.stop_when())) return "interrupted";
    if (!learner_.learns_by_steps()) return "fitted";
    if (o_.steps > 0 && state_.step >= o_.steps) return "steps";
    if (o_.epochs > 0 && state_.epoch >= o_.epochs) return "epochs";
    if (out_of_time() || enough()) return "time";
    if (learner_.parameters().entries().empty()) return "nothing to learn";
    if (o_.early_stop > 0 && state_.stale >= o_.early_stop) return "early stop";
    return "";
  }

  void step() {
    const auto began = Clock::now();
    Gradients sum;
    double loss = 0;
    Random random = Random(o_.seed).fork("train").fork(static_cast<uint64_t>(state_.step));
    const int64_t parts = std::min(o_.accumulate, batches_ - state_.batch);
    for (int64_t i = 0; i < parts; ++i, ++state_.batch) {
      Tape tape(random);
      const Learner::Loss one = learner_.loss(state_.batch);
      Gradients gradients = tape.backward(one.loss);
      loss += one.loss.item() / static_cast<double>(parts);
      tokens_ += one.tokens;
      if (i == 0) {
        sum = std::move(gradients);
      } else {
        sum += gradients;
      }
    }
    if (parts > 1) sum *= 1.0 / static_cast<double>(parts);
    ++state_.step;
    const double factor = schedule_.factor(state_.step, done());
    double norm = 0;
    if (o_.clip > 0) norm = clip_by_norm(learner_.parameters(), sum, o_.clip);
    if (!std::isfinite(loss) || !std::isfinite(norm)) {
      report_not_finite(state_.step, loss, learner_.parameters(), sum);
    }
    optimizer_->step(sum, factor);
    state_.step_seconds += seconds_since(began);
    state_.loss_sum += loss;
    ++state_.loss_count;
    rate_ = o_.rate * factor;
    tell(state_.step % RunLog::every == 0, {});
  }

  void tell(bool log, std::vector<Metric> validation) {
    const double since = seconds_since(told_);
    TrainProgress p{.step = state_.step,
                    .epoch = state_.epoch,
                    .done = done(),
                    .seconds = seconds(),
                    .loss = state_.loss_count > 0 ? state_.loss_sum / state_.loss_count : loss_,
                    .rate = rate_,
                    .tokens_per_second = since > 0 ? static_cast<double>(tokens_) / since : 0,
                    .validation = std::move(validation)};
    loss_ = p.loss;
    if (log && log_) log_->add(p);
    if (call_.progress) call_.progress(p);
    if (!log) return;
    state_.loss_sum = 0, state_.loss_count = 0, tokens_ = 0;
    told_ = Clock::now();
  }

  void validate() {
    snapshots_.add();
    tell(true, measure_and_keep());
  }

  std::vector<Metric> measure_and_keep() {
    const Replaced shipped = snapshots_.mean_in_place();
    std::vector<Metric> metrics = learner_.validate();
    check(!metrics.empty(), "training: the task measured nothing");
    const Metric& first = metrics[0];
    const double worth = first.higher_is_better ? first.value : -first.value;
    const double before = state_.best ? (first.higher_is_better ? *state_.best : -*state_.best)
                                      : -std::numeric_limits<double>::infinity();
    // Of equals the later one is kept, as it has learned longer, but it is no reason to go on.
    const bool keep = worth >= before || !state_.best;
    state_.validated_step = state_.step;
    state_.stale = worth > before ? 0 : state_.stale + 1;
    if (keep) {
      state_.best = first.value, state_.best_step = state_.step;
      state_.best_name = first.name, state_.best_is_higher = first.higher_is_better;
    }
    schedule_.validated(worth);
    if (keep && o_.keep_best && call_.folder.empty()) {
      best_.clear();  // shares the weights' memory until the next step writes to them
      for (const Parameter& p : learner_.parameters().entries()) best_.push_back(p);
    }
    if ((keep || !o_.keep_best) && !call_.folder.empty()) {
      save_parameters(call_.folder + "/model.safetensors", learner_.parameters());
    }
    return metrics;
  }

  void save() {
    saved_ = Clock::now();
    if (call_.folder.empty()) return;
    RunState now = state_;
    now.seconds = seconds();
    now.schedule = schedule_.state();
    std::vector<NamedTensor> arrays = optimizer_->state();
    std::ranges::move(snapshots_.state(), std::back_inserter(arrays));
    save_parameters(state_path(), learner_.parameters(), "parameter/", std::move(arrays),
                    now.metadata());
  }

  Learner& learner_;
  TrainOptions o_;
  const TrainCall& call_;
  double budget_;
  Schedule schedule_;
  std::unique_ptr<Optimizer> optimizer_;
  Snapshots snapshots_;
  std::vector<Tensor> best_;  // weights, where there is no folder for them
  std::optional<RunLog> log_;
  RunState state_;
  Clock::time_point start_ = Clock::now(), saved_ = start_, told_ = start_;
  int64_t batches_ = 0, tokens_ = 0;
  bool resumed_ = false;
  double rate_ = 0, loss_ = 0;
};

}  // namespace

double seconds_of(const std::string& time) {
  if (time.empty()) return 0;
  double number = 0;
  const char* end = time.data() + time.size();
  const auto [rest, error] = std::from_chars(time.data(), end, number);
  const std::string unit(rest, end);
  check(error == std::errc() && number > 0 &&
            (unit.empty() || unit == "s" || unit == "m" || unit == "h"),
        "time: needs a number of seconds, minutes or hours such as 90s, 5m or 2h, got '", time,
        "'");
  return number * (unit == "h" ? 3600 : unit == "m" ? 60 : 1);
}

TrainResult train(Learner& learner, const TrainCall& call) { return Run(learner, call)(); }

}  // namespace fovea
