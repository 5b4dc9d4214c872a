#include "fovea/data/json_line.h"

#include <cstring>
#include <deque>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr int deepest = 64;

class Walk {
 public:
  Walk(std::string_view text, JsonVisitor& visitor) : text_(text), visitor_(visitor) {}

  std::string run() {
    skip_space();
    if (!at('{')) return needs("'{' and an object");
    if (!object(0)) return problem_;
    skip_space();
    if (at_ < text_.size()) return needs("the end of the line after the object");
    return {};
  }

 private:
  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  void skip_space() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) && text_[at_] != 0) ++at_;
  }
  std::string needs(std::string_view what) const {
    return say(
        "not JSON at byte ", at_ + 1, ": needs ", what, ", got ",
        at_ < text_.size() ? say("'", code_points(text_.substr(at_, 4))[0], "'") : "the end");
  }
  bool fail_at(std::string_view what) {
    problem_ = needs(what);
    return false;
  }
  bool expect(char c, std::string_view what) {
    skip_space();
    if (!at(c)) return fail_at(what);
    ++at_;
    return true;
  }

  bool object(int depth) {
    if (depth >= deepest) return fail_at("fewer than 64 levels");
    if (!path_.empty()) visitor_.object(path_);
    ++at_;
    skip_space();
    if (at('}')) return ++at_, true;
    for (;;) {
      skip_space();
      if (!at('"')) return fail_at("a key in quotes");
      const size_t length = path_.size();
      if (length > 0) path_ += '.';
      std::string_view key;
      if (!string(true, key)) return false;
      path_ += key;
      if (!expect(':', "':' after a key")) return false;
      if (!member(visitor_.wants(path_), depth)) return false;
      path_.resize(length);
      skip_space();
      if (at('}')) return ++at_, true;
      if (!expect(',', "',' or '}'")) return false;
    }
  }

  bool member(bool wanted, int depth) {
    skip_space();
    if (at('{')) return object(depth + 1);
    if (at('[')) return array(wanted, depth + 1);
    JsonValue value;
    if (!scalar(wanted, value)) return false;
    if (wanted) visitor_.value(path_, value);
    return true;
  }

  bool array(bool wanted, int depth) {
    if (depth >= deepest) return fail_at("fewer than 64 levels");
    ++at_;
    std::vector<JsonValue> values;
    std::deque<std::string> kept;  // what was unescaped: the next text overwrites it
    bool flat = true;
    skip_space();
    if (at(']')) {
      ++at_;
    } else {
      for (size_t i = 0;; ++i) {
        skip_space();
        if (at('{') || at('[')) {
          flat = false;
          const size_t length = path_.size();
          path_ += say(".", i);
          const bool good = at('{') ? object(depth) : array(visitor_.wants(path_), depth + 1);
          if (!good) return false;
          path_.resize(length);
        } else {
          JsonValue value;
          if (!scalar(wanted, value)) return false;
          if (value.text.data() == unescaped_.data()) value.text = kept.emplace_back(value.text);
          if (wanted) values.push_back(value);
        }
        skip_space();
        if (at(']')) {
          ++at_;
          break;
        }
        if (!expect(',', "',' or ']'")) return false;
      }
    }
    if (wanted && flat) visitor_.list(path_, values);
    return true;
  }

  bool scalar(bool wanted, JsonValue& value) {
    const size_t from = at_;
    if (at('"')) {
      value.kind = JsonKind::text;
      return string(wanted, value.text);
    }
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      value = {word == "null" ? JsonKind::null : JsonKind::truth, text_.substr(from, word.size())};
      return true;
    }
    if (!number()) return false;
    value = {JsonKind::number, text_.substr(from, at_ - from)};
    return true;
  }

  bool digits() {
    const size_t from = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > from || fail_at("a value");
  }
  bool number() {
    if (at('-')) ++at_;
    if (at('0')) {
      ++at_;
    } else if (!digits()) {
      return false;
    }
    if (at('.') && (++at_, !digits())) return false;
    if (at('e') || at('E')) {
      ++at_;
      if (at('+') || at('-')) ++at_;
      if (!digits()) return false;
    }
    return true;
  }

  // The text between quotes: a part of the line, or unescaped_ when it has escapes.
  bool string(bool wanted, std::string_view& value) {
    const size_t from = ++at_;
    bool escaped = false;
    size_t copied = from;
    for (;; ++at_) {
      if (at_ >= text_.size()) return fail_at("a closing quote");
      const char c = text_[at_];
      if (c == '"') break;
      if (static_cast<unsigned char>(c) < 0x20) return fail_at("control characters to be escaped");
      if (c != '\\') continue;
      if (!escaped) unescaped_.clear();
      escaped = true;
      unescaped_.append(text_, copied, at_ - copied);
      ++at_;
      if (!escape()) return false;
      copied = at_ + 1;
    }
    value = text_.substr(from, at_ - from);
    if (escaped && wanted) {
      unescaped_.append(text_, copied, at_ - copied);
      value = unescaped_;
    }
    ++at_;
    return true;
  }

  // At the character behind the backslash; stays at the escape's last.
  bool escape() {
    static constexpr std::string_view short_forms = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const size_t found = at_ < text_.size() ? short_forms.find(text_[at_]) : std::string_view::npos;
    if (found != std::string_view::npos) {
      unescaped_ += meanings[found];
      return true;
    }
    uint32_t point = 0, low = 0;
    if (!at('u') || !four_digits(point)) return fail_at("an escape such as \\n or \\u00e9");
    if (point >= 0xd800 && point < 0xe000) {
      const bool pair = point < 0xdc00 && text_.substr(at_ + 1).starts_with("\\u") &&
                        (at_ += 2, four_digits(low)) && low >= 0xdc00 && low < 0xe000;
      if (!pair) return fail_at("both halves of a surrogate pair");
      point = 0x10000 + ((point & 0x3ff) << 10) + (low & 0x3ff);
    }
    append_code_point(unescaped_, point);
    return true;
  }

  bool four_digits(uint32_t& value) {
    for (int i = 0; i < 4; ++i) {
      if (++at_ >= text_.size()) return false;
      const char c = text_[at_];
      const auto lower = static_cast<char>(c | 32);
      if (c >= '0' && c <= '9') {
        value = 16 * value + static_cast<uint32_t>(c - '0');
      } else if (lower >= 'a' && lower <= 'f') {
        value = 16 * value + static_cast<uint32_t>(lower - 'a' + 10);
      } else {
        return false;
      }
    }
    return true;
  }

  std::string_view text_;
  JsonVisitor& visitor_;
  size_t at_ = 0;
  std::string path_, unescaped_, problem_;
};

}  // namespace

std::string walk_json(std::string_view line, JsonVisitor& visitor) {
  return Walk(line, visitor).run();
}

}  // namespace fovea
