// Memory that is not ours: borrowed arrays, heads as they lie, contexts that go where they are
// told.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "fovea/attention/align/entmax.h"
#include "fovea/attention/engine.h"
#include "fovea/attention/recorder.h"
#include "fovea/attention/score/additive.h"
#include "fovea/op/matmul.h"
#include "fovea/op/shape.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

Tensor numbers(const Shape& shape, uint64_t seed) {
  return random_tensor(shape, seed, -1, 1, Dtype::f32);
}

TEST(Borrowed, IsReadWhereItLiesAndNeverWrittenTo) {
  const std::array<float, 4> mine{1, 2, 3, 4};
  Tensor x = Tensor::borrow({2, 2}, mine);
  EXPECT_TRUE(x.borrowed());
  EXPECT_EQ(x.read().data(), mine.data());
  EXPECT_TRUE(x.reshaped({4}).borrowed());
  EXPECT_EQ(x.reshaped({4}).read().data(), mine.data());
  x.write()[0] = 7;
  EXPECT_FALSE(x.borrowed());
  EXPECT_EQ(mine[0], 1) << "a write to what is only read copies it";
  Parameter p(Tensor::borrow({4}, mine));
  p.write()[0] = 9;
  EXPECT_EQ(mine[0], 1);
}

TEST(Borrowed, MemoryToWriteIsWrittenToByItsOnlyHandle) {
  std::vector<double> mine{1, 2, 3};
  Tensor x = Tensor::borrow_to_write({3}, mine);
  x.write<double>()[1] = 5;
  EXPECT_EQ(mine[1], 5);
  Tensor copy = x;
  copy.write<double>()[1] = 6;
  EXPECT_EQ(mine[1], 5) << "a value that is shared is copied first";
  EXPECT_FALSE(copy.borrowed());
  x.write<double>()[2] = 8;  // alone again
  EXPECT_EQ(mine[2], 8);
}

TEST(Borrowed, AnOwnerLivesAsLongAsTheArray) {
  auto owner = std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{4, 5});
  const std::weak_ptr<void> watched = owner;
  Tensor x = Tensor::borrow({2}, *owner, owner);
  owner.reset();
  Tensor view = x.reshaped({1, 2});
  x = Tensor();
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(view.read<int32_t>()[1], 5);
  view = Tensor();
  EXPECT_TRUE(watched.expired());

  std::vector<float> list{1, 2, 3};
  const float* at = list.data();
  const Tensor adopted = Tensor::adopt({3}, std::move(list));
  EXPECT_EQ(adopted.read().data(), at);
}

TEST(Borrowed, ArraysAreMadeOfAnyElementsInARow) {
  const float plain[] = {1, 2};
  std::array<int32_t, 2> ids{3, 4};
  std::vector<double> list{5, 6};
  EXPECT_EQ(Tensor::of({2}, plain).read()[1], 2);
  EXPECT_EQ(Tensor::of({2}, ids).read<int32_t>()[1], 4);
  EXPECT_EQ(Tensor::of({2}, std::span(list)).read<double>()[1], 6);
}

TEST(Borrowed, WhatDoesNotFitIsRefused) {
  std::vector<float> mine(6);
  EXPECT_THROW(Tensor::borrow({4}, mine), Error);
  EXPECT_THROW(Tensor::borrow({4}, std::span<const float>(static_cast<float*>(nullptr), 0)), Error);
  EXPECT_EQ(Tensor::borrow({0, 3}, std::span<const float>()).elements(), 0);
  std::vector<char> bytes(64);
  char* odd = bytes.data() + 1;
  EXPECT_THROW(Tensor::borrow({2}, std::span<const float>(reinterpret_cast<float*>(odd), 2)),
               Error);
}

TEST(Borrowed, OpsUnderATapeTakeItAsAnyArray) {
  std::vector<float> mine{1, 2, 3, 4};
  Tape tape;
  const Tensor x = tape.watch(Tensor::borrow({2, 2}, mine));
  const Tensor loss = sum(square(x));
  const Tensor dx = tape.gradients(loss, std::vector{x})[0];
  EXPECT_EQ(dx.read()[3], 8);
}

// Memory that begins anywhere: no kernel may count on more than an element's own alignment.
TEST(Borrowed, AttentionReadsMemoryThatBeginsAnywhere) {
  const Shape shape{2, 17, 3, 13};
  const Tensor q = numbers(shape, 1), k = numbers(shape, 2), v = numbers(shape, 3);
  const auto shifted = [](const Tensor& x, std::vector<float>& room) {
    room.resize(static_cast<size_t>(x.elements()) + 1);
    std::ranges::copy(x.read(), room.begin() + 1);
    return Tensor::borrow(x.shape(), std::span(room).subspan(1));
  };
  std::vector<float> a, b, c, out(static_cast<size_t>(q.elements()) + 1);
  for (const Alignment& align : {Alignment{}, entmax_alignment(1.5)}) {
    const Tensor want = attend({.q = q, .k = k, .v = v}, scaled_score(), align).context;
    AttentionInputs in;
    in.q = shifted(q, a), in.k = shifted(k, b), in.v = shifted(v, c);
    in.into.memory = std::span(out).subspan(1);
    const Tensor got = attend(in, scaled_score(), align).context;
    expect_same_bits(got, want);
    EXPECT_EQ(got.read().data(), out.data() + 1);
    expect_same_bits(matmul(in.q.memory(), transposed(in.k.memory())), matmul(q, transposed(k)));
  }
}

struct Laid {
  const char* name;
  std::function<Heads(const Tensor& rows)> as;  // a copy of [B, T, H, D] that lies otherwise
};

std::vector<Laid> every_layout() {
  return {
      {"head-major",
       [](const Tensor& x) {
         return Heads::head_major(permute(x, {0, 2, 1, 3}));
       }},
      {"padded rows",
       [](const Tensor& x) {
         const int64_t B = x.dim(0), T = x.dim(1), H = x.dim(2), D = x.dim(3), row = H * D + 5;
         const Tensor wide = pad(reshape(x, {B, T, H * D}), 2, 3, 2);
         return Heads::strided(wide, {B, T, H, D},
                               {.batch = T * row, .row = row, .head = D, .offset = 3});
       }},
      {"batch between rows",
       [](const Tensor& x) {
         const int64_t B = x.dim(0), T = x.dim(1), H = x.dim(2), D = x.dim(3);
         return Heads::strided(permute(x, {1, 0, 2, 3}), {B, T, H, D},
                               {.batch = H * D, .row = B * H * D, .head = D});
       }},
  };
}

TEST(Heads, AreReadAsTheyLieWithTheSameBitsAndGradients) {
  Parameters table(1);
  const Score additive = additive_score(Scope(table), 5, 5, 7);
  const struct {
    const char* name;
    Score score;
    Alignment align;
    Pattern who;
  } calls[] = {{"fused", scaled_score(), {}, causal()},
               {"rows", scaled_score(), entmax_alignment(1.5), {}},
               {"additive", additive, {}, {}},
               {"edges", scaled_score(), {}, edges(Tensor::ids({3, 2}, {0, 1, 4, 4, 2, 0}))}};
  for (const Laid& laid : every_layout()) {
    for (const auto& call : calls) {
      SCOPED_TRACE(std::string(laid.name) + ", " + call.name);
      const auto run = [&](bool as_laid) {
        Tape tape;
        std::vector<Tensor> x;
        for (uint64_t i = 0; i < 3; ++i) x.push_back(tape.watch(numbers({2, 6, 2, 5}, i)));
        AttentionInputs in;
        in.q = as_laid ? laid.as(x[0]) : Heads(x[0]);
        in.k = as_laid ? laid.as(x[1]) : Heads(x[1]);
        in.v = as_laid ? laid.as(x[2]) : Heads(x[2]);
        in.who = call.who;
        const Tensor y = attend(in, call.score, call.align).context;
        std::vector<Tensor> all{y};
        for (const Tensor& g : tape.gradients(sum(square(y)), x)) all.push_back(g);
        return all;
      };
      const auto want = run(false), got = run(true);
      for (size_t i = 0; i < want.size(); ++i) expect_same_bits(got[i], want[i]);
      // Without a tape, where nothing is copied.
      AttentionInputs plain, as_laid;
      const Tensor q = numbers({2, 6, 2, 5}, 0), k = numbers({2, 6, 2, 5}, 1);
      plain.q = q, plain.k = plain.v = k, plain.who = as_laid.who = call.who;
      as_laid.q = laid.as(q), as_laid.k = as_laid.v = laid.as(k);
      expect_same_bits(attend(as_laid, call.score, call.align).context,
                       attend(plain, call.score, call.align).context);
    }
  }
}

TEST(Heads, OverlappingRowsHaveTheSumOfTheirGradients) {
  check_gradients(
      [](const std::vector<Tensor>& x) {
        const Heads same = Heads::strided(x[0], {2, 3, 2, 2}, {.row = 1, .head = 2});
        return attend({.q = same, .k = same, .v = same}).context;
      },
      {random_tensor({6}, 1)});
}

TEST(Heads, WhatLeavesTheArrayIsRefused) {
  const Tensor x = numbers({24}, 1);
  const Shape shape{1, 3, 2, 4};
  EXPECT_NO_THROW(Heads::strided(x, shape, {.row = 8, .head = 4}));
  EXPECT_THROW(Heads::strided(x, shape, {.row = 8, .head = 4, .offset = 1}), Error);
  EXPECT_THROW(Heads::strided(x, shape, {.row = 9, .head = 4}), Error);
  EXPECT_THROW(Heads::strided(x, shape, {.row = -1, .head = 4, .offset = 9}), Error);
  EXPECT_THROW(Heads::strided(x, shape, {.row = INT64_MAX, .head = INT64_MAX}), Error);
  EXPECT_THROW(Heads::strided(x, {2, 3}, {.row = 1}), Error);
  EXPECT_THROW(Heads::head_major(x), Error);
}

TEST(Heads, AContextGoesWhereItIsTold) {
  const Tensor q = numbers({2, 3, 2, 4}, 1), k = numbers({2, 5, 2, 4}, 2),
               v = numbers({2, 5, 2, 6}, 3);
  Parameters table(1);
  for (const Score& score : {scaled_score(), additive_score(Scope(table), 4, 4, 3)}) {
    for (const Pattern& who : {Pattern{}, edges(Tensor::ids({2, 2}, {0, 1, 2, 4}))}) {
      for (bool head_major : {false, true}) {
        const auto run = [&](std::span<float> into) {
          Tape tape;
          const Tensor x = tape.watch(q);
          AttentionInputs in;
          in.q = x, in.k = k, in.v = v, in.who = who;
          in.into = {into, head_major};
          const Tensor y = attend(in, score).context;
          const Tensor dx = tape.gradients(sum(square(y)), std::vector{x})[0];
          return std::pair(y, dx);
        };
        std::vector<float> mine(2 * 3 * 2 * 6, NAN);
        const auto [want, want_dx] = run({});
        const auto [y, dx] = run(mine);
        EXPECT_EQ(y.shape(), head_major ? (Shape{2, 2, 3, 6}) : (Shape{2, 3, 2, 6}));
        expect_same_bits(y, want);
        expect_same_bits(dx, want_dx);
        EXPECT_TRUE(std::ranges::equal(mine, want.read()));
      }
    }
  }
}

TEST(Heads, MemoryForAContextIsChecked) {
  std::vector<float> mine(24);
  const Tensor x = Tensor::borrow({1, 3, 2, 4}, mine);
  AttentionInputs in;
  in.q = in.k = in.v = x;
  in.into.memory = mine;
  EXPECT_THROW(attend(in), Error) << "overlaps";
  std::vector<float> little(23);
  in.into.memory = little;
  EXPECT_THROW(attend(in), Error);
  std::vector<float> enough(24);
  in.into.memory = enough;
  in.q = in.k = in.v = x.to(Dtype::f64);
  EXPECT_THROW(attend(in), Error) << "not float32";
}

}  // namespace
}  // namespace fovea::test
