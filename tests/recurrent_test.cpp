#include "fovea/op/recurrent.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/kernel/simd.h"
#include "fovea/op/pack.h"
#include "fovea/op/shape.h"
#include "support/recurrent.h"

namespace fovea::test {
namespace {

enum class Form { full, lengths, packed };

struct Case {
  Cell cell;
  int64_t B, T, C, H;
  Form form = Form::full;
  bool reverse = false;

  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << name_of(c.cell) << " B " << c.B << " T " << c.T << " C " << c.C << " H " << c.H
               << (c.form == Form::full      ? " full"
                   : c.form == Form::lengths ? " lengths"
                                             : " packed")
               << (c.reverse ? " reverse" : "");
  }
  // Unsorted, from 0 to T, with T among them.
  Tensor lengths() const {
    Tensor n = random_ids({B}, 5, T + 1);
    n.write<int32_t>()[B / 2] = static_cast<int32_t>(T);
    if (B > 2) n.write<int32_t>()[B - 1] = 0;
    return n;
  }
  // x, both weights, both biases, h0 and for an LSTM c0.
  std::vector<Tensor> inputs(Dtype dtype) const {
    const int64_t G = gates_of(cell) * H;
    Shape x{B, T, C};
    if (form == Form::packed) x = {offsets_of(lengths()).read<int32_t>().back(), C};
    std::vector<Tensor> list;
    for (const Shape& shape : {x, Shape{G, C}, Shape{G, H}, Shape{G}, Shape{G}, Shape{B, H}}) {
      list.push_back(random_tensor(shape, 10 + list.size(), -0.7, 0.7));
    }
    if (cell == Cell::lstm) list.push_back(random_tensor({B, H}, 20, -0.7, 0.7));
    // Both types start from numbers that both can hold.
    for (Tensor& t : list) t = t.to(Dtype::f32).to(dtype);
    return list;
  }
  RecurrentOutput run(const std::vector<Tensor>& in) const {
    return recurrent({.cell = cell,
                      .x = in[0],
                      .w = {in[1], in[2], in[3], in[4]},
                      .start = {in[5], cell == Cell::lstm ? in[6] : Tensor()},
                      .lengths = form == Form::lengths ? lengths() : Tensor(),
                      .offsets = form == Form::packed ? offsets_of(lengths()) : Tensor(),
                      .reverse = reverse});
  }
};

// All outputs as one row of numbers, so that one check covers the gradients of all.
Tensor flat(const RecurrentOutput& out) {
  std::vector<Tensor> parts{reshape(out.y, {-1}), reshape(out.last.h, {-1})};
  if (!out.last.c.empty()) parts.push_back(reshape(out.last.c, {-1}));
  return concat(parts, 0);
}

// Outputs, then the gradients of their weighted sum.
std::vector<Tensor> all_results(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                                std::vector<Tensor> in) {
  for (Tensor& t : in) t = parameter(t);
  Tape tape;
  const Tensor y = f(in);
  const Gradients g = tape.backward(y, random_tensor(y.shape(), 99).to(Dtype::f32).to(y.dtype()));
  std::vector<Tensor> results{y};
  for (const Tensor& t : in) results.push_back(g[t]);
  return results;
}

std::vector<Tensor> all_results(const Case& c, Dtype dtype) {
  return all_results([&](const auto& in) { return flat(c.run(in)); }, c.inputs(dtype));
}

TEST(Recurrent, GradientsAreTheNumericOnes) {
  for (Cell cell : cells) {
    for (Form form : {Form::full, Form::lengths, Form::packed}) {
      for (bool reverse : {false, true}) {
        const Case c{cell, 4, 3, 2, 3, form, reverse};
        SCOPED_TRACE(c);
        check_gradients([&](const auto& in) { return flat(c.run(in)); }, c.inputs(Dtype::f64));
      }
    }
  }
}

TEST(Recurrent, EachOutputAloneLeadsBackToTheInputs) {
  const Case c{Cell::lstm, 3, 3, 2, 2, Form::lengths};
  const auto in = c.inputs(Dtype::f64);
  check_gradients([&](const auto& at) { return c.run(at).y; }, in);
  check_gradients([&](const auto& at) { return c.run(at).last.h; }, in);
  check_gradients([&](const auto& at) { return c.run(at).last.c; }, in);
  check_gradients([&](const auto& at) { return c.run(at).last.h * c.run(at).last.c; }, in);
}

TEST(Recurrent, WhatIsLeftOutIsZero) {
  for (Cell cell : cells) {
    const Case c{cell, 3, 4, 2, 3};
    auto in = c.inputs(Dtype::f64);
    for (size_t i = 3; i < in.size(); ++i) in[i] = Tensor::zeros(in[i].shape(), Dtype::f64);
    const Tensor y = recurrent({.cell = cell, .x = in[0], .w = {in[1], in[2]}}).y;
    expect_same_bits(y, c.run(in).y);
    check_gradients(
        [&](const auto& at) {
          return recurrent({.cell = cell, .x = at[0], .w = {at[1], at[2]}}).y;
        },
        {in[0], in[1], in[2]});
  }
}

// One group and several, short and long sequences, rows of less and more than a vector.
const int64_t sizes[][4] = {{1, 1, 1, 1},    {1, 9, 3, 5},   {2, 3, 17, 67},
                            {19, 11, 7, 13}, {35, 9, 5, 31}, {70, 2, 1, 8}};

TEST(Recurrent, EveryTargetIsCloseToTheTwinWithTheSameBitsOnAnyNumberOfThreads) {
  const int before = threads();
  for (Cell cell : cells) {
    for (const auto& [B, T, C, H] : sizes) {
      for (Form form : {Form::full, Form::lengths, Form::packed}) {
        const Case c{cell, B, T, C, H, form, (B + H) % 2 == 0};
        SCOPED_TRACE(c);
        const auto exact = all_results(c, Dtype::f64);
        for (const std::string& target : kernel::simd_targets()) {
          SCOPED_TRACE(target);
          kernel::use_simd_target(target);
          set_threads(1);
          const auto first = all_results(c, Dtype::f32);
          for (size_t i = 0; i < exact.size(); ++i) {
            EXPECT_LE(relative_difference(first[i], exact[i]), 1e-5) << "result " << i;
          }
          for (int count : {2, 4}) {
            set_threads(count);
            const auto again = all_results(c, Dtype::f32);
            for (size_t i = 0; i < exact.size(); ++i) expect_same_bits(again[i], first[i]);
          }
        }
      }
    }
  }
  kernel::use_simd_target("");
  set_threads(before);
}

TEST(Recurrent, LargeNumbersSaturate) {
  for (Cell cell : cells) {
    const Case c{cell, 2, 3, 4, 19};
    auto in = c.inputs(Dtype::f64);
    for (double& x : in[1].write<double>()) x *= 1000;
    const Tensor exact = c.run(in).y;
    for (Tensor& t : in) t = t.to(Dtype::f32);
    EXPECT_LE(relative_difference(c.run(in).y, exact), 1e-5) << name_of(cell);
  }
}

// Padding is neither read nor written, and sequences do not see each other.
TEST(Recurrent, LengthsGiveWhatEachSequenceGivesAlone) {
  for (Cell cell : cells) {
    for (bool reverse : {false, true}) {
      const Case c{cell, 5, 6, 3, 4, Form::lengths, reverse};
      SCOPED_TRACE(c);
      auto in = c.inputs(Dtype::f64);
      const auto n = c.lengths();
      const auto length = n.read<int32_t>();
      for (int64_t b = 0; b < c.B; ++b) {
        for (int64_t i = length[b] * c.C; i < c.T * c.C; ++i) {
          in[0].write<double>()[b * c.T * c.C + i] = std::numeric_limits<double>::quiet_NaN();
        }
      }
      const RecurrentOutput all = c.run(in);
      for (int64_t b = 0; b < c.B; ++b) {
        auto one = in;
        one[0] = slice(slice(in[0], 0, b, b + 1), 1, 0, length[b]);
        for (size_t i = 5; i < in.size(); ++i) one[i] = slice(in[i], 0, b, b + 1);
        Case alone = c;
        alone.B = 1, alone.form = Form::full;
        const RecurrentOutput out = alone.run(one);
        const Tensor y = slice(all.y, 0, b, b + 1);
        expect_close(slice(y, 1, 0, length[b]), out.y, 1e-14);
        const Tensor rest = slice(y, 1, length[b], c.T);
        expect_same_bits(rest, Tensor::zeros(rest.shape(), Dtype::f64));
        expect_close(slice(all.last.h, 0, b, b + 1), out.last.h, 1e-14);
        if (cell == Cell::lstm) expect_close(slice(all.last.c, 0, b, b + 1), out.last.c, 1e-14);
      }
      const auto results = all_results([&](const auto& at) { return flat(c.run(at)); }, in);
      for (const Tensor& t : results) {
        for (double x : t.read<double>()) ASSERT_TRUE(std::isfinite(x));
      }
    }
  }
}

TEST(Recurrent, StepByStepIsTheWholeSequence) {
  for (Cell cell : cells) {
    for (Dtype dtype : {Dtype::f64, Dtype::f32}) {
      const Case c{cell, 18, 9, 3, 11};
      SCOPED_TRACE(c);
      auto steps = [&](const std::vector<Tensor>& in) {
        RecurrentState state{in[5], cell == Cell::lstm ? in[6] : Tensor()};
        std::vector<Tensor> y;
        for (int64_t t = 0; t < c.T; ++t) {
          const Tensor x = reshape(slice(in[0], 1, t, t + 1), {c.B, c.C});
          state = recurrent_step(cell, x, {in[1], in[2], in[3], in[4]}, state);
          y.push_back(state.h);
        }
        return flat({stack(y, 1), state});
      };
      const auto whole = all_results(c, dtype), stepped = all_results(steps, c.inputs(dtype));
      ASSERT_EQ(whole.size(), stepped.size());
      for (size_t i = 0; i < whole.size(); ++i) {
        EXPECT_LE(relative_difference(stepped[i], whole[i]), dtype == Dtype::f64 ? 1e-12 : 1e-5);
      }
    }
  }
}

TEST(Recurrent, SaysWhatItNeeds) {
  const Case c{Cell::gru, 2, 3, 4, 5};
  const auto in = c.inputs(Dtype::f32);
  const RecurrentInputs good{
      .cell = Cell::gru, .x = in[0], .w = {in[1], in[2], in[3], in[4]}, .start = {in[5]}};
  auto says = [&](const char* words, auto spoil) {
    RecurrentInputs bad = good;
    spoil(bad);
    expect_says(words, [&] { recurrent(bad); });
  };
  recurrent(good);
  says("hidden weight needs shape [4 H, H], got [15, 5]", [](auto& b) { b.cell = Cell::lstm; });
  says("x needs shape [B, T, C], got [2, 4]", [](auto& b) { b.x = Tensor::zeros({2, 4}); });
  says("input weight needs shape [15, 3], got [15, 4]", [](auto& b) {
    b.x = Tensor::zeros({2, 3, 3});
  });
  says("hidden bias needs shape [15], got [14]",
       [](auto& b) { b.w.b_hidden = Tensor::zeros({14}); });
  says("first h needs shape [2, 5], got [3, 5]", [](auto& b) {
    b.start.h = Tensor::zeros({3, 5});
  });
  says("only an LSTM starts with a c", [](auto& b) { b.start.c = Tensor::zeros({2, 5}); });
  says("first h needs the type of x, float32, got float64", [](auto& b) {
    b.start.h = Tensor::zeros({2, 5}, Dtype::f64);
  });
  says("lengths need int32 [2], got int32[3]", [](auto& b) {
    b.lengths = Tensor::ids({3}, {1, 2, 3});
  });
  says("sequence 1 has 4 rows, the padded form has room for 3", [](auto& b) {
    b.lengths = Tensor::ids({2}, {1, 4});
  });
  says("a length cannot be -1", [](auto& b) { b.lengths = Tensor::ids({2}, {1, -1}); });
  says("packed x needs shape [rows, C]", [](auto& b) { b.offsets = Tensor::ids({3}, {0, 3, 6}); });
  says("rise from 0 to the number of rows, 6", [](auto& b) {
    b.x = Tensor::zeros({6, 4});
    b.offsets = Tensor::ids({3}, {0, 7, 6});
  });
  says("lengths or offsets, not both", [](auto& b) {
    b.offsets = Tensor::ids({3}, {0, 3, 6});
    b.lengths = Tensor::ids({2}, {3, 3});
  });
}

TEST(Recurrent, NoSequencesAndNoSteps) {
  for (Cell cell : cells) {
    for (const auto& [B, T] : {std::pair<int64_t, int64_t>{0, 3}, {2, 0}}) {
      const int64_t G = gates_of(cell) * 2;
      const RecurrentOutput out =
          recurrent({.cell = cell,
                     .x = Tensor::zeros({B, T, 3}),
                     .w = {parameter(Tensor::zeros({G, 3})), Tensor::zeros({G, 2})},
                     .start = {Tensor::full({B, 2}, 7)}});
      EXPECT_EQ(out.y.shape(), (Shape{B, T, 2}));
      expect_same_bits(out.last.h, Tensor::full({B, 2}, 7));
    }
  }
}

TEST(Pack, TakesThePaddingOutAndPutsZerosBack) {
  const Tensor x = random_tensor({3, 4, 2, 3}, 1),
               offsets = offsets_of(Tensor::ids({3}, {2, 0, 4}));
  expect_same_bits(offsets, Tensor::ids({4}, {0, 2, 2, 6}));
  const Tensor rows = pack(x, offsets);
  EXPECT_EQ(rows.shape(), (Shape{6, 2, 3}));
  expect_same_bits(slice(rows, 0, 0, 2), reshape(slice(slice(x, 0, 0, 1), 1, 0, 2), {2, 2, 3}));
  expect_same_bits(slice(rows, 0, 2, 6), reshape(slice(x, 0, 2, 3), {4, 2, 3}));
  const Tensor back = unpack(rows, offsets, 4);
  EXPECT_EQ(back.shape(), x.shape());
  expect_same_bits(pack(back, offsets), rows);
  expect_same_bits(slice(back, 0, 1, 2), Tensor::zeros({1, 4, 2, 3}, Dtype::f64));
  check_gradients([&](const auto& in) { return pack(in[0], offsets); }, {x});
  check_gradients([&](const auto& in) { return unpack(in[0], offsets, 5); }, {rows});
  EXPECT_THROW(pack(x, Tensor::ids({3}, {0, 2, 4})), Error);
  EXPECT_THROW(unpack(rows, offsets, 3), Error);
}

}  // namespace
}  // namespace fovea::test
