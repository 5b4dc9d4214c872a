// Long sequences whose label is not in any part of them, after the tasks of the Long Range Arena:
// Tay et al., "Long Range Arena: A Benchmark for Efficient Transformers", 2021.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fovea/base/error.h"
#include "fovea/data/builtin.h"
#include "fovea/data/builtin_grammar.h"

namespace fovea {
namespace {

// --- listops: Nangia, Bowman, "ListOps", 2018 ---

struct Expression {
  std::string text;
  int64_t tokens = 0;
  int value = 0;
};

int applied(int which, std::vector<int> values) {
  switch (which) {
    case 0:
      return *std::ranges::min_element(values);
    case 1:
      return *std::ranges::max_element(values);
    case 2: {
      std::ranges::sort(values);
      const size_t n = values.size();
      return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    }
    default: {
      int sum = 0;
      for (int x : values) sum += x;
      return sum % 10;
    }
  }
}

void add_list(Expression& to, int depth, int64_t most, Random& random) {
  constexpr const char* names[] = {"[MIN", "[MAX", "[MED", "[SM"};
  constexpr int deepest = 10;
  const auto put = [&](const std::string& token) {
    to.text += (to.text.empty() ? "" : " ") + token;
    ++to.tokens;
  };
  if (depth > 0 && (depth >= deepest || !chance(25, random))) {
    to.value = static_cast<int>(random.below(10));
    put(std::to_string(to.value));
    return;
  }
  const auto which = static_cast<int>(random.below(4));
  put(names[which]);
  const int64_t count = 2 + static_cast<int64_t>(random.below(9));
  std::vector<int> values;
  // One that has grown too long is thrown away: it need not be finished.
  for (int64_t i = 0; i < count && to.tokens <= most; ++i) {
    add_list(to, depth + 1, most, random);
    values.push_back(to.value);
  }
  put("]");
  to.value = values.empty() ? 0 : applied(which, values);
}

// --- pictures as lines of grey ---

struct Grey {
  int64_t side;
  std::vector<double> ink;
  explicit Grey(int64_t n) : side(n), ink(static_cast<size_t>(n * n), 0.0) {}

  void put(double x, double y, double strength) {
    const auto i = static_cast<int64_t>(std::lround(y)), j = static_cast<int64_t>(std::lround(x));
    if (i < 0 || j < 0 || i >= side || j >= side) return;
    double& at = ink[static_cast<size_t>(i * side + j)];
    at = std::max(at, strength);
  }
  void dot(double x, double y, double radius) {
    for (double dy = -radius; dy <= radius; ++dy) {
      for (double dx = -radius; dx <= radius; ++dx) {
        if (dx * dx + dy * dy <= radius * radius + 0.1) put(x + dx, y + dy, 1);
      }
    }
  }
  std::string text() const {
    constexpr std::string_view greys = ".123456789abcdef";
    std::string line;
    for (double x : ink) {
      line += greys[static_cast<size_t>(std::clamp(std::lround(x * 15), 0L, 15L))];
    }
    return line;
  }
};

struct Point {
  double x, y;
};

// A curve that does not turn sharply, from somewhere to wherever it gets; empty where it left the
// picture.
std::vector<Point> curve(int64_t side, int64_t steps, Random& random) {
  const double room = static_cast<double>(side) - 3;
  Point at{2 + random.uniform() * (room - 2), 2 + random.uniform() * (room - 2)};
  double turn = 2 * std::numbers::pi * random.uniform(), bend = 0;
  std::vector<Point> points;
  for (int64_t i = 0; i < steps; ++i) {
    points.push_back(at);
    bend = 0.7 * bend + 0.3 * (random.uniform() - 0.5);
    turn += bend;
    at = {at.x + std::cos(turn), at.y + std::sin(turn)};
    if (at.x < 2 || at.y < 2 || at.x > room || at.y > room) return {};
  }
  return points;
}

// Whether two curves come closer than a gap that the eye needs.
bool touch(const std::vector<Point>& a, const std::vector<Point>& b) {
  for (const Point& p : a) {
    for (const Point& q : b) {
      if (std::hypot(p.x - q.x, p.y - q.y) < 5) return true;
    }
  }
  return false;
}

void dashes(Grey& picture, const std::vector<Point>& points) {
  for (size_t i = 0; i < points.size(); ++i) {
    if (i % 4 != 3) picture.put(points[i].x, points[i].y, 0.8);
  }
}

Labelled path_picture(int64_t side, Random random) {
  const int64_t steps = side * 5 / 8;
  for (;;) {
    std::vector<std::vector<Point>> curves;
    for (int tries = 0; tries < 400 && curves.size() < 3; ++tries) {
      const auto next = curve(side, curves.size() < 2 ? steps : steps / 2, random);
      const bool alone =
          std::ranges::none_of(curves, [&](const auto& c) { return touch(c, next); });
      if (!next.empty() && alone) curves.push_back(next);
    }
    if (curves.size() < 3) continue;
    const bool joined = chance(50, random);
    Grey picture(side);
    for (const auto& c : curves) dashes(picture, c);
    // Of two long paths one has both dots, or each has one: how many and how long tells nothing.
    const Point first = curves[0].front(), second = joined ? curves[0].back() : curves[1].back();
    picture.dot(first.x, first.y, 1.5), picture.dot(second.x, second.y, 1.5);
    return {.text = picture.text(), .label = joined ? "yes" : "no"};
  }
}

constexpr std::array shapes{"disc", "ring", "square", "cross", "bars"};

Labelled shape_picture(int64_t side, Random random) {
  const auto which = static_cast<size_t>(random.below(shapes.size()));
  Grey picture(side);
  const double n = static_cast<double>(side), r = n * (0.18 + 0.14 * random.uniform()),
               x0 = r + random.uniform() * (n - 2 * r), y0 = r + random.uniform() * (n - 2 * r),
               bright = 0.5 + 0.4 * random.uniform();
  for (int64_t i = 0; i < side; ++i) {
    for (int64_t j = 0; j < side; ++j) {
      const double dx = std::abs(static_cast<double>(j) - x0),
                   dy = std::abs(static_cast<double>(i) - y0), far = std::hypot(dx, dy);
      const bool inside[] = {far < r, far < r && far > 0.6 * r, std::max(dx, dy) < 0.85 * r,
                             std::max(dx, dy) < r && std::min(dx, dy) < 0.25 * r,
                             dx < r && dy < r && static_cast<int64_t>(dy / r * 4) % 2 == 1};
      double ink = inside[which] ? bright : 0.1;
      ink += 0.12 * (random.uniform() - 0.5);
      picture.ink[static_cast<size_t>(i * side + j)] = std::clamp(ink, 0.0, 1.0);
    }
  }
  return {.text = picture.text(), .label = shapes[which]};
}

// --- documents ---

constexpr int64_t topics = 12, topic_words = 24;

std::string made_word(uint64_t number) {
  constexpr std::string_view first = "bdfgklmnprstvz", second = "aeiou";
  Random random = Random(0).fork("documents").fork(number);
  std::string word;
  for (uint64_t i = 0, n = 2 + random.below(2); i < n; ++i) {
    word += first[random.below(first.size())];
    word += second[random.below(second.size())];
  }
  return word;
}

std::string document(uint64_t topic, int64_t length, Random& random) {
  constexpr const char* plain[] = {"the",  "of", "and", "to", "in", "that", "is",   "for",
                                   "with", "on", "we",  "it", "as", "are",  "this", "which"};
  std::string text;
  while (static_cast<int64_t>(text.size()) < length) {
    const bool own = chance(12, random);  // few words tell, and they stand anywhere
    const std::string word = own ? made_word(topic * topic_words + random.below(topic_words))
                             : chance(60, random) ? one_of(plain, random)
                                                  : made_word(1'000 + random.below(400));
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

}  // namespace

std::vector<Labelled> generate_listops(int64_t n, int64_t shortest, int64_t longest,
                                       Random random) {
  check(shortest >= 3 && shortest <= longest, "listops: lengths must rise from at least 3, got ",
        shortest, " to ", longest);
  std::vector<Labelled> all;
  int64_t tries = 0;
  while (static_cast<int64_t>(all.size()) < n) {
    Expression made;
    add_list(made, 0, longest, random);
    check(++tries < 100'000 * (static_cast<int64_t>(all.size()) + 1), "listops: lists of ",
          shortest, " to ", longest, " tokens are too rare; give a wider range");
    if (made.tokens < shortest || made.tokens > longest) continue;
    all.push_back({.text = made.text, .label = std::to_string(made.value)});
  }
  return all;
}

std::vector<Labelled> generate_pathfinder(int64_t n, int64_t side, Random random) {
  std::vector<Labelled> all;
  for (int64_t i = 0; i < n; ++i) {
    all.push_back(path_picture(side, random.fork(static_cast<uint64_t>(i))));
  }
  return all;
}

std::vector<Labelled> generate_shapes(int64_t n, int64_t side, Random random) {
  std::vector<Labelled> all;
  for (int64_t i = 0; i < n; ++i) {
    all.push_back(shape_picture(side, random.fork(static_cast<uint64_t>(i))));
  }
  return all;
}

std::vector<TextPair> generate_documents(int64_t n, int64_t length, Random random) {
  std::vector<TextPair> all;
  for (int64_t i = 0; i < n; ++i) {
    const bool same = chance(50, random);
    const uint64_t first = random.below(topics),
                   second = same ? first : (first + 1 + random.below(topics - 1)) % topics;
    TextPair pair;
    pair.label = same ? "yes" : "no";
    pair.first = document(first, length, random), pair.second = document(second, length, random);
    all.push_back(std::move(pair));
  }
  return all;
}

}  // namespace fovea
