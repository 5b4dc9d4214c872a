#include "fovea/data/byte_source.h"

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/buffer.h"

namespace fovea {
namespace {

constexpr size_t buffer_size = 1 << 16;
// What xz -9 needs to unpack is 65 MiB; a file that asks for much more is not worth the memory.
constexpr uint64_t xz_memory = uint64_t{512} << 20;
// zstd --ultra --long=27 is the most that zstd -d takes without being told.
constexpr int zstd_window_log = 27;

[[noreturn]] void fail_damaged(const std::string& path, std::string_view kind) {
  fail<ErrorKind::input>(path, ": the ", kind, " data is damaged; get the file again");
}

// The file as it lies on disk, with a look at its first bytes that a pipe allows too.
class PlainSource : public ByteSource {
 public:
  explicit PlainSource(const std::string& path)
      : path_(path == "-" ? "stdin" : path),
        file_(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                          : open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        buffer_(buffer_size) {
    if (!file_.is_open()) fail_with(errno);
    struct stat about {};
    if (fstat(file_.get(), &about) != 0) fail_with(errno);
    if (S_ISDIR(about.st_mode)) fail_with(EISDIR);
  }

  const std::string& path() const { return path_; }

  bool starts_with(std::string_view magic) {
    const auto seen = [&] { return std::string_view(buffer_.data() + at_, end_ - at_); };
    // Not a byte more than it takes: the other side of a pipe may be waiting for an answer.
    while (seen().size() < magic.size() && magic.starts_with(seen()) && fill()) {
    }
    return seen().starts_with(magic);
  }

  // What can be had without another copy; empty at the end.
  std::span<char> next() {
    if (at_ == end_) {
      at_ = end_ = 0;
      fill();
    }
    const size_t from = std::exchange(at_, end_);
    return buffer_.span().subspan(from, end_ - from);
  }

  size_t read(std::span<char> into) override {
    if (at_ == end_) return read_file(into.data(), into.size());
    const size_t count = std::min(into.size(), end_ - at_);
    std::copy_n(buffer_.data() + at_, count, into.data());
    at_ += count;
    return count;
  }

 private:
  bool fill() {
    const size_t count = read_file(buffer_.data() + end_, buffer_.size() - end_);
    end_ += count;
    return count > 0;
  }
  size_t read_file(char* into, size_t size) const {
    for (;;) {
      const ssize_t count = ::read(file_.get(), into, size);
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) fail_with(errno);
    }
  }
  [[noreturn]] void fail_with(int error) const {
    fail<ErrorKind::io>(path_, ": cannot be read: ", std::strerror(error));
  }

  std::string path_;
  Descriptor file_;
  Buffer buffer_;
  size_t at_ = 0, end_ = 0;
};

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<PlainSource> packed) : packed_(std::move(packed)) {
    check<ErrorKind::input>(inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK, packed_->path(),
                            ": cannot be unpacked: zlib does not start");
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  std::string_view packing() const override { return "gzip"; }
  size_t read(std::span<char> into) override {
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(std::min(into.size(), buffer_size));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted && !at_end_) {
      if (stream_.avail_in == 0) {
        const auto bytes = packed_->next();
        stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
        stream_.avail_in = static_cast<uInt>(bytes.size());
      }
      if (between_members_) {
        start_member();
        continue;
      }
      check<ErrorKind::input>(stream_.avail_in > 0, packed_->path(),
                              ": the gzip data ends too soon; get the file again");
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        between_members_ = true;
      } else if (result != Z_OK) {
        fail_damaged(packed_->path(), "gzip");
      }
    }
    return wanted - stream_.avail_out;
  }

 private:
  // A file may be several gzip files one after the other, and tapes fill up with zeros.
  void start_member() {
    if (stream_.avail_in == 0) {
      at_end_ = true;
    } else if (*stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    } else {
      if (inflateReset(&stream_) != Z_OK) fail_damaged(packed_->path(), "gzip");
      between_members_ = false;
    }
  }

  std::unique_ptr<PlainSource> packed_;
  z_stream stream_{};
  bool between_members_ = false, at_end_ = false;
};

class XzSource : public ByteSource {
 public:
  explicit XzSource(std::unique_ptr<PlainSource> packed) : packed_(std::move(packed)) {
    check<ErrorKind::input>(lzma_stream_decoder(&stream_, xz_memory, LZMA_CONCATENATED) == LZMA_OK,
                            packed_->path(), ": cannot be unpacked: liblzma does not start");
  }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;
  ~XzSource() override { lzma_end(&stream_); }

  std::string_view packing() const override { return "xz"; }
  size_t read(std::span<char> into) override {
    stream_.next_out = reinterpret_cast<uint8_t*>(into.data());
    stream_.avail_out = into.size();
    while (stream_.avail_out == into.size() && !at_end_) {
      if (stream_.avail_in == 0 && !no_more_) {
        const auto bytes = packed_->next();
        stream_.next_in = reinterpret_cast<const uint8_t*>(bytes.data());
        stream_.avail_in = bytes.size();
        no_more_ = bytes.empty();
      }
      const lzma_ret result = lzma_code(&stream_, no_more_ ? LZMA_FINISH : LZMA_RUN);
      if (result == LZMA_STREAM_END) {
        at_end_ = true;
      } else if (result == LZMA_BUF_ERROR) {
        fail<ErrorKind::input>(packed_->path(), ": the xz data ends too soon; get the file again");
      } else if (result == LZMA_MEMLIMIT_ERROR) {
        fail<ErrorKind::input>(packed_->path(), ": to unpack the xz data takes more than ",
                               xz_memory >> 20, " MiB of memory; unpack it with xz -d first");
      } else if (result != LZMA_OK) {
        fail_damaged(packed_->path(), "xz");
      }
    }
    return into.size() - stream_.avail_out;
  }

 private:
  std::unique_ptr<PlainSource> packed_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool no_more_ = false, at_end_ = false;
};

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<PlainSource> packed)
      : packed_(std::move(packed)), stream_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
    check<ErrorKind::input>(stream_ != nullptr, packed_->path(),
                            ": cannot be unpacked: zstd does not start");
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, zstd_window_log);
  }

  std::string_view packing() const override { return "zstd"; }
  size_t read(std::span<char> into) override {
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size) {
        const auto bytes = packed_->next();
        in_ = {bytes.data(), bytes.size(), 0};
        if (bytes.empty()) {
          check<ErrorKind::input>(at_frame_end_, packed_->path(),
                                  ": the zstd data ends too soon; get the file again");
          break;
        }
      }
      const size_t result = ZSTD_decompressStream(stream_.get(), &out, &in_);
      if (ZSTD_isError(result)) {
        check<ErrorKind::input>(
            ZSTD_getErrorCode(result) != ZSTD_error_frameParameter_windowTooLarge, packed_->path(),
            ": to unpack the zstd data takes more than ", (size_t{1} << zstd_window_log) >> 20,
            " MiB of memory; unpack it with zstd -d --long=31 first");
        fail_damaged(packed_->path(), "zstd");
      }
      at_frame_end_ = result == 0;
    }
    return out.pos;
  }

 private:
  std::unique_ptr<PlainSource> packed_;
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> stream_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool at_frame_end_ = true;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  auto file = std::make_unique<PlainSource>(path);
  if (file->starts_with("\x1f\x8b")) return std::make_unique<GzipSource>(std::move(file));
  if (file->starts_with(std::string_view("\xfd"
                                         "7zXZ\0",
                                         6))) {
    return std::make_unique<XzSource>(std::move(file));
  }
  if (file->starts_with("\x28\xb5\x2f\xfd")) return std::make_unique<ZstdSource>(std::move(file));
  return file;
}

}  // namespace fovea
