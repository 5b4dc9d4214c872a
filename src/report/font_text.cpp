#include "fovea/report/font_text.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include <hb-ft.h>
#include <hb.h>
#include <unicode/ubidi.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

namespace fovea {
namespace {

// Fonts in the order in which they are tried, opened when a character first needs them.
class FontList {
 public:
  FontList(FcConfig* config, bool bold) {
    FcPattern* wanted = FcPatternCreate();
    FcPatternAddString(wanted, FC_FAMILY, reinterpret_cast<const FcChar8*>("sans-serif"));
    FcPatternAddInteger(wanted, FC_WEIGHT, bold ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR);
    FcConfigSubstitute(config, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    FcResult result = FcResultMatch;
    set_ = FcFontSort(config, wanted, FcTrue, nullptr, &result);
    FcPatternDestroy(wanted);
    if (set_ != nullptr) faces_.resize(static_cast<size_t>(set_->nfont));
  }
  FontList(const FontList&) = delete;
  FontList& operator=(const FontList&) = delete;
  ~FontList() {
    for (const Face& face : faces_) {
      if (face.shaper != nullptr) hb_font_destroy(face.shaper);
      if (face.face != nullptr) FT_Done_Face(face.face);
    }
    if (set_ != nullptr) FcFontSetDestroy(set_);
  }
  size_t size() const { return faces_.size(); }

  // The first that has the character; size() without.
  size_t with(FT_Library library, FcChar32 code) {
    for (size_t i = 0; i < faces_.size(); ++i) {
      FcCharSet* set = nullptr;
      if (FcPatternGetCharSet(set_->fonts[i], FC_CHARSET, 0, &set) != FcResultMatch) continue;
      if (FcCharSetHasChar(set, code) && open(library, i)) return i;
    }
    return faces_.size();
  }
  FT_Face face(size_t i) const { return faces_[i].face; }
  hb_font_t* shaper(size_t i) const { return faces_[i].shaper; }

 private:
  struct Face {
    FT_Face face = nullptr;
    hb_font_t* shaper = nullptr;
    bool tried = false;
  };
  bool open(FT_Library library, size_t i) {
    Face& one = faces_[i];
    if (one.tried) return one.face != nullptr;
    one.tried = true;
    FcChar8* path = nullptr;
    int index = 0;
    FcPatternGetInteger(set_->fonts[i], FC_INDEX, 0, &index);
    if (FcPatternGetString(set_->fonts[i], FC_FILE, 0, &path) != FcResultMatch) return false;
    if (FT_New_Face(library, reinterpret_cast<const char*>(path), index, &one.face) != 0) {
      one.face = nullptr;
      return false;
    }
    if (!FT_IS_SCALABLE(one.face)) {  // pictures of fixed sizes, as of emoji
      FT_Done_Face(one.face);
      one.face = nullptr;
      return false;
    }
    one.shaper = hb_ft_font_create_referenced(one.face);
    return true;
  }

  FcFontSet* set_ = nullptr;
  std::vector<Face> faces_;
};

class MachineFonts final : public FontText {
 public:
  MachineFonts() : config_(FcInitLoadConfigAndFonts()) {
    if (config_ == nullptr || FT_Init_FreeType(&library_) != 0) return;
    plain_ = std::make_unique<FontList>(config_, false);
    bold_ = std::make_unique<FontList>(config_, true);
  }
  ~MachineFonts() override {
    plain_.reset();
    bold_.reset();
    if (library_ != nullptr) FT_Done_FreeType(library_);
    if (config_ != nullptr) FcConfigDestroy(config_);
  }
  bool any() { return plain_ && plain_->with(library_, 'a') < plain_->size(); }

  ShapedLine shape(const std::string& text, double pixels, bool bold, bool draw) override {
    const std::lock_guard lock(mutex_);
    FontList& fonts = bold ? *bold_ : *plain_;
    ShapedLine line;
    const auto units = icu::UnicodeString::fromUTF8(text);
    UErrorCode status = U_ZERO_ERROR;
    UBiDi* order = ubidi_openSized(units.length(), 0, &status);
    ubidi_setPara(order, units.getBuffer(), units.length(), UBIDI_DEFAULT_LTR, nullptr, &status);
    const int32_t runs = ubidi_countRuns(order, &status);
    for (int32_t r = 0; U_SUCCESS(status) && r < runs; ++r) {
      int32_t start = 0, length = 0;
      const bool leftward = ubidi_getVisualRun(order, r, &start, &length) == UBIDI_RTL;
      std::vector<Stretch> stretches = by_font(fonts, units, start, start + length);
      if (leftward) std::reverse(stretches.begin(), stretches.end());
      for (const Stretch& stretch : stretches) {
        add(line, fonts, units, stretch, leftward, pixels, draw);
      }
    }
    ubidi_close(order);
    return line;
  }

  std::string missing() const override {
    const std::lock_guard lock(mutex_);
    return missing_;
  }

 private:
  struct Stretch {
    int32_t begin, end;  // of UTF-16 units
    size_t font;         // fonts.size(): none has it
  };

  std::vector<Stretch> by_font(FontList& fonts, const icu::UnicodeString& units, int32_t from,
                               int32_t to) {
    std::vector<Stretch> all;
    for (int32_t at = from; at < to;) {
      const UChar32 code = units.char32At(at);
      const int32_t next = units.moveIndex32(at, 1);
      // Marks go with what they stand on.
      const bool mark = !all.empty() && (U_GET_GC_MASK(code) & U_GC_M_MASK) != 0;
      const auto known = fonts_.find({&fonts, code});
      const size_t font = mark                    ? all.back().font
                          : known != fonts_.end() ? known->second
                                                  : fonts_[{&fonts, code}] = fonts.with(
                                                        library_, static_cast<FcChar32>(code));
      if (font == fonts.size()) note_missing(code);
      if (!all.empty() && all.back().font == font) {
        all.back().end = next;
      } else {
        all.push_back({at, next, font});
      }
      at = next;
    }
    return all;
  }

  void note_missing(UChar32 code) {
    std::string text;
    icu::UnicodeString(code).toUTF8String(text);
    if (missing_.find(text) == std::string::npos) missing_ += text;
  }

  void add(ShapedLine& line, FontList& fonts, const icu::UnicodeString& units,
           const Stretch& stretch, bool leftward, double pixels, bool draw) const {
    if (stretch.font == fonts.size()) {
      for (int32_t i = stretch.begin; i < stretch.end; i = units.moveIndex32(i, 1)) {
        add_box(line, pixels, draw);
      }
      return;
    }
    const FT_Face face = fonts.face(stretch.font);
    FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(std::lround(pixels)));
    hb_font_t* shaper = fonts.shaper(stretch.font);
    hb_ft_font_changed(shaper);
    hb_buffer_t* buffer = hb_buffer_create();
    hb_buffer_add_utf16(buffer, reinterpret_cast<const uint16_t*>(units.getBuffer()),
                        units.length(), static_cast<unsigned>(stretch.begin),
                        stretch.end - stretch.begin);
    hb_buffer_guess_segment_properties(buffer);
    hb_buffer_set_direction(buffer, leftward ? HB_DIRECTION_RTL : HB_DIRECTION_LTR);
    hb_shape(shaper, buffer, nullptr, 0);
    unsigned count = 0;
    const hb_glyph_info_t* infos = hb_buffer_get_glyph_infos(buffer, &count);
    const hb_glyph_position_t* places = hb_buffer_get_glyph_positions(buffer, &count);
    for (unsigned i = 0; i < count; ++i) {
      if (draw && FT_Load_Glyph(face, infos[i].codepoint, FT_LOAD_RENDER) == 0) {
        add_bitmap(line, face->glyph, line.width + places[i].x_offset / 64.0,
                   places[i].y_offset / 64.0);
      }
      line.width += places[i].x_advance / 64.0;
    }
    hb_buffer_destroy(buffer);
  }

  static void add_bitmap(ShapedLine& line, FT_GlyphSlot glyph, double x, double y) {
    const FT_Bitmap& from = glyph->bitmap;
    if (from.pixel_mode != FT_PIXEL_MODE_GRAY || from.width == 0) return;
    ShapedLine::Bitmap to{static_cast<int>(std::lround(x)) + glyph->bitmap_left,
                          -static_cast<int>(std::lround(y)) - glyph->bitmap_top,
                          static_cast<int>(from.width),
                          static_cast<int>(from.rows),
                          {}};
    for (unsigned row = 0; row < from.rows; ++row) {
      const uint8_t* begin = from.buffer + static_cast<ptrdiff_t>(row) * from.pitch;
      to.ink.insert(to.ink.end(), begin, begin + from.width);
    }
    line.glyphs.push_back(std::move(to));
  }

  static void add_box(ShapedLine& line, double pixels, bool draw) {
    const int height = static_cast<int>(std::lround(0.7 * pixels)), width = height * 3 / 4 + 2;
    if (draw) {
      ShapedLine::Bitmap box{static_cast<int>(std::lround(line.width)) + 1, -height, width, height,
                             std::vector<uint8_t>(static_cast<size_t>(width) * height, 0)};
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          const bool edge = y == 0 || y == height - 1 || x == 0 || x == width - 1;
          if (edge) box.ink[static_cast<size_t>(y) * width + x] = 255;
        }
      }
      line.glyphs.push_back(std::move(box));
    }
    line.width += width + 3;
  }

  mutable std::mutex mutex_;
  FcConfig* config_;
  FT_Library library_ = nullptr;
  std::unique_ptr<FontList> plain_, bold_;
  std::map<std::pair<const FontList*, UChar32>, size_t> fonts_;
  std::string missing_;
};

}  // namespace

std::shared_ptr<FontText> FontText::open() {
  auto fonts = std::make_shared<MachineFonts>();
  if (!fonts->any()) return nullptr;
  return fonts;
}

}  // namespace fovea
