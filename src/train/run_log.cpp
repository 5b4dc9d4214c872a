#include "fovea/train/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/train/trainer.h"

namespace fovea {
namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The lines up to `step`; the last line of a killed run may be half a line.
std::string lines_until(const std::string& path, int64_t step) {
  std::ifstream file(path);
  std::string kept, line;
  while (std::getline(file, line)) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || json.value("step", step + 1) > step) break;
    kept += line + "\n";
  }
  return kept;
}

}  // namespace

RunLog::RunLog(const std::string& folder, int64_t step, bool tensorboard)
    : path_(folder + "/metrics.jsonl") {
  const std::string kept = step > 0 ? lines_until(path_, step) : "";
  write_file_atomically(path_, std::as_bytes(std::span(kept)));
  file_ = Descriptor(open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  check<ErrorKind::io>(file_.is_open(), path_, ": cannot be written: ", std::strerror(errno));
  if (tensorboard) {
    events_ = std::make_unique<EventFile>(folder, static_cast<int64_t>(wall_seconds()));
  }
}

void RunLog::add(const TrainProgress& p) {
  nlohmann::json line{{"step", p.step},       {"epoch", p.epoch},
                      {"seconds", p.seconds}, {"loss", p.loss},
                      {"rate", p.rate},       {"tokens_per_second", p.tokens_per_second}};
  for (const Metric& m : p.validation) line["validation"][m.name] = m.value;
  const std::string text = line.dump() + "\n";
  check<ErrorKind::io>(
      write(file_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()), path_,
      ": cannot be written: ", std::strerror(errno));
  if (!events_) return;
  const double now = wall_seconds();
  events_->scalar("loss", p.step, p.loss, now);
  events_->scalar("rate", p.step, p.rate, now);
  for (const Metric& m : p.validation)
    events_->scalar("validation/" + m.name, p.step, m.value, now);
}

}  // namespace fovea
