#include "fovea/train/options.h"

#include <algorithm>
#include <map>

namespace fovea {

const Fields<TrainOptions>& budget_fields() {
  using O = TrainOptions;
  static const Fields<O> fields{
      {"time", &O::time, "train so long: 90s, 5m, 2h"},
      {"steps", &O::steps, "train so many steps", whole_from(1, 1e15)},
      {"epochs", &O::epochs, "train so many times through the data", whole_from(1, 1e12)},
      {"early_stop", &O::early_stop, "stop after so many validations without a better; 0: never",
       whole_from(0, 1e9)},
  };
  return fields;
}

const Fields<TrainOptions>& training_fields() {
  using O = TrainOptions;
  static const Fields<O> fields{
      {"batch", &O::batch, "examples a batch", whole_from(1, 1e6)},
      {"batch_tokens", &O::batch_tokens, "most tokens a batch; 0: no limit", whole_from(0, 1e9)},
      {"accumulate", &O::accumulate, "batches that make one step", whole_from(1, 1e6)},
      {"shards", &O::shards, "parts of a batch that processes share", whole_from(1, 4096)},
      {"sequence_parallel", &O::sequence_parallel, "processes share every sequence, not the batch"},
      {"optimizer", &O::optimizer, "how gradients become steps",
       one_of({"adam", "adamw", "sgd", "adadelta", "rmsprop"})},
      {"rate", &O::rate, "learning rate", above(0, 1e3)},
      {"beta1", &O::beta1, "of adam", part_of_one()},
      {"beta2", &O::beta2, "of adam", part_of_one()},
      {"eps", &O::eps, "of adam, adadelta and rmsprop", above(0, 1)},
      {"momentum", &O::momentum, "of sgd", part_of_one()},
      {"rho", &O::rho, "of adadelta and rmsprop", part_of_one()},
      {"centred", &O::centred, "rmsprop takes the mean gradient off"},
      {"weight_decay", &O::weight_decay, "decay of the weights", between(0, 1e3)},
      {"schedule", &O::schedule, "how the rate changes",
       one_of({"constant", "inverse_sqrt", "cosine", "linear", "step", "plateau"})},
      {"warmup", &O::warmup, "steps in which the rate rises to its value", whole_from(0, 1e12)},
      {"decay", &O::decay, "factor of the schedules step and plateau", above(0, 1)},
      {"decay_every", &O::decay_every, "steps between decays of the schedule step",
       whole_from(0, 1e12)},
      {"hold", &O::hold, "steps before the first decay of the schedule step", whole_from(0, 1e12)},
      {"patience", &O::patience, "validations that the schedule plateau waits", whole_from(0, 1e9)},
      {"floor", &O::floor, "least factor of a schedule", between(0, 1)},
      {"clip", &O::clip, "longest gradient; 0: any", between(0, 1e12)},
      {"smoothing", &O::smoothing, "label smoothing", part_of_one()},
      {"validate_every", &O::validate_every, "steps between validations; 0: epochs",
       whole_from(0, 1e12)},
      {"validate_examples", &O::validate_examples, "validate on so many; 0: all",
       whole_from(0, 1e12)},
      {"keep_best", &O::keep_best, "keep the best weights rather than the last"},
      {"average", &O::average, "keep the mean of the weights at so many last validations; 0: off",
       whole_from(0, 1e4)},
      {"save_every", &O::save_every, "seconds between states to resume from", between(0, 1e9)},
      {"tensorboard", &O::tensorboard, "write TensorBoard's event files"},
      {"seed", &O::seed, "of first values, order and dropout", whole_from(0, 9.2e18)},
  };
  return fields;
}

std::vector<FieldInfo> training_options(const Settings& settings, const TrainOptions& start) {
  const TrainOptions o = training_fields().read(settings, start);
  // Options that only some optimisers or schedules read.
  static const std::map<std::string, std::vector<std::string>> readers{
      {"beta1", {"adam", "adamw"}},
      {"beta2", {"adam", "adamw"}},
      {"eps", {"adam", "adamw", "adadelta", "rmsprop"}},
      {"momentum", {"sgd"}},
      {"rho", {"adadelta", "rmsprop"}},
      {"centred", {"rmsprop"}},
      {"decay", {"step", "plateau"}},
      {"decay_every", {"step"}},
      {"hold", {"step"}},
      {"patience", {"plateau"}},
      {"floor", {"cosine", "linear", "plateau", "inverse_sqrt", "step"}},
  };
  std::vector<FieldInfo> all;
  for (FieldInfo& info : training_fields().infos(start)) {
    const auto found = readers.find(info.name);
    const auto reads = [&](const std::string& kind) {
      return std::ranges::find(found->second, kind) != found->second.end();
    };
    if (found == readers.end() || reads(o.optimizer) || reads(o.schedule)) {
      all.push_back(std::move(info));
    }
  }
  return all;
}

}  // namespace fovea
