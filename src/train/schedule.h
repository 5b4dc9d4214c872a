// How the learning rate moves while training.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fovea {

// Each schedule is the factor on the base rate after a linear warm-up of `warmup` steps, in which
// it is multiplied by step / warmup:
//   constant      1
//   inverse_sqrt  sqrt(warmup / step) once warm (Vaswani et al. 2017); needs warmup > 0
//   cosine        from 1 to `floor` along half a wave over the whole budget
//   linear        from 1 to `floor` along a line over the whole budget
//   step          times `decay` after every `decay_every` steps, behind the first `hold` steps
//   plateau       times `decay` whenever more than `patience` validations in a row were no better
//                 than the best
// step, plateau and inverse_sqrt stop falling at `floor`.
struct ScheduleOptions {
  std::string schedule = "constant";  // one of the names above
  int64_t warmup = 0;                 // steps; 0: none
  double decay = 0.5;                 // step, plateau; in (0, 1]
  int64_t decay_every = 0;            // step; in steps, at least 1
  int64_t hold = 0;                   // step; in steps
  int64_t patience = 2;               // plateau; in validations
  double floor = 0;                   // part of the base rate, 0 to 1
};

// One of the schedules, with what it learned from validations.
class Schedule {
 public:
  explicit Schedule(const ScheduleOptions& options);

  // On the base rate at step (from 1) when `progress` in [0, 1] of the budget is done.
  double factor(int64_t step, double progress) const;
  // The plateau schedule learns how a validation went; higher is better.
  void validated(double metric);

  // What must survive a restart; all finite numbers.
  std::vector<double> state() const;
  // Goes on from what state() gave.
  void restore(std::span<const double> state);

 private:
  ScheduleOptions options_;
  bool seen_ = false;   // a validation that gave a number
  double best_ = 0;     // its best
  int64_t stale_ = 0;   // validations since the best or the last decay
  double plateau_ = 1;  // the factor so far
};

}  // namespace fovea
