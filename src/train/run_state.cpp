#include "fovea/train/run_state.h"

#include <nlohmann/json.hpp>

namespace fovea {
namespace {

constexpr const char* key = "run";

}

Safetensors::Metadata RunState::metadata() const {
  const nlohmann::json all{{"step", step},
                           {"epoch", epoch},
                           {"batch", batch},
                           {"validated_step", validated_step},
                           {"best_step", best_step},
                           {"stale", stale},
                           {"best", best ? nlohmann::json(*best) : nlohmann::json()},
                           {"best_name", best_name},
                           {"best_is_higher", best_is_higher},
                           {"seconds", seconds},
                           {"step_seconds", step_seconds},
                           {"loss_sum", loss_sum},
                           {"loss_count", loss_count},
                           {"schedule", schedule}};
  return {{key, all.dump()}};
}

RunState RunState::read(const Safetensors& file, const std::string& path) {
  const std::string* text = file.metadata(key);
  check<ErrorKind::input>(text, path, ": is not the state of a training run");
  try {
    const auto all = nlohmann::json::parse(*text);
    RunState s;
    all.at("step").get_to(s.step);
    all.at("epoch").get_to(s.epoch);
    all.at("batch").get_to(s.batch);
    all.at("validated_step").get_to(s.validated_step);
    all.at("best_step").get_to(s.best_step);
    all.at("stale").get_to(s.stale);
    if (!all.at("best").is_null()) s.best = all.at("best").get<double>();
    all.at("best_name").get_to(s.best_name);
    all.at("best_is_higher").get_to(s.best_is_higher);
    all.at("seconds").get_to(s.seconds);
    all.at("step_seconds").get_to(s.step_seconds);
    all.at("loss_sum").get_to(s.loss_sum);
    all.at("loss_count").get_to(s.loss_count);
    all.at("schedule").get_to(s.schedule);
    return s;
  } catch (const nlohmann::json::exception& error) {
    fail<ErrorKind::input>(path, ": is not the state of a training run: ", error.what());
  }
}

}  // namespace fovea
