// One way to report bad input: an Error whose text says what was needed, what came and where.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace fovea {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Joins its arguments as an output stream would print them.
template <class... Parts>
std::string say(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Error(say(parts...));
}

// check(k.dim(-1) == q.dim(-1), "attend: q and k need equal feature sizes, got ", q.shape(), ...);
template <class... Parts>
void check(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail(parts...);
}

}  // namespace fovea
