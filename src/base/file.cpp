#include "fovea/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// The file beside the target that becomes it. A fixed name, not a random one, so that processes
// killed while they write leave one file at most; writers of the same target take turns by a lock.
class Draft {
 public:
  explicit Draft(const std::string& target) : target_(target), path_(target + ".tmp") {
    for (;;) {
      file_ = Descriptor(
          open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
      if (!file_.is_open()) fail_with_errno();
      // A file system without locks still gets its file, only without the turns.
      while (flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
      }
      // While this one waited, the writer before it may have renamed or removed what was opened.
      struct stat opened, named;
      if (fstat(file_.get(), &opened) != 0) fail_with_errno();
      check<ErrorKind::io>(S_ISREG(opened.st_mode), "cannot write '", target_, "': '", path_,
                           "' is not a file");
      if (lstat(path_.c_str(), &named) == 0 && named.st_ino == opened.st_ino &&
          named.st_dev == opened.st_dev) {
        return;
      }
    }
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    if (!renamed_) unlink(path_.c_str());
  }

  void clear() {
    if (ftruncate(file_.get(), 0) != 0) fail_with_errno();
  }

  // What was private stays private. Not every file system has modes, so this may fail.
  void take_mode(mode_t mode) { static_cast<void>(fchmod(file_.get(), mode & 07777)); }

  void append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail_with_errno();
      bytes = bytes.subspan(count);
    }
  }

  void become_target() {
    if (fsync(file_.get()) != 0) fail_with_errno();
    if (rename(path_.c_str(), target_.c_str()) != 0) fail_with_errno();
    renamed_ = true;
  }

 private:
  [[noreturn]] void fail_with_errno() const {
    fail<ErrorKind::io>("cannot write '", target_, "': ", std::strerror(errno));
  }

  std::string target_, path_;
  Descriptor file_;
  bool renamed_ = false;
};

// Makes a rename in the folder of `path` survive a power cut. Not every file system can sync a
// folder, and not every folder we may write to may be opened: neither takes the new file back.
void sync_folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open() && fsync(opened.get()) != 0 && errno == EIO) {
    fail<ErrorKind::io>("wrote '", path, "' but could not sync its folder: ", std::strerror(EIO));
  }
}

}  // namespace

Descriptor::~Descriptor() {
  if (is_open()) close(number_);
}

void write_file_atomically(const std::string& path,
                           std::span<const std::span<const std::byte>> pieces) {
  // Renaming asks no permission of the file it replaces, so that is asked here; and renaming over a
  // device such as /dev/null would replace it, for the whole machine.
  struct stat old;
  const bool replaces = stat(path.c_str(), &old) == 0;
  if (replaces) {
    check<ErrorKind::io>(S_ISREG(old.st_mode), "cannot write '", path,
                         "': what is there now is not a file");
    if (access(path.c_str(), W_OK) != 0)
      fail<ErrorKind::io>("cannot write '", path, "': ", std::strerror(errno));
  }
  Draft draft(path);
  draft.clear();
  if (replaces) draft.take_mode(old.st_mode);
  for (const auto& piece : pieces) draft.append(piece);
  draft.become_target();
  sync_folder_of(path);
}

void write_file_atomically(const std::string& path, std::span<const std::byte> bytes) {
  write_file_atomically(path, std::span(&bytes, 1));
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  check<ErrorKind::io>(!error && std::filesystem::is_directory(path, error),
                       "cannot make the folder '", path,
                       "': ", error ? error.message() : "what is there now is not a folder");
}

}  // namespace fovea
