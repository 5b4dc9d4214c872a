#include "fovea/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fovea/base/error.h"
#include "fovea/base/names.h"

namespace fovea {
namespace {

const std::vector<std::string> names = {"constant", "inverse_sqrt", "cosine",
                                        "linear",   "step",         "plateau"};

}  // namespace

Schedule::Schedule(const ScheduleOptions& options) : options_(options) {
  const ScheduleOptions& o = options_;
  if (std::ranges::find(names, o.schedule) == names.end()) {
    fail(unknown_name("schedule", o.schedule, names));
  }
  check(o.warmup >= 0, o.schedule, ": the warm-up cannot be negative, got ", o.warmup, " steps");
  check(o.schedule != "inverse_sqrt" || o.warmup > 0,
        "inverse_sqrt: needs a warm-up of at least 1 step, got ", o.warmup);
  check(o.schedule != "step" || o.decay_every > 0,
        "step: decay_every must be at least 1 step, got ", o.decay_every);
  check(o.decay > 0 && o.decay <= 1, o.schedule, ": the decay must be in (0, 1], got ", o.decay);
  check(o.patience >= 0, o.schedule, ": the patience cannot be negative, got ", o.patience);
  check(o.floor >= 0 && o.floor <= 1, o.schedule, ": the floor must be in [0, 1], got ", o.floor);
}

double Schedule::factor(int64_t step, double progress) const {
  check(step >= 1, "schedule: steps count from 1, got ", step);
  const ScheduleOptions& o = options_;
  const double at = static_cast<double>(step), left = 1 - std::clamp(progress, 0.0, 1.0);
  const double warm = step < o.warmup ? at / static_cast<double>(o.warmup) : 1;
  double factor = 1;
  if (o.schedule == "inverse_sqrt") {
    if (step > o.warmup) factor = std::sqrt(static_cast<double>(o.warmup) / at);
  } else if (o.schedule == "cosine") {
    factor = o.floor + (1 - o.floor) * (1 - std::cos(std::numbers::pi * left)) / 2;
  } else if (o.schedule == "linear") {
    factor = o.floor + (1 - o.floor) * left;
  } else if (o.schedule == "step") {
    factor = std::pow(o.decay, std::max<int64_t>(0, step - 1 - o.hold) / o.decay_every);
  } else if (o.schedule == "plateau") {
    factor = plateau_;
  }
  return warm * std::max(factor, o.floor);
}

void Schedule::validated(double metric) {
  if (options_.schedule != "plateau") return;
  if (std::isfinite(metric) && (!seen_ || metric > best_)) {
    seen_ = true;
    best_ = metric;
    stale_ = 0;
  } else if (++stale_ > options_.patience) {
    plateau_ *= options_.decay;
    stale_ = 0;
  }
}

std::vector<double> Schedule::state() const {
  return {seen_ ? 1.0 : 0.0, best_, static_cast<double>(stale_), plateau_};
}

void Schedule::restore(std::span<const double> state) {
  check(state.size() == 4, "schedule: a saved state has 4 numbers, got ", state.size());
  seen_ = state[0] != 0;
  best_ = state[1];
  stale_ = static_cast<int64_t>(state[2]);
  plateau_ = state[3];
}

}  // namespace fovea
