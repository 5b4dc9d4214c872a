#include "fovea/app/cli/model_folder.h"

#include <fmt/core.h>

#include <filesystem>

#include "fovea/base/error.h"

namespace fovea::cli {

namespace fs = std::filesystem;

std::string model_folder(const std::string& folder) {
  const fs::path path(folder);
  if (fs::exists(path / "config.json") || !fs::exists(path / "compare.json")) return folder;
  const fs::path best = path / "best";
  check(fs::exists(best / "config.json"), folder,
        ": is a comparison without a finished run; compare first, or name a run of ",
        (path / "runs").string());
  std::error_code ignored;
  const fs::path run = path / fs::read_symlink(best, ignored);
  fmt::print(stderr, "{}: a comparison; this is its best, {}\n", folder,
             ignored ? best.string() : run.lexically_normal().string());
  return ignored ? best.string() : run.lexically_normal().string();
}

void link_best(const std::string& folder, const std::string& run) {
  // A link is replaced by renaming, so that there is always one.
  const fs::path link = fs::path(folder) / "best", made = fs::path(folder) / "best.tmp";
  fs::remove(made);
  fs::create_directory_symlink(run, made);
  fs::rename(made, link);
}

}  // namespace fovea::cli
