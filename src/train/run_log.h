// What a training run writes down on its way: metrics.jsonl, and TensorBoard's files when asked.
#pragma once

#include <memory>
#include <string>

#include "fovea/base/file.h"
#include "fovea/train/event_file.h"

namespace fovea {

struct TrainProgress;

class RunLog {
 public:
  static constexpr int64_t every = 50;  // steps between lines

  // Lines of steps after `step` are dropped: a run that resumes there writes them again.
  RunLog(const std::string& folder, int64_t step, bool tensorboard);
  // Writes one line, and with tensorboard a point of each curve.
  void add(const TrainProgress& progress);

 private:
  std::string path_;
  Descriptor file_;
  std::unique_ptr<EventFile> events_;
};

}  // namespace fovea
