// One way to report bad input: an Error whose text says what was needed, what came and where.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace fovea {

// Whose fault it is, for programs that react to it.
enum class ErrorKind {
  usage,     // a call that cannot be answered: shapes, options, names
  input,     // what a file or a text holds
  io,        // a file that cannot be opened, read or written
  internal,  // a promise of this library that does not hold: report it
};
// usage, input, io or internal.
constexpr const char* name_of(ErrorKind kind) {
  constexpr const char* names[] = {"usage", "input", "io", "internal"};
  return names[static_cast<int>(kind)];
}

// What every refusal throws.
class Error : public std::runtime_error {
 public:
  // With the sentence that what() gives.
  explicit Error(const std::string& text, ErrorKind kind = ErrorKind::usage)
      : std::runtime_error(text), kind_(kind) {}
  // Whose fault it is.
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// Joins its arguments as an output stream would print them.
template <class... Parts>
std::string say(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

// Throws an Error of these parts: fail(...), or fail<ErrorKind::io>(...).
template <ErrorKind kind = ErrorKind::usage, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Error(say(parts...), kind);
}

// Throws an Error of these parts unless all is well:
//   check(k.dim(-1) == q.dim(-1), "attend: q and k need equal feature sizes, got ", q.shape(),
//   ...);
template <ErrorKind kind = ErrorKind::usage, class... Parts>
void check(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail<kind>(parts...);
}

// What f() gives. An Error of its that names no other kind becomes one of this: for the way into
// code where a failed check is the fault of what it reads.
template <class F>
decltype(auto) as_kind(ErrorKind kind, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    throw Error(error.what(), kind);
  }
}

}  // namespace fovea
