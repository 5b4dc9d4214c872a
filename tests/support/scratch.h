// A folder for one test's files, the text of an Error, and where large data sets lie.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fovea/base/error.h"
#include "support/paths.h"

namespace fovea::test {

// Removed with this object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "fovea_XXXXXX";
    check(mkdtemp(name.data()) != nullptr, name, ": cannot be made");
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  // Makes the file and gives its path.
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::string path_;
};

// What the Error that f throws says; "" without one.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// A file of the data sets that are not part of the project: below FOVEA_DATA, else beside the
// project; "" when it is not there.
inline std::string shared_data(const std::string& name) {
  const char* folder = getenv("FOVEA_DATA");
  const std::string path =
      (folder ? std::string(folder) : golden_path("../../../shared/data")) + "/" + name;
  return std::filesystem::exists(path) ? path : "";
}

}  // namespace fovea::test
