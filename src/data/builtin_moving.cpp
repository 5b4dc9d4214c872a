// builtin:moving. Films in which one thing moves in two directions, one after the other, and
// another stands still. The frames without their order do not tell which direction came first.
#include <algorithm>

#include "fovea/data/builtin_grammar.h"
#include "fovea/data/picture_words.h"
#include "fovea/data/shape_painter.h"

namespace fovea {
namespace {

constexpr int64_t side = 24, frames = 8;
constexpr double step = 2;

struct Direction {
  const char* name;
  double x, y;
};
constexpr std::array<Direction, 4> directions{
    {{"left", -step, 0}, {"right", step, 0}, {"up", 0, -step}, {"down", 0, step}}};

double one_below(double n, Random& random) {
  return static_cast<double>(random.below(static_cast<uint64_t>(n)));
}

bool touch(const PictureBox& a, const PictureBox& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

}  // namespace

Captioned film_number(const Random& random, int64_t i) {
  Random stream = random.fork(static_cast<uint64_t>(i));
  const auto thing = [&] {
    PaintedThing made{one_of(painted_colours, stream), one_of(painted_shapes, stream)};
    made.box = box_for(made.shape, 6 + static_cast<int64_t>(stream.below(2)));
    return made;
  };
  PaintedThing moving = thing(), still = thing();
  while (still.colour == moving.colour) still.colour = one_of(painted_colours, stream);
  const uint64_t first = stream.below(4), second = (first + 1 + stream.below(3)) % 4;
  const Direction &a = directions[first], &b = directions[second];
  const auto turn = static_cast<int64_t>(3 + stream.below(3));  // the last frame of the first move
  // A start from which both moves stay inside.
  const auto start = [&](double da, double db, double size) {
    const double one = da * static_cast<double>(turn),
                 all = one + db * static_cast<double>(frames - 1 - turn);
    const double least = std::max({0.0, -one, -all}),
                 most = static_cast<double>(side) - size - std::max({0.0, one, all});
    return least + one_below(most - least + 1, stream);
  };
  moving.box.x = start(a.x, b.x, moving.box.width);
  moving.box.y = start(a.y, b.y, moving.box.height);
  const auto place_of = [&](int64_t t) {
    const auto one = static_cast<double>(std::min(t, turn)),
               two = static_cast<double>(std::max<int64_t>(0, t - turn));
    return PictureBox{moving.box.x + a.x * one + b.x * two, moving.box.y + a.y * one + b.y * two,
                      moving.box.width, moving.box.height};
  };
  // Out of its way, or not at all.
  bool has_still = false;
  for (int tries = 0; !has_still && tries < 100; ++tries) {
    still.box.x = one_below(side - still.box.width + 1, stream);
    still.box.y = one_below(side - still.box.height + 1, stream);
    has_still = true;
    for (int64_t t = 0; t < frames; ++t) has_still &= !touch(still.box, place_of(t));
  }

  Captioned film{.name = say("builtin:moving#", i)};
  const Picture ground = painted_ground(side, side, stream);
  for (int64_t t = 0; t < frames; ++t) {
    Picture picture = ground;
    Random same = stream;  // colours stay what they are from frame to frame
    PaintedThing now = moving;
    now.box = place_of(t);
    paint_thing(picture, now, same);
    if (has_still) paint_thing(picture, still, same);
    film.pictures.push_back(std::make_shared<const Picture>(std::move(picture)));
  }
  film.caption = say(moving.colour, " ", moving.shape, " moves ", a.name, " then ", b.name);
  film.places.resize(6);
  film.places[3].from = 0, film.places[3].to = static_cast<int32_t>(turn + 1);
  film.places[5].from = static_cast<int32_t>(turn), film.places[5].to = frames;
  return film;
}

std::vector<Captioned> generate_moving(int64_t n, const Random& random) {
  std::vector<Captioned> all;
  for (int64_t i = 0; i < n; ++i) all.push_back(film_number(random, i));
  return all;
}

}  // namespace fovea
