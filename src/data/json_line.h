// A line of JSON, walked once: its values by their paths, without a tree.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace fovea {

// What stands at a path: a string, a number, true or false, or nothing.
enum class JsonKind { text, number, truth, null };

// What JSON has at a path; views live until the call ends.
struct JsonValue {
  JsonKind kind = JsonKind::null;  // tells how `text` is meant
  std::string_view text;           // unescaped; of numbers and truth values as they stand
};

// Is told what a line holds, in the line's order.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  // Whether the value at `path` (keys and places in arrays, joined by dots) is wanted: others are
  // checked and not unescaped. Asked for values of objects only.
  virtual bool wants(std::string_view path) = 0;
  // An object begins, below the line's own.
  virtual void object(std::string_view path) { (void)path; }
  // A value that is neither an array nor an object.
  virtual void value(std::string_view path, const JsonValue& value) = 0;
  // An array of values that are neither arrays nor objects.
  virtual void list(std::string_view path, std::span<const JsonValue> values) = 0;
};

// Why `line`, which is UTF-8, is not one JSON object (RFC 8259; at most 64 levels): a sentence with
// the byte; empty when it is. Of keys that come twice the later one is told last.
std::string walk_json(std::string_view line, JsonVisitor& visitor);

}  // namespace fovea
