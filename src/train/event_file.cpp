#include "fovea/train/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

// CRC-32C (Castagnoli), a byte at a time: an event has a few dozen.
constexpr std::array<uint32_t, 256> crc_table = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    table[byte] = crc;
  }
  return table;
}();

// Masked as the format wants it, so that a checksum of data that holds checksums stays a good one.
uint32_t masked_crc(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const unsigned char byte : bytes) crc = crc >> 8 ^ crc_table[(crc ^ byte) & 0xff];
  return std::rotr(~crc, 15) + 0xa282ead8;
}

template <class Number>
std::string little_endian(Number value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
  return bytes;
}

// The pieces of a protocol buffer: a field's number and the wire type of what follows.
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}
std::string key(uint32_t field, uint32_t wire_type) { return varint(field << 3 | wire_type); }
std::string integer(uint32_t field, int64_t value) {
  return key(field, 0) + varint(static_cast<uint64_t>(value));
}
std::string real(uint32_t field, double value) {
  return key(field, 1) + little_endian(std::bit_cast<uint64_t>(value));
}
std::string text(uint32_t field, std::string_view value) {
  return (key(field, 2) + varint(value.size())).append(value);
}
std::string real(uint32_t field, float value) {
  return key(field, 5) + little_endian(std::bit_cast<uint32_t>(value));
}

}  // namespace

EventFile::EventFile(const std::string& folder, int64_t wall_seconds) {
  make_folder(folder);
  const std::string plain = say(folder, "/events.out.tfevents.", wall_seconds);
  path_ = plain;
  // Never an old file: its last record may be cut short.
  for (int other = 1; !file_.is_open(); ++other) {
    file_ =
        Descriptor(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
    if (file_.is_open()) break;
    check<ErrorKind::io>(errno == EEXIST, "cannot write '", path_, "': ", std::strerror(errno));
    path_ = say(plain, '.', other);
  }
  append(real(1, static_cast<double>(wall_seconds)) + text(3, "brain.Event:2"));
}

void EventFile::scalar(std::string_view tag, int64_t step, double value, double wall_time) {
  const std::string point = text(1, tag) + real(2, static_cast<float>(value));
  append(real(1, wall_time) + integer(2, step) + text(5, text(1, point)));
}

void EventFile::append(std::string_view payload) {
  const std::string length = little_endian(uint64_t{payload.size()});
  std::string record = length + little_endian(masked_crc(length));
  record.append(payload);
  record += little_endian(masked_crc(payload));
  std::string_view left = record;
  while (!left.empty()) {
    const ssize_t count = ::write(file_.get(), left.data(), left.size());
    if (count < 0 && errno == EINTR) continue;
    check<ErrorKind::io>(count >= 0, "cannot write '", path_, "': ", std::strerror(errno));
    left.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace fovea
