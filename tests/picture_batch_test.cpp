// One size for all, augmenting that is a function of a stream, batches made ahead, drawn digits.
#include "fovea/data/picture_batch.h"

#include <gtest/gtest.h>

#include <set>

#include "fovea/data/batches_ahead.h"
#include "fovea/data/digits.h"
#include "support/gradient.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

Picture ramp(int64_t height, int64_t width) {
  Picture p{height, width, 1, {}};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) p.pixels.push_back(static_cast<uint8_t>(10 * y + x));
  }
  return p;
}

TEST(PictureSizeOption, SaysASizeOrTakesTheFirst) {
  PictureOptions o;
  EXPECT_EQ(wanted_size(o, {28, 20, 1}), (PictureSize{28, 20, 1}));
  EXPECT_EQ(wanted_size(o, {480, 640, 3}), (PictureSize{48, 64, 3}));
  EXPECT_EQ(wanted_size(o, {1, 640, 3}), (PictureSize{1, 64, 3}));
  o.size = "32", o.colour = "grey";
  EXPECT_EQ(wanted_size(o, {480, 640, 3}), (PictureSize{32, 32, 1}));
  o.size = "32x48", o.colour = "rgb";
  EXPECT_EQ(wanted_size(o, {480, 640, 1}), (PictureSize{32, 48, 3}));
  for (const char* bad : {"", "x", "32x", "0", "-4", "32x48x3", "1e9", "a"}) {
    o.size = bad;
    EXPECT_NE(error_of([&] {
                wanted_size(o, {1, 1, 1});
              }).find("size: needs auto"),
              std::string::npos)
        << bad;
  }
}

TEST(Resized, KeepsEvenPicturesEvenAndMeans) {
  const Picture even{7, 9, 3, std::vector<uint8_t>(189, 123)};
  for (const auto& [h, w] : {std::pair<int64_t, int64_t>{1, 1}, {3, 20}, {14, 4}, {7, 9}}) {
    const Picture now = resized(even, h, w);
    EXPECT_EQ(std::set(now.pixels.begin(), now.pixels.end()), std::set<uint8_t>{123});
    EXPECT_EQ(static_cast<int64_t>(now.pixels.size()), h * w * 3);
  }
  // Half the size: of two pixels the mean, and a little of those beside them.
  const Picture half = resized(Picture{1, 8, 1, {0, 0, 0, 0, 200, 200, 200, 200}}, 1, 4);
  EXPECT_EQ(half.pixels, (std::vector<uint8_t>{0, 25, 175, 200}));
  // A pixel that is stretched is that pixel everywhere.
  EXPECT_EQ(resized(Picture{1, 1, 1, {9}}, 2, 2).pixels, std::vector<uint8_t>(4, 9));
}

TEST(Channels, GreyAndColours) {
  EXPECT_EQ(with_channels(Picture{1, 1, 1, {7}}, 3).pixels, (std::vector<uint8_t>{7, 7, 7}));
  EXPECT_EQ(with_channels(Picture{1, 1, 3, {255, 0, 0}}, 1).pixels, std::vector<uint8_t>{76});
  EXPECT_EQ(with_channels(Picture{1, 1, 3, {50, 50, 50}}, 1).pixels, std::vector<uint8_t>{50});
}

TEST(Augmented, IsAFunctionOfSeedEpochAndExample) {
  PictureOptions o;
  const Picture p = ramp(9, 9);
  EXPECT_FALSE(augments(o));
  EXPECT_EQ(augmented(p, o, Random(1)).pixels, p.pixels);
  o.shift_by = 2, o.flip = true, o.crop = 0.7;
  EXPECT_TRUE(augments(o));
  std::set<std::vector<uint8_t>> different;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    for (int64_t example = 0; example < 4; ++example) {
      const auto once = augmented(p, o, augment_stream(5, epoch, example)).pixels;
      EXPECT_EQ(once, augmented(p, o, augment_stream(5, epoch, example)).pixels);
      different.insert(once);
    }
  }
  EXPECT_GE(different.size(), 15u);
}

TEST(Augmented, ShiftsAndFlips) {
  PictureOptions o;
  o.shift_by = 1;
  const Picture p = ramp(3, 3);
  std::set<std::vector<uint8_t>> seen;
  for (uint64_t i = 0; i < 200; ++i) seen.insert(augmented(p, o, Random(i)).pixels);
  EXPECT_EQ(seen.size(), 9u) << "each of the nine places";
  EXPECT_TRUE(seen.contains({0, 0, 1, 0, 0, 1, 10, 10, 11})) << "down and right, edges go on";
  o.shift_by = 0, o.flip = true;
  seen.clear();
  for (uint64_t i = 0; i < 40; ++i) seen.insert(augmented(p, o, Random(i)).pixels);
  EXPECT_EQ(seen, (std::set<std::vector<uint8_t>>{p.pixels, {2, 1, 0, 12, 11, 10, 22, 21, 20}}));
}

TEST(PictureBatch, IsFloatsOfOneSize) {
  const Picture grey = ramp(4, 4), colour{1, 1, 3, {255, 0, 51}};
  const Picture* both[] = {&grey, &colour};
  const Tensor batch = picture_batch(both, {4, 4, 3});
  EXPECT_EQ(batch.shape(), (Shape{2, 4, 4, 3}));
  EXPECT_FLOAT_EQ(batch.read()[3 * 5 + 1], 11 / 255.0f);
  EXPECT_FLOAT_EQ(batch.read()[48 + 2], 0.2f);
}

TEST(Digits, AreDrawnAndLaidOnACanvas) {
  std::set<std::vector<uint8_t>> different;
  std::set<int> seen;
  for (int64_t i = 0; i < 60; ++i) {
    const Picture p = builtin_digit(i);
    EXPECT_EQ(p.pixels, builtin_digit(i).pixels);
    EXPECT_GT(std::ranges::count(p.pixels, 255), 10);
    different.insert(p.pixels), seen.insert(digit_of(i));
  }
  EXPECT_EQ(different.size(), 60u);
  EXPECT_EQ(seen.size(), 10u);
  const Picture p = builtin_digit(0);
  const Picture placed = on_canvas(p, {.side = 60}, Random(3));
  EXPECT_EQ(std::ranges::count(placed.pixels, 0) - (3600 - 784), std::ranges::count(p.pixels, 0))
      << "all of it is there, and nothing else";
  const Picture cluttered = on_canvas(p, {.side = 60, .clutter = 6}, Random(3));
  EXPECT_LT(std::ranges::count(cluttered.pixels, 0), std::ranges::count(placed.pixels, 0) - 20);
  EXPECT_EQ(on_canvas(placed, {.side = 60}, Random(4)).pixels, placed.pixels);
  EXPECT_NE(error_of([&] { on_canvas(p, {.side = 20}, Random(1)); }), "");
}

TEST(BatchesAhead, GivesEachBatchOnceInOrderWhateverTheThreads) {
  const int before = threads();
  for (const int count : {1, 2}) {
    set_threads(count);
    BatchesAhead<int64_t> ahead;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      ahead.start(20, [epoch](int64_t i) { return 100 * epoch + i; });
      // A run that goes on begins in the middle.
      for (int64_t i = epoch == 1 ? 7 : 0; i < 20; ++i) EXPECT_EQ(ahead.take(i), 100 * epoch + i);
    }
    ahead.start(5, [](int64_t i) { return i; });
    EXPECT_EQ(ahead.take(0), 0);
    EXPECT_EQ(ahead.take(3), 3) << "also out of order";
    EXPECT_EQ(ahead.take(1), 1);
    EXPECT_NE(error_of([&] { ahead.take(5); }), "");
    ahead.start(9, [](int64_t i) {
      check(i < 4, "broken ", i);
      return i;
    });
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(ahead.take(i), i);
    EXPECT_EQ(error_of([&] { ahead.take(4); }), "broken 4");
    EXPECT_EQ(error_of([&] { ahead.take(4); }), "broken 4");
  }
  set_threads(before);
}

TEST(BatchesAhead, NeverMakesMoreThanItsRoom) {
  const int before = threads();
  set_threads(2);
  std::atomic<int64_t> made{0};
  {
    BatchesAhead<int64_t> ahead;
    ahead.start(
        1000, [&](int64_t i) { return ++made, i; }, 3);
    EXPECT_EQ(ahead.take(0), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_LE(made.load(), 5);
  }
  set_threads(before);
}

}  // namespace
}  // namespace fovea::test
