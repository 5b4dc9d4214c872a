// The one sequential colour scale of every picture: paper white for nothing to deep blue for most.
// Lightness falls steadily along it, so it survives grey printing and any kind of colour blindness.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace fovea {

struct Colour {
  uint8_t r, g, b;  // red, green, blue
  friend bool operator==(const Colour&, const Colour&) = default;
};

// t from 0 to 1; what lies outside is drawn as the nearer end. page/heat.js has the same stops.
inline Colour heat_colour(float t) {
  constexpr std::array<Colour, 6> stops{{{0xf4, 0xf6, 0xf8},
                                         {0xd2, 0xe3, 0xef},
                                         {0x93, 0xc1, 0xdd},
                                         {0x4a, 0x93, 0xc3},
                                         {0x1f, 0x63, 0xa0},
                                         {0x0c, 0x2f, 0x63}}};
  const float at = std::clamp(t, 0.f, 1.f) * static_cast<float>(stops.size() - 1);
  const size_t i = std::min(static_cast<size_t>(at), stops.size() - 2);
  const auto mix = [&](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround(a + (b - a) * (at - static_cast<float>(i))));
  };
  const Colour &a = stops[i], &b = stops[i + 1];
  return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b)};
}

// The colour of words on that background.
inline Colour ink_on(float t) {
  return t > 0.5f ? Colour{255, 255, 255} : Colour{0x1c, 0x23, 0x2b};
}

}  // namespace fovea
