#include "fovea/train/trainer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>

#include "fovea/base/file.h"
#include "fovea/op/tape.h"
#include "fovea/train/average.h"
#include "fovea/train/checkpoint.h"
#include "fovea/train/run_log.h"
#include "fovea/train/run_state.h"
#include "fovea/train/sharded_step.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool finite(const Tensor& x) {
  return std::ranges::all_of(x.read(), [](float value) { return std::isfinite(value); });
}

// `gradient`: of the first parameter whose gradient is not finite, its name; "": of none.
[[noreturn]] void report_not_finite(int64_t step, double loss, const Parameters& parameters,
                                    const std::string& gradient) {
  std::string where = "no single layer";
  for (const auto& entry : parameters.entries()) {
    const bool weights = !finite(entry);
    if (!weights && entry.name() != gradient) continue;
    where = say(weights ? "the weights '" : "the gradient of '", entry.name(), "'");
    break;
  }
  fail("training: the loss is ", loss, " at step ", step, "; the first to stop being finite is ",
       where, "; try a smaller rate, a smaller clip, or a longer warmup");
}

std::string first_not_finite(const Parameters& parameters, const Gradients& gradients) {
  for (const auto& entry : parameters.entries()) {
    if (gradients.has(entry) && !finite(gradients[entry])) return entry.name();
  }
  return "";
}

// f(T{}) for the type of the numbers in x, whole numbers too.
template <class F>
void with_any(const Tensor& x, F&& f) {
  if (x.dtype() == Dtype::i32) {
    f(int32_t{});
  } else {
    with_real(x.dtype(), f);
  }
}

// What rank 0 tells the others to do next.
enum class Order : int32_t { step, save, stop };

class Run {
 public:
  Run(Learner& learner, const TrainCall& call)
      : learner_(learner),
        o_(call.options),
        call_(call),
        budget_(seconds_of(o_.time)),
        ranks_(call.ranks ? *call.ranks : alone_.at(0)),
        schedule_(schedule_options(o_)),
        snapshots_(learner.parameters(), leads() ? o_.average : 0) {
    if (o_.sequence_parallel) o_.shards = ranks_.size();
    if (o_.shards > 1 || ranks_.size() > 1) {
      sharded_ = std::make_unique<ShardedStep>(learner, o_, call.groups, ranks_);
    } else {
      optimizer_ = make_optimizer(learner.parameters(), optimizer_options(o_), call.groups);
    }
    check(budget_ > 0 || o_.steps > 0 || o_.epochs > 0,
          "training: needs a budget: time, steps or epochs");
    check(o_.accumulate >= 1, "training: accumulate must be at least 1, got ", o_.accumulate);
    check(o_.average >= 0,
          "training: average must be 0 (off) or how many snapshots to average, got ", o_.average);
    if (!call.folder.empty() && leads()) make_folder(call.folder);
    // Rank 0 alone looks, so that all go on from the same state, or none does.
    const bool there =
        leads() && !call.folder.empty() && call.resume && std::filesystem::exists(state_path());
    if (broadcast_value(ranks_, there)) resume();
    if (!call.folder.empty() && leads()) log_.emplace(call.folder, state_.step, o_.tensorboard);
  }

  TrainResult operator()() {
    start_ = saved_ = Clock::now();
    if (!resumed_ && leads()) {
      fitted_ = learner_.fit(
          {[this] { return stopped() || out_of_time() || enough(); }, call_.fit_tries});
    }
    if (!resumed_ && learner_.fits()) share_all_weights();
    check_same_weights();
    if (!leads()) return follow();
    const bool is_fitted = resumed_ || !stopped();
    // What was fitted may stay the best of all.
    if (!resumed_ && learner_.fits() && learner_.learns_by_steps() && is_fitted) validate();
    if (learner_.learns_by_steps()) batches_ = learner_.begin_epoch(state_.epoch);
    std::string why;
    while ((why = why_stop()).empty()) {
      tell_others(Order::step);
      step();
      const bool new_epoch = state_.batch >= batches_;
      if (o_.validate_every > 0 ? state_.step % o_.validate_every == 0 : new_epoch) validate();
      if (new_epoch) next_epoch();
      if (seconds_since(saved_) > o_.save_every) save();
    }
    TrainResult result{.stopped = why,
                       .steps = state_.step,
                       .epochs = state_.epoch,
                       .best_step = state_.best_step,
                       .first_step = state_.step - steps_here_,
                       .seconds = seconds(),
                       .step_seconds = state_.step_seconds / std::max<double>(1, state_.step),
                       .best = {},
                       .fitted = fitted_};
    const bool measured = state_.best && state_.validated_step == state_.step;
    if (result.stopped != "interrupted" && !measured) validate();
    result.best_step = state_.best_step;
    if (is_fitted) save();  // else it is fitted again, and whole, when the run goes on
    tell_others(Order::stop);
    if (sharded_) result.wait_seconds = sharded_->waited() / std::max<double>(1, steps_here_);
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
  // Whether this rank decides.
  bool leads() const { return ranks_.rank() == 0; }

  void tell_others(Order order) {
    if (ranks_.size() > 1) broadcast_value(ranks_, order);
  }

  // What every rank but the first does: as it is told.
  TrainResult follow() {
    if (learner_.learns_by_steps()) batches_ = learner_.begin_epoch(state_.epoch);
    for (;;) {
      switch (broadcast_value(ranks_, Order::stop)) {
        case Order::step:
          step();
          if (state_.batch >= batches_) next_epoch();
          break;
        case Order::save:
          sharded_->state();
          break;
        case Order::stop: {
          TrainResult result;
          result.steps = state_.step;
          return result;
        }
      }
    }
  }

  void next_epoch() {
    batches_ = learner_.begin_epoch(++state_.epoch);
    state_.batch = 0;
  }

  // What was fitted on rank 0 alone.
  void share_all_weights() {
    for (const Parameter& p : learner_.parameters().entries()) {
      Tensor value = p;
      with_any(value,
               [&]<class T>(T) { broadcast(ranks_, std::as_writable_bytes(value.write<T>())); });
      p = value;
    }
  }

  // Ranks that read other data, or are of another build, would go on to nobody's weights.
  void check_same_weights() {
    if (ranks_.size() == 1) return;
    uint64_t hash = 0;
    for (const Parameter& p : learner_.parameters().entries()) {
      hash = hash * 31 + hash_name(p.name());
      const auto bytes = p.value().bytes();
      hash = hash * 31 + hash_name({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    const auto all = all_gather_value(ranks_, hash);
    for (size_t r = 1; r < all.size(); ++r) {
      check(all[r] == all[0], "training: rank ", r, " begins with other weights than rank 0; ",
            "all need the same program, and the same data under the same path");
    }
  }

  void resume() {
    const Safetensors file = Safetensors::open(state_path());
    state_ = RunState::read(file, state_path());
    load_parameters(file, state_path(), learner_.parameters(), "parameter/");
    if (sharded_) {
      sharded_->restore(file);
    } else {
      optimizer_->restore(file);
    }
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
    if (call_.fit_only || !learner_.learns_by_steps()) return "fitted";
    if (o_.steps > 0 && state_.step >= o_.steps) return "steps";
    if (o_.epochs > 0 && state_.epoch >= o_.epochs) return "epochs";
    if (out_of_time() || enough()) return "time";
    if (learner_.parameters().entries().empty()) return "nothing to learn";
    if (o_.early_stop > 0 && state_.stale >= o_.early_stop) return "early stop";
    return "";
  }

  void step() {
    const auto began = Clock::now();
    const Random random = Random(o_.seed).fork("train").fork(static_cast<uint64_t>(state_.step));
    const int64_t parts = std::min(o_.accumulate, batches_ - state_.batch);
    const double loss = sharded_ ? step_in_shards(parts, random) : step_alone(parts, random);
    state_.step_seconds += seconds_since(began);
    state_.loss_sum += loss;
    ++state_.loss_count;
    ++steps_here_;
    if (leads()) tell(state_.step % RunLog::every == 0, {});
  }

  double step_in_shards(int64_t parts, const Random& random) {
    const int64_t first = state_.batch;
    state_.batch += parts;
    ++state_.step;
    const auto figures = sharded_->gradient(
        first, parts, random, [this] { return schedule_.factor(state_.step, done()); });
    if (!std::isfinite(figures.loss) || (o_.clip > 0 && !std::isfinite(figures.norm))) {
      report_not_finite(state_.step, figures.loss, learner_.parameters(), sharded_->not_finite());
    }
    sharded_->update(figures, o_.clip);
    tokens_ += figures.tokens;
    rate_ = o_.rate * figures.factor;
    return figures.loss;
  }

  double step_alone(int64_t parts, Random random) {
    Gradients sum;
    double loss = 0;
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
      report_not_finite(state_.step, loss, learner_.parameters(),
                        first_not_finite(learner_.parameters(), sum));
    }
    optimizer_->step(sum, factor);
    rate_ = o_.rate * factor;
    return loss;
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
    if (sharded_) tell_others(Order::save);
    std::vector<NamedTensor> arrays = sharded_ ? sharded_->state() : optimizer_->state();
    std::ranges::move(snapshots_.state(), std::back_inserter(arrays));
    save_parameters(state_path(), learner_.parameters(), "parameter/", std::move(arrays),
                    now.metadata());
  }

  Learner& learner_;
  TrainOptions o_;
  const TrainCall& call_;
  double budget_;
  InMemoryRanks alone_{1};
  Communicator& ranks_;
  Schedule schedule_;
  std::unique_ptr<Optimizer> optimizer_;  // or, where batches are cut into shards,
  std::unique_ptr<ShardedStep> sharded_;
  Snapshots snapshots_;
  std::vector<Tensor> best_;  // weights, where there is no folder for them
  FitChoice fitted_;          // what was fitted here
  std::optional<RunLog> log_;
  RunState state_;
  Clock::time_point start_ = Clock::now(), saved_ = start_, told_ = start_;
  int64_t batches_ = 0, tokens_ = 0, steps_here_ = 0;
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
