// Text as the pictures need it: one piece per visible character, with the columns it takes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fovea {

struct Glyph {
  std::string text;  // UTF-8, with the marks that combine with it
  int columns;       // 1, or 2 for the wide characters of East Asia and emoji
};

// Control characters become visible ones, a text of blanks only shows them, bytes that are no UTF-8
// become replacement characters. With `unicode` off everything outside ASCII becomes '?'.
std::vector<Glyph> glyphs(const std::string& text, bool unicode = true);

// Whether the first letter that has a direction is one of those written from right to left.
bool reads_leftward(const std::string& text);

// The text again.
std::string join(const std::vector<Glyph>& text);
// The columns it takes.
int columns(const std::vector<Glyph>& text);

// At most `most` columns, ending in `mark` (one column) where something was cut off.
std::vector<Glyph> cut(std::vector<Glyph> text, int most, const std::string& mark);

}  // namespace fovea
