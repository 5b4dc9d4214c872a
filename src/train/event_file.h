// Curves for TensorBoard: its event files, written by hand. A record is a length, the payload and a
// checksum of each; the payload is a protocol buffer (tensorflow/core/util/event.proto).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fovea/base/file.h"

namespace fovea {

class EventFile {
 public:
  // Makes a new file events.out.tfevents.<seconds> in the folder (made if absent). A run that
  // resumes makes another one: TensorBoard reads all files of a folder as one run, and nothing is
  // ever appended behind a record that a kill cut short.
  EventFile(const std::string& folder, int64_t wall_seconds);

  // One point of the curve `tag`; in the file when this returns.
  void scalar(std::string_view tag, int64_t step, double value, double wall_time);

  const std::string& path() const { return path_; }  // of the file, folder included

 private:
  void append(std::string_view payload);

  std::string path_;
  Descriptor file_;
};

}  // namespace fovea
