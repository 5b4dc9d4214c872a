// Pictures that our own code draws: what is said of them is to be seen on them.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "fovea/base/utf8.h"
#include "fovea/data/picture_words.h"
#include "fovea/data/shape_painter.h"

namespace fovea::test {
namespace {

// How far a pixel is from the dark ground.
int brightness(const Picture& p, int64_t y, int64_t x) {
  return std::max({p.at(y, x, 0), p.at(y, x, 1), p.at(y, x, 2)});
}

// The middle of the pixels that differ from the ground inside of a box, or of the whole.
std::pair<double, double> middle_of(const Picture& p, const PictureBox& box) {
  double n = 0, sy = 0, sx = 0;
  for (auto y = static_cast<int64_t>(box.y); y < static_cast<int64_t>(box.y + box.height); ++y) {
    for (auto x = static_cast<int64_t>(box.x); x < static_cast<int64_t>(box.x + box.width); ++x) {
      if (brightness(p, y, x) < 90) continue;
      ++n, sy += static_cast<double>(y), sx += static_cast<double>(x);
    }
  }
  EXPECT_GT(n, 5);
  return {sy / n, sx / n};
}

TEST(Scenes, AreToldFromLeftToRight) {
  const auto scenes = generate_scenes(200, builtin_stream("scenes"));
  std::set<std::string> said;
  for (const Captioned& scene : scenes) {
    const auto words = split_at_spaces(scene.caption);
    ASSERT_EQ(words.size(), scene.places.size()) << scene.caption;
    ASSERT_EQ(scene.pictures.size(), 1u);
    double last = -1;
    for (size_t i = 0; i < words.size(); ++i) {
      said.emplace(words[i]);
      ASSERT_TRUE(scene.places[i].known());
      const double x = middle_of(*scene.pictures[0], scene.places[i].box).second;
      EXPECT_GE(x, last) << scene.caption;
      last = x - 1.5;  // a triangle's or a digit's middle is not quite its box's
    }
  }
  EXPECT_EQ(said.size(), 4 + 10u) << "every shape and digit";
}

TEST(Scenes, AreTheSameForTheSameNumber) {
  const Random stream = builtin_stream("scenes");
  const auto all = generate_scenes(5, stream);
  EXPECT_EQ(all[3].caption, scene_number(stream, 3).caption);
  EXPECT_EQ(all[3].pictures[0]->pixels, picture_called("builtin:scenes#3")->pixels);
  EXPECT_NE(all[3].pictures[0]->pixels, all[4].pictures[0]->pixels);
  const auto asked = generate_scene_questions(5, stream);
  EXPECT_EQ(asked[3].picture->pixels, all[3].pictures[0]->pixels) << "one picture, both tasks";
}

// Whoever knows only the question can do no better than its most frequent answer.
TEST(Scenes, QuestionsDoNotTellTheirAnswers) {
  std::map<std::string, std::map<std::string, int>> answers;
  const auto all = generate_scene_questions(4000, builtin_stream("scenes"));
  for (const PictureQuestion& q : all) ++answers[q.question][q.answer];
  int best = 0;
  for (const auto& [question, counts] : answers) {
    int most = 0;
    for (const auto& [answer, n] : counts) most = std::max(most, n);
    best += most;
  }
  EXPECT_LT(best, 0.5 * static_cast<double>(all.size()));
  EXPECT_GT(answers.size(), 60u);
}

// The colour's name that most bright pixels of a box are nearest to.
std::string colour_in(const Picture& p, const PictureBox& box) {
  const std::map<std::string, std::array<int, 3>> inks{
      {"red", {220, 50, 47}},     {"green", {60, 180, 75}},   {"blue", {60, 100, 230}},
      {"yellow", {235, 215, 60}}, {"purple", {170, 70, 200}}, {"white", {232, 232, 232}}};
  std::map<std::string, int> counts;
  for (auto y = static_cast<int64_t>(box.y); y < static_cast<int64_t>(box.y + box.height); ++y) {
    for (auto x = static_cast<int64_t>(box.x); x < static_cast<int64_t>(box.x + box.width); ++x) {
      if (brightness(p, y, x) < 150) continue;
      std::string best;
      int least = 1 << 30;
      for (const auto& [name, ink] : inks) {
        int far = 0;
        for (int64_t c = 0; c < 3; ++c) {
          const int d = p.at(y, x, c) - ink[static_cast<size_t>(c)];
          far += d * d;
        }
        if (far < least) least = far, best = name;
      }
      ++counts[best];
    }
  }
  std::string most;
  for (const auto& [name, n] : counts) {
    if (most.empty() || n > counts[most]) most = name;
  }
  return most;
}

TEST(Scenes, AnswersAreRight) {
  const Random stream = builtin_stream("scenes");
  const auto scenes = generate_scenes(300, stream);
  const auto asked = generate_scene_questions(300, stream);
  int yes = 0, no = 0;
  for (size_t i = 0; i < asked.size(); ++i) {
    const std::string caption = " " + scenes[i].caption + " ", &q = asked[i].question;
    const std::string& answer = asked[i].answer;
    const auto words = split_at_spaces(q);
    const auto has = [&](std::string_view word) {
      return caption.find(say(" ", word, " ")) != caption.npos;
    };
    if (answer == "no") {
      ++no;
      EXPECT_FALSE(asked[i].place.known());
      EXPECT_TRUE(has(words[4])) << "its shape is there, in another colour" << q << caption;
      continue;
    }
    ASSERT_TRUE(asked[i].place.known()) << q;
    const std::string colour = colour_in(*asked[i].picture, asked[i].place.box);
    if (answer == "yes") {
      ++yes;
      EXPECT_EQ(colour, words[3]) << q;
      EXPECT_TRUE(has(words[4])) << q << caption;
    } else if (q.starts_with("what colour")) {
      EXPECT_EQ(colour, answer) << q;
    } else {
      EXPECT_TRUE(has(answer)) << q << caption;
      if (q.find("furthest") == q.npos && q.find(" at the ") == q.npos) {
        EXPECT_EQ(colour, words[2]) << q;
      }
    }
    if (q.find("furthest left") != q.npos) {
      EXPECT_EQ(asked[i].place.box, scenes[i].places.front().box);
    }
    if (q.find("furthest right") != q.npos) {
      EXPECT_EQ(asked[i].place.box, scenes[i].places.back().box);
    }
  }
  EXPECT_GT(yes, 15);
  EXPECT_GT(no, 15);
}

TEST(Moving, MovesAsItsCaptionSays) {
  const auto films = generate_moving(60, builtin_stream("moving"));
  for (const Captioned& film : films) {
    const auto words = split_at_spaces(film.caption);
    ASSERT_EQ(words.size(), 6u);
    ASSERT_EQ(film.places.size(), 6u);
    ASSERT_EQ(film.pictures.size(), 8u);
    // Between two frames of a move what changed lies ahead and behind.
    const auto change = [&](size_t from, size_t to) {
      double y = 0, x = 0;
      for (int64_t i = 0; i < 24; ++i) {
        for (int64_t j = 0; j < 24; ++j) {
          const int by =
              brightness(*film.pictures[to], i, j) - brightness(*film.pictures[from], i, j);
          y += by * static_cast<double>(i), x += by * static_cast<double>(j);
        }
      }
      return std::pair(y, x);
    };
    for (const size_t word : {size_t{3}, size_t{5}}) {
      const auto [dy, dx] = change(static_cast<size_t>(film.places[word].from),
                                   static_cast<size_t>(film.places[word].to - 1));
      const std::string_view says = words[word];
      const double along = says == "left" ? -dx : says == "right" ? dx : says == "up" ? -dy : dy;
      EXPECT_GT(along, 0) << film.name << " " << film.caption;
    }
    EXPECT_NE(words[3], words[5]);
  }
  EXPECT_EQ(films[7].pictures[2]->pixels, frames_called("builtin:moving#7")[2]->pixels);
}

}  // namespace
}  // namespace fovea::test
