#include "fovea/data/picture_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/array_file.h"
#include "fovea/data/byte_source.h"
#include "fovea/data/picture_codec.h"

namespace fovea {
namespace {

using Bytes = std::vector<unsigned char>;

// No picture that may be read is packed into more.
constexpr size_t most_file_bytes = size_t{1} << 29;

// The first bytes of a file, at most so many.
Bytes head_of(const std::string& path, size_t most) {
  const auto source = open_bytes(path);
  Bytes bytes;
  while (bytes.size() < most) {
    const size_t begin = bytes.size();
    bytes.resize(std::min(most, begin + std::max<size_t>(begin, size_t{1} << 16)));
    const size_t got =
        source->read({reinterpret_cast<char*>(bytes.data()) + begin, bytes.size() - begin});
    bytes.resize(begin + got);
    if (got == 0) break;
  }
  return bytes;
}

bool is_array(const Bytes& head) {
  return begins_as_array({reinterpret_cast<const char*>(head.data()), head.size()});
}

void check_size(const PictureSize& size, const std::string& name) {
  check<ErrorKind::input>(size.height >= 1 && size.width >= 1, name, ": has no pixels");
  check<ErrorKind::input>(size.height <= most_picture_side && size.width <= most_picture_side &&
                              size.height <= most_picture_pixels / size.width,
                          name, ": is ", size.width, " x ", size.height, " pixels large; at most ",
                          most_picture_side, " a side and ", most_picture_pixels >> 20,
                          " million in all can be read, scale it down");
}

// Where the axes of an array of pictures stand.
struct Axes {
  int64_t count, height, width, channels;
  bool channels_first;
};
Axes axes_of(const ArrayFile& array, const std::string& path) {
  const auto& s = array.shape;
  const auto colours = [](int64_t n) { return n == 1 || n == 3 || n == 4; };
  const bool last = s.size() == 4 && colours(s[3]);
  const bool first = !last && s.size() == 4 && colours(s[1]);
  check<ErrorKind::input>(s.size() == 3 || last || first, path, ": is an array of ", s.size(),
                          " axes; pictures need [number, height, width], and perhaps 1, 3 or 4 "
                          "channels");
  const Axes axes{.count = s[0],
                  .height = first ? s[2] : s[1],
                  .width = first ? s[3] : s[2],
                  .channels = last    ? s[3]
                              : first ? s[1]
                                      : 1,
                  .channels_first = first};
  if (axes.count > 0) check_size({axes.height, axes.width, axes.channels}, path);
  return axes;
}
int64_t kept_channels(int64_t channels) { return channels == 1 ? 1 : 3; }

std::vector<Picture> pictures_of(const ArrayFile& array, const std::string& path) {
  const Axes axes = axes_of(array, path);
  const int64_t n = array.elements();
  const bool bytes = array.bytes == 1 && array.kind == ArrayFile::Kind::unsigned_whole;
  double scale = 1;
  if (array.kind == ArrayFile::Kind::real) {
    double most = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double value = array.at(i);
      check<ErrorKind::input>(std::isfinite(value), path, ": holds numbers that are not finite");
      most = std::max(most, value);
    }
    if (most <= 1) scale = 255;
  }
  const auto value = [&](int64_t i) {
    if (bytes) return array.data[static_cast<size_t>(i)];
    return static_cast<unsigned char>(std::clamp(std::lround(scale * array.at(i)), 0l, 255l));
  };
  const int64_t kept = kept_channels(axes.channels), plane = axes.height * axes.width;
  std::vector<Picture> all(static_cast<size_t>(axes.count));
  for (int64_t p = 0; p < axes.count; ++p) {
    Picture& picture = all[static_cast<size_t>(p)];
    picture = {axes.height, axes.width, kept, {}};
    picture.pixels.resize(static_cast<size_t>(plane * kept));
    const int64_t start = p * plane * axes.channels;
    for (int64_t i = 0; i < plane; ++i) {
      for (int64_t c = 0; c < kept; ++c) {
        const int64_t at = axes.channels_first ? c * plane + i : i * axes.channels + c;
        picture.pixels[static_cast<size_t>(i * kept + c)] = value(start + at);
      }
    }
  }
  return all;
}

}  // namespace

bool has_suffix(std::string_view name, std::initializer_list<std::string_view> suffixes) {
  std::string lower = to_lowercase(name);
  for (const std::string_view packed : {".gz", ".xz", ".zst"}) {
    if (lower.ends_with(packed)) lower.resize(lower.size() - packed.size());
  }
  return std::ranges::any_of(suffixes, [&](std::string_view end) { return lower.ends_with(end); });
}
bool is_picture_name(std::string_view name) {
  return has_suffix(name, {".png", ".jpg", ".jpeg", ".bmp"});
}

PicturePlace picture_place(const std::string& path) {
  const size_t mark = path.rfind('#');
  if (mark == std::string::npos || mark + 1 == path.size() || mark == 0) return {path};
  int64_t index = -1;
  const char* end = path.data() + path.size();
  const auto [rest, error] = std::from_chars(path.data() + mark + 1, end, index);
  if (error != std::errc() || rest != end || index < 0) return {path};
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return {path};  // a file of that very name
  return {path.substr(0, mark), index};
}

bool is_array_file(const std::string& path) { return is_array(head_of(path, 16)); }

PictureSize picture_size(const std::string& path) {
  const PicturePlace place = picture_place(path);
  Bytes head = head_of(place.file, size_t{1} << 12);
  if (is_array(head)) {
    ArrayFile array = read_array(place.file, 1);
    const Axes axes = axes_of(array, place.file);
    check<ErrorKind::input>(axes.count > 0, path, ": holds no picture");
    return {axes.height, axes.width, kept_channels(axes.channels)};
  }
  PictureSize size;
  // A header is mostly at the beginning, but a JPEG may have another picture before it.
  if (!coded_size(head, size)) {
    head = head_of(place.file, most_file_bytes);
    size = checked_coded_size(head, path);
  }
  check_size(size, path);
  return size;
}

Picture decode_picture(std::span<const unsigned char> bytes, const std::string& name) {
  const PictureSize size = checked_coded_size(bytes, name);
  check_size(size, name);
  return decode_coded(bytes, size, name);
}

Picture read_picture(const std::string& path) {
  const PicturePlace place = picture_place(path);
  const Bytes head = head_of(place.file, 16);
  if (is_array(head)) {
    check<ErrorKind::input>(place.index >= 0, path,
                            ": is an array of pictures; say which one, as in ", path, "#0");
    const ArrayFile array = read_array(place.file, place.index + 1);
    check<ErrorKind::input>(array.shape[0] > place.index, path, ": there are only ", array.shape[0],
                            " pictures, counted from 0");
    return std::move(pictures_of(array, place.file).back());
  }
  check<ErrorKind::input>(place.index < 0, path, ": ", place.file,
                          " holds one picture, not several");
  return decode_picture(head_of(place.file, most_file_bytes), path);
}

std::vector<Picture> read_pictures(const std::string& path) {
  return pictures_of(read_array(path), path);
}

std::vector<std::string> read_array_labels(const std::string& path) {
  const ArrayFile array = read_array(path);
  check<ErrorKind::input>(
      array.shape.size() == 1 || (array.shape.size() == 2 && array.shape[1] == 1), path,
      ": is an array of ", array.shape.size(), " axes; labels need one number for each picture");
  std::vector<std::string> labels;
  for (int64_t i = 0; i < array.elements(); ++i) {
    const double value = array.at(i);
    check<ErrorKind::input>(value == std::floor(value) && std::abs(value) < 1e15, path,
                            ": label number ", i, " is ", value, ", not a whole number");
    labels.push_back(std::to_string(static_cast<int64_t>(value)));
  }
  return labels;
}

}  // namespace fovea
