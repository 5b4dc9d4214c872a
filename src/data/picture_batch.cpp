#include "fovea/data/picture_batch.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fovea {
namespace {

constexpr int64_t most_auto_side = 64;

// For each place of the target the places of the source that it is made of, and their parts.
struct Taps {
  struct Range {
    int64_t first = 0;
    std::vector<float> parts;
  };
  std::vector<Range> of;

  // `from` places, of which [begin, begin + span) are stretched to `to`.
  Taps(int64_t from, double begin, double span, int64_t to) : of(static_cast<size_t>(to)) {
    const double step = span / static_cast<double>(to);
    for (int64_t i = 0; i < to; ++i) {
      Range& range = of[static_cast<size_t>(i)];
      const double low = begin + static_cast<double>(i) * step, high = low + step;
      const double middle = (low + high) / 2;
      // A triangle as wide as what is covered, and at least from pixel to pixel.
      const double reach = std::max(1.0, step);
      const auto first = static_cast<int64_t>(std::floor(middle - reach + 0.5));
      const auto last = static_cast<int64_t>(std::ceil(middle + reach - 0.5)) - 1;
      range.first = std::clamp<int64_t>(first, 0, from - 1);
      const int64_t end = std::clamp<int64_t>(last, 0, from - 1);
      range.parts.assign(static_cast<size_t>(end - range.first + 1), 0);
      double sum = 0;
      for (int64_t p = first; p <= last; ++p) {
        const double part = 1 - std::abs(static_cast<double>(p) + 0.5 - middle) / reach;
        if (part <= 0) continue;
        // Behind the edge its pixel goes on.
        const int64_t place = std::clamp<int64_t>(p, range.first, end);
        range.parts[static_cast<size_t>(place - range.first)] += static_cast<float>(part);
        sum += part;
      }
      for (float& part : range.parts) part = static_cast<float>(part / sum);
    }
  }
};

// First along the rows, then along the columns.
Picture resampled(const Picture& picture, const Taps& down, const Taps& across) {
  const auto height = static_cast<int64_t>(down.of.size()),
             width = static_cast<int64_t>(across.of.size());
  const int64_t C = picture.channels;
  std::vector<float> wide(static_cast<size_t>(picture.height * width * C), 0);
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const Taps::Range& range = across.of[static_cast<size_t>(x)];
      float* to = wide.data() + (y * width + x) * C;
      for (size_t k = 0; k < range.parts.size(); ++k) {
        for (int64_t c = 0; c < C; ++c) {
          to[c] += range.parts[k] * picture.at(y, range.first + static_cast<int64_t>(k), c);
        }
      }
    }
  }
  Picture result{height, width, C, {}};
  result.pixels.resize(static_cast<size_t>(height * width * C));
  std::vector<float> row(static_cast<size_t>(width * C));
  for (int64_t y = 0; y < height; ++y) {
    const Taps::Range& range = down.of[static_cast<size_t>(y)];
    std::ranges::fill(row, 0.0f);
    for (size_t k = 0; k < range.parts.size(); ++k) {
      const float* from = wide.data() + (range.first + static_cast<int64_t>(k)) * width * C;
      for (size_t i = 0; i < row.size(); ++i) row[i] += range.parts[k] * from[i];
    }
    uint8_t* to = result.pixels.data() + y * width * C;
    for (size_t i = 0; i < row.size(); ++i) {
      to[i] = static_cast<uint8_t>(std::clamp(std::lround(row[i]), 0l, 255l));
    }
  }
  return result;
}

void check_picture(const Picture& picture) {
  check(picture.height >= 1 && picture.width >= 1 &&
            (picture.channels == 1 || picture.channels == 3) &&
            static_cast<int64_t>(picture.pixels.size()) ==
                picture.height * picture.width * picture.channels,
        "picture: needs pixels of 1 or 3 channels");
}

}  // namespace

PictureSize wanted_size(const PictureOptions& options, const PictureSize& first) {
  PictureSize size = first;
  if (options.size == "auto") {
    const int64_t side = std::max(size.height, size.width);
    if (side > most_auto_side) {
      size.height = std::max<int64_t>(1, size.height * most_auto_side / side);
      size.width = std::max<int64_t>(1, size.width * most_auto_side / side);
    }
  } else {
    const char *at = options.size.data(), *end = at + options.size.size();
    auto [rest, error] = std::from_chars(at, end, size.height);
    bool good = error == std::errc();
    size.width = size.height;
    if (good && rest != end) {
      good = *rest == 'x';
      const auto second = std::from_chars(rest + 1, end, size.width);
      good = good && second.ec == std::errc() && second.ptr == end;
    }
    check(good && size.height >= 1 && size.width >= 1 && size.height <= 4096 && size.width <= 4096,
          "size: needs auto, or pixels as 32 or 32x48 (height first), at most 4096 a side, got '",
          options.size, "'");
  }
  if (options.colour != "auto") size.channels = options.colour == "grey" ? 1 : 3;
  return size;
}

Picture resized(const Picture& picture, int64_t height, int64_t width) {
  check_picture(picture);
  check(height >= 1 && width >= 1, "resized: needs a size of at least 1 x 1");
  if (height == picture.height && width == picture.width) return picture;
  return resampled(picture, Taps(picture.height, 0, static_cast<double>(picture.height), height),
                   Taps(picture.width, 0, static_cast<double>(picture.width), width));
}

Picture with_channels(const Picture& picture, int64_t channels) {
  check_picture(picture);
  check(channels == 1 || channels == 3, "with_channels: pictures have 1 or 3, asked for ",
        channels);
  if (channels == picture.channels) return picture;
  Picture result{picture.height, picture.width, channels, {}};
  const int64_t n = picture.height * picture.width;
  result.pixels.resize(static_cast<size_t>(n * channels));
  const uint8_t* from = picture.pixels.data();
  for (int64_t i = 0; i < n; ++i) {
    if (channels == 3) {
      std::fill_n(result.pixels.data() + 3 * i, 3, from[i]);
    } else {
      const int sum = 299 * from[3 * i] + 587 * from[3 * i + 1] + 114 * from[3 * i + 2];
      result.pixels[static_cast<size_t>(i)] = static_cast<uint8_t>((sum + 500) / 1000);
    }
  }
  return result;
}

Picture fitted(const Picture& picture, const PictureSize& size) {
  return resized(with_channels(picture, size.channels), size.height, size.width);
}

bool augments(const PictureOptions& options) {
  return options.shift_by > 0 || options.flip || options.crop < 1;
}

Random augment_stream(int64_t seed, int64_t epoch, int64_t example) {
  return Random(static_cast<uint64_t>(seed))
      .fork("augment")
      .fork(static_cast<uint64_t>(epoch))
      .fork(static_cast<uint64_t>(example));
}

Picture augmented(const Picture& picture, const PictureOptions& options, Random random) {
  check_picture(picture);
  Picture now = picture;
  if (options.crop < 1) {
    const double part = options.crop + (1 - options.crop) * random.uniform();
    const double high = part * static_cast<double>(now.height),
                 wide = part * static_cast<double>(now.width);
    const double top = random.uniform() * (static_cast<double>(now.height) - high),
                 left = random.uniform() * (static_cast<double>(now.width) - wide);
    now = resampled(now, Taps(now.height, top, high, now.height),
                    Taps(now.width, left, wide, now.width));
  }
  const bool mirror = options.flip && random.below(2) == 1;
  int64_t down = 0, right = 0;
  if (options.shift_by > 0) {
    const auto range = static_cast<uint64_t>(2 * options.shift_by + 1);
    down = static_cast<int64_t>(random.below(range)) - options.shift_by;
    right = static_cast<int64_t>(random.below(range)) - options.shift_by;
  }
  if (!mirror && down == 0 && right == 0) return now;
  Picture moved = now;
  for (int64_t y = 0; y < now.height; ++y) {
    const int64_t from_y = std::clamp<int64_t>(y - down, 0, now.height - 1);
    for (int64_t x = 0; x < now.width; ++x) {
      int64_t from_x = std::clamp<int64_t>(x - right, 0, now.width - 1);
      if (mirror) from_x = now.width - 1 - from_x;
      for (int64_t c = 0; c < now.channels; ++c) moved.at(y, x, c) = now.at(from_y, from_x, c);
    }
  }
  return moved;
}

Tensor picture_batch(std::span<const Picture* const> pictures, const PictureSize& size) {
  const int64_t n = size.height * size.width * size.channels;
  Tensor batch({static_cast<int64_t>(pictures.size()), size.height, size.width, size.channels});
  float* to = batch.write().data();
  for (const Picture* picture : pictures) {
    check_picture(*picture);
    const bool fits = size_of(*picture) == size;
    const Picture made = fits ? Picture() : fitted(*picture, size);
    const uint8_t* from = (fits ? *picture : made).pixels.data();
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]) * (1.0f / 255);
    to += n;
  }
  return batch;
}

}  // namespace fovea
