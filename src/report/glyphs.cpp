// Visible characters and their widths, by the tables of utf8proc.
#include "fovea/report/glyphs.h"

#include <utf8proc.h>

#include <algorithm>

namespace fovea {
namespace {

// What stands for a character that would move the cursor or show nothing.
std::string visible(utf8proc_int32_t code, bool unicode, bool blank) {
  if (code == '\n') return unicode ? "↵" : "/";
  if (code == '\t') return unicode ? "⇥" : ">";
  if (code == ' ' && blank) return unicode ? "␣" : "_";
  if (code < 32 || (code >= 127 && code < 160)) return "?";
  return {};
}

}  // namespace

std::vector<Glyph> glyphs(const std::string& text, bool unicode) {
  const bool blank = text.find_first_not_of(' ') == std::string::npos;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  std::vector<Glyph> result;
  for (size_t i = 0; i < text.size();) {
    utf8proc_int32_t code = -1;
    const auto size =
        utf8proc_iterate(bytes + i, static_cast<utf8proc_ssize_t>(text.size() - i), &code);
    const size_t at = i;
    i += size > 0 ? static_cast<size_t>(size) : 1;
    if (size <= 0) {
      result.push_back({unicode ? "\uFFFD" : "?", 1});
    } else if (std::string stand_in = visible(code, unicode, blank); !stand_in.empty()) {
      result.push_back({stand_in, 1});
    } else if (const int width = utf8proc_charwidth(code); width > 0) {
      if (unicode || code < 128)
        result.push_back({text.substr(at, static_cast<size_t>(size)), width});
      else
        result.push_back({"?", 1});
    } else if (unicode && !result.empty() && utf8proc_category(code) != UTF8PROC_CATEGORY_CF) {
      // Format characters are left out: those that turn the writing direction would turn the
      // picture.
      result.back().text += text.substr(at, static_cast<size_t>(size));
    }
  }
  return result;
}

bool reads_leftward(const std::string& text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (size_t i = 0; i < text.size();) {
    utf8proc_int32_t code = -1;
    const auto size =
        utf8proc_iterate(bytes + i, static_cast<utf8proc_ssize_t>(text.size() - i), &code);
    i += size > 0 ? static_cast<size_t>(size) : 1;
    if (size <= 0) continue;
    const auto direction = utf8proc_get_property(code)->bidi_class;
    if (direction == UTF8PROC_BIDI_CLASS_L) return false;
    if (direction == UTF8PROC_BIDI_CLASS_R || direction == UTF8PROC_BIDI_CLASS_AL) return true;
  }
  return false;
}

std::string join(const std::vector<Glyph>& text) {
  std::string result;
  for (const Glyph& glyph : text) result += glyph.text;
  return result;
}

int columns(const std::vector<Glyph>& text) {
  int sum = 0;
  for (const Glyph& glyph : text) sum += glyph.columns;
  return sum;
}

std::vector<Glyph> cut(std::vector<Glyph> text, int most, const std::string& mark) {
  int width = columns(text);
  if (width <= most) return text;
  while (!text.empty() && width > std::max(most - 1, 0)) {
    width -= text.back().columns;
    text.pop_back();
  }
  if (most > 0) text.push_back({mark, 1});
  return text;
}

}  // namespace fovea
