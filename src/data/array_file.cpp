#include "fovea/data/array_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/data/byte_source.h"

namespace fovea {
namespace {

constexpr std::string_view npy_magic{"\x93NUMPY", 6};
constexpr int64_t most_axes = 8;

// Bytes of a file in order, with an Error where they end too soon.
class Stream {
 public:
  explicit Stream(const std::string& path) : path_(path), bytes_(open_bytes(path)) {}

  // Up to n bytes: fewer at the end.
  std::vector<unsigned char> some(int64_t n) {
    std::vector<unsigned char> all;
    constexpr int64_t piece = 1 << 20;
    while (static_cast<int64_t>(all.size()) < n) {
      const size_t begin = all.size();
      all.resize(begin +
                 static_cast<size_t>(std::min<int64_t>(piece, n - static_cast<int64_t>(begin))));
      const size_t got =
          bytes_->read({reinterpret_cast<char*>(all.data()) + begin, all.size() - begin});
      all.resize(begin + got);
      if (got == 0) break;
    }
    return all;
  }
  std::vector<unsigned char> exactly(int64_t n, const char* what) {
    std::vector<unsigned char> all = some(n);
    check<ErrorKind::input>(static_cast<int64_t>(all.size()) == n, path_, ": is cut short: ", what,
                            " needs ", n, " bytes, ", all.size(), " came");
    return all;
  }

 private:
  const std::string& path_;
  std::unique_ptr<ByteSource> bytes_;
};

void check_shape(const std::string& path, const ArrayFile& array) {
  check<ErrorKind::input>(
      !array.shape.empty() && static_cast<int64_t>(array.shape.size()) <= most_axes, path, ": has ",
      array.shape.size(), " axes, 1 to ", most_axes, " can be read");
  int64_t count = array.bytes;
  for (int64_t size : array.shape) {
    check<ErrorKind::input>(size >= 0 && (size == 0 || count <= (int64_t{1} << 48) / size), path,
                            ": its header promises more than any file holds");
    count *= std::max<int64_t>(1, size);
  }
}

ArrayFile idx_header(const std::string& path, Stream& in, const std::vector<unsigned char>& magic) {
  ArrayFile array;
  array.big_endian = true;
  using Kind = ArrayFile::Kind;
  switch (magic[2]) {
    case 0x08:
      array.kind = Kind::unsigned_whole;
      break;
    case 0x09:
      break;
    case 0x0B:
      array.bytes = 2;
      break;
    case 0x0C:
      array.bytes = 4;
      break;
    case 0x0D:
      array.kind = Kind::real, array.bytes = 4;
      break;
    case 0x0E:
      array.kind = Kind::real, array.bytes = 8;
      break;
    default:
      fail<ErrorKind::input>(path, ": is IDX with elements of the unknown type ", int{magic[2]});
  }
  check<ErrorKind::input>(magic[3] >= 1 && magic[3] <= most_axes, path, ": has ", int{magic[3]},
                          " axes, 1 to ", most_axes, " can be read");
  const auto sizes = in.exactly(4 * int64_t{magic[3]}, "its header");
  for (size_t i = 0; i < sizes.size(); i += 4) {
    array.shape.push_back(int64_t{sizes[i]} << 24 | int64_t{sizes[i + 1]} << 16 |
                          int64_t{sizes[i + 2]} << 8 | int64_t{sizes[i + 3]});
  }
  return array;
}

// What stands behind 'key': in the header, which is a Python dictionary, without blanks before it.
std::optional<std::string_view> value_of(std::string_view header, const std::string& key) {
  const size_t at = header.find("'" + key + "'");
  if (at == std::string_view::npos) return std::nullopt;
  header.remove_prefix(at + key.size() + 2);
  const size_t value = header.find_first_not_of(": ");
  if (value == std::string_view::npos) return std::nullopt;
  return header.substr(value);
}

ArrayFile npy_header(const std::string& path, Stream& in) {
  const auto version = in.exactly(2, "its header");
  const int width = version[0] >= 2 ? 4 : 2;
  const auto length = in.exactly(width, "its header");
  int64_t size = 0;
  for (int i = width - 1; i >= 0; --i) size = size << 8 | length[static_cast<size_t>(i)];
  check<ErrorKind::input>(size <= 1 << 16, path, ": its NPY header is ", size, " bytes long");
  const auto bytes = in.exactly(size, "its header");
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto descr = value_of(header, "descr"), order = value_of(header, "fortran_order"),
             shape = value_of(header, "shape");
  check<ErrorKind::input>(descr && order && shape && descr->size() > 5 && shape->starts_with('('),
                          path, ": its NPY header cannot be understood");
  check<ErrorKind::input>(
      !order->starts_with("True"), path,
      ": is an NPY array in Fortran's order; save it with np.ascontiguousarray");
  ArrayFile array;
  const char place = (*descr)[1], kind = (*descr)[2], bytes_of = (*descr)[3];
  const bool known = (place == '<' || place == '>' || place == '|' || place == '=') &&
                     (kind == 'u' || kind == 'i' || kind == 'f' || kind == 'b') &&
                     (bytes_of == '1' || bytes_of == '2' || bytes_of == '4' || bytes_of == '8') &&
                     (kind != 'f' || bytes_of >= '4') &&
                     ((*descr)[4] == '\'' || (*descr)[4] == '"');
  check<ErrorKind::input>(known, path, ": is an NPY array of ",
                          descr->substr(0, std::min<size_t>(8, descr->find(','))),
                          "; whole numbers and floats of 4 or 8 bytes can be read");
  array.kind = kind == 'f'   ? ArrayFile::Kind::real
               : kind == 'i' ? ArrayFile::Kind::whole
                             : ArrayFile::Kind::unsigned_whole;
  array.bytes = bytes_of - '0';
  array.big_endian = place == '>';
  std::string_view list = shape->substr(1, shape->find(')') - 1);
  while (true) {
    const size_t digit = list.find_first_of("0123456789");
    if (digit == std::string_view::npos) break;
    int64_t one = 0;
    const auto [rest, error] = std::from_chars(list.data() + digit, list.data() + list.size(), one);
    check<ErrorKind::input>(error == std::errc(), path, ": its NPY header cannot be understood");
    array.shape.push_back(one);
    list.remove_prefix(static_cast<size_t>(rest - list.data()));
  }
  return array;
}

}  // namespace

int64_t ArrayFile::elements() const {
  int64_t n = 1;
  for (int64_t size : shape) n *= size;
  return n;
}

double ArrayFile::at(int64_t i) const {
  const unsigned char* from = data.data() + i * bytes;
  uint64_t bits = 0;
  for (int b = 0; b < bytes; ++b) bits = bits << 8 | from[big_endian ? b : bytes - 1 - b];
  switch (kind) {
    case Kind::unsigned_whole:
      return static_cast<double>(bits);
    case Kind::real:
      return bytes == 4 ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                        : std::bit_cast<double>(bits);
    case Kind::whole:
      break;
  }
  const int unused = 64 - 8 * bytes;
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

bool begins_as_array(std::string_view head) {
  if (head.starts_with(npy_magic)) return true;
  return head.size() >= 4 && head[0] == 0 && head[1] == 0 && head[2] >= 0x08 && head[2] <= 0x0E &&
         head[3] >= 1 && head[3] <= most_axes;
}

namespace {

ArrayFile header_of(const std::string& path, Stream& in) {
  const auto magic = in.some(4);
  const std::string_view head(reinterpret_cast<const char*>(magic.data()), magic.size());
  ArrayFile array;
  if (head.size() == 4 && npy_magic.starts_with(head)) {
    const auto rest = in.exactly(2, "its header");
    check<ErrorKind::input>(rest[0] == 'P' && rest[1] == 'Y', path, ": is no NPY file");
    array = npy_header(path, in);
  } else {
    check<ErrorKind::input>(begins_as_array(head), path, ": is neither an IDX nor an NPY file");
    array = idx_header(path, in, magic);
  }
  check_shape(path, array);
  return array;
}

}  // namespace

std::vector<int64_t> array_shape(const std::string& path) {
  Stream in(path);
  return header_of(path, in).shape;
}

ArrayFile read_array(const std::string& path, int64_t most) {
  Stream in(path);
  ArrayFile array = header_of(path, in);
  if (most >= 0) array.shape[0] = std::min(array.shape[0], most);
  array.data = in.exactly(array.elements() * array.bytes, "what its header promises");
  return array;
}

}  // namespace fovea
