// builtin:scenes. Things on a ground, told from left to right, and questions about them.
#include <algorithm>

#include "fovea/data/builtin_grammar.h"
#include "fovea/data/picture_words.h"
#include "fovea/data/shape_painter.h"

namespace fovea {
namespace {

constexpr int64_t side = 48;

bool apart(const PaintedThing& a, const PaintedThing& b) {
  constexpr double space = 2, columns = 4;  // so that which is further left is plain to see
  const bool beside =
      a.box.x + a.box.width + space <= b.box.x || b.box.x + b.box.width + space <= a.box.x ||
      a.box.y + a.box.height + space <= b.box.y || b.box.y + b.box.height + space <= a.box.y;
  return beside && std::abs(a.middle_x() - b.middle_x()) >= columns;
}

// From left to right.
std::vector<PaintedThing> things_of(Random& random) {
  const uint64_t count = 2 + random.below(4);
  std::vector<PaintedThing> things;
  for (int tries = 0; things.size() < count && tries < 200; ++tries) {
    PaintedThing thing{one_of(painted_colours, random), chance(50, random)
                                                            ? one_of(painted_shapes, random)
                                                            : one_of(painted_digits, random)};
    thing.box = box_for(thing.shape, 10 + static_cast<int64_t>(random.below(4)));
    if (thing.box.width < thing.box.height) thing.box = box_for(thing.shape, 14);
    thing.box.x =
        static_cast<double>(random.below(static_cast<uint64_t>(side - thing.box.width + 1)));
    thing.box.y =
        static_cast<double>(random.below(static_cast<uint64_t>(side - thing.box.height + 1)));
    const bool free =
        std::ranges::all_of(things, [&](const auto& other) { return apart(thing, other); });
    if (free) things.push_back(std::move(thing));
  }
  std::ranges::sort(things, {}, &PaintedThing::middle_x);
  return things;
}

struct Scene {
  std::vector<PaintedThing> things;
  std::shared_ptr<const Picture> picture;
};

Scene scene_of(const Random& random, int64_t i) {
  Random stream = random.fork(static_cast<uint64_t>(i));
  Scene scene{things_of(stream), nullptr};
  Picture picture = painted_ground(side, side, stream);
  for (const PaintedThing& thing : scene.things) paint_thing(picture, thing, stream);
  scene.picture = std::make_shared<const Picture>(std::move(picture));
  return scene;
}

std::string scene_name(int64_t i) { return say("builtin:scenes#", i); }

// Things that no other has the same of.
std::vector<const PaintedThing*> alone(const std::vector<PaintedThing>& things,
                                       std::string PaintedThing::*what) {
  std::vector<const PaintedThing*> found;
  for (const PaintedThing& thing : things) {
    if (std::ranges::count(things, thing.*what, what) == 1) found.push_back(&thing);
  }
  return found;
}

bool has(const std::vector<PaintedThing>& things, const std::string& colour,
         const std::string& shape) {
  return std::ranges::any_of(things, [&](const PaintedThing& thing) {
    return thing.colour == colour && thing.shape == shape;
  });
}

// Whether there is a thing of a colour and a shape: both are there, if not always in one thing.
void ask_whether(PictureQuestion& q, const std::vector<PaintedThing>& things, Random& random) {
  const bool yes = chance(50, random);
  const PaintedThing& one = things[random.below(things.size())];
  std::string colour = one.colour, shape = one.shape;
  for (int tries = 0; !yes && has(things, colour, shape); ++tries) {
    colour =
        tries < 20 ? things[random.below(things.size())].colour : one_of(painted_colours, random);
  }
  q.question = say("is there a ", colour, " ", shape, " ?");
  q.answer = yes ? "yes" : "no";
  if (yes) q.place.box = one.box;
}

void ask_at_edge(PictureQuestion& q, const std::vector<PaintedThing>& things, Random& random) {
  const auto middle = random.below(2) == 0 ? &PaintedThing::middle_x : &PaintedThing::middle_y;
  const bool least = random.below(2) == 0, across = middle == &PaintedThing::middle_x;
  const PaintedThing* found = &things[0];
  for (const PaintedThing& thing : things) {
    const double a = (thing.*middle)(), b = (found->*middle)();
    if (least ? a < b : a > b) found = &thing;
  }
  const bool colour = chance(50, random);
  q.question = say(colour ? "what colour is the thing " : "what is ",
                   across ? (least ? "furthest left" : "furthest right")
                          : (least ? "at the top" : "at the bottom"),
                   " ?");
  q.answer = colour ? found->colour : found->shape;
  q.place.box = found->box;
}

}  // namespace

Random builtin_stream(const std::string& name) { return Random(0).fork("builtin:" + name); }

Captioned scene_number(const Random& random, int64_t i) {
  const Scene scene = scene_of(random, i);
  Captioned example{.name = scene_name(i), .pictures = {scene.picture}};
  for (const PaintedThing& thing : scene.things) {
    example.caption += say(example.caption.empty() ? "" : " ", thing.shape);
    example.places.push_back({.box = thing.box});
  }
  return example;
}

std::vector<Captioned> generate_scenes(int64_t n, const Random& random) {
  std::vector<Captioned> all;
  for (int64_t i = 0; i < n; ++i) all.push_back(scene_number(random, i));
  return all;
}

std::vector<PictureQuestion> generate_scene_questions(int64_t n, const Random& random) {
  std::vector<PictureQuestion> all;
  for (int64_t i = 0; i < n; ++i) {
    const Scene scene = scene_of(random, i);
    Random stream = random.fork(static_cast<uint64_t>(i)).fork("question");
    PictureQuestion q{.name = scene_name(i), .picture = scene.picture};
    const uint64_t kind = stream.below(10);
    const auto named = alone(scene.things, kind < 3 ? &PaintedThing::shape : &PaintedThing::colour);
    if (kind < 6 && !named.empty()) {
      const PaintedThing& thing = *named[stream.below(named.size())];
      q.question = kind < 3 ? say("what colour is the ", thing.shape, " ?")
                            : say("what is ", thing.colour, " ?");
      q.answer = kind < 3 ? thing.colour : thing.shape;
      q.place.box = thing.box;
    } else if (kind < 8) {
      ask_whether(q, scene.things, stream);
    } else {
      ask_at_edge(q, scene.things, stream);
    }
    all.push_back(std::move(q));
  }
  return all;
}

}  // namespace fovea
