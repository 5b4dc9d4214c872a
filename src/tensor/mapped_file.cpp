#include "fovea/tensor/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {

MappedFile::MappedFile(const std::string& path) {
  // O_NONBLOCK: a named pipe must be refused below, not waited for here.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about;
  if (!file.is_open() || fstat(file.get(), &about) != 0) {
    fail<ErrorKind::io>("cannot open '", path, "': ", std::strerror(errno));
  }
  check<ErrorKind::io>(S_ISREG(about.st_mode), "cannot open '", path, "': it is not a file");
  if (about.st_size == 0) return;  // mmap takes no empty range
  void* memory = mmap(nullptr, about.st_size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) fail<ErrorKind::io>("cannot map '", path, "': ", std::strerror(errno));
  bytes_ = {static_cast<const std::byte*>(memory), static_cast<size_t>(about.st_size)};
}

void MappedFile::forget(std::span<const std::byte> part) const {
  if (bytes_.empty() || part.empty()) return;
  // Whole pages within the part.
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace fovea
