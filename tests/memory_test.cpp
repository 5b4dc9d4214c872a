// Memories: addressing against the attention engine and its kernels' twins, stacks against
// std::deque and the paper's equations, and all gradients.
#include <gtest/gtest.h>

#include <deque>

#include "fovea/attention/align/softmax.h"
#include "fovea/attention/engine.h"
#include "fovea/attention/score/similarity.h"
#include "fovea/kernel/entity_slots.h"
#include "fovea/kernel/naive/stack.h"
#include "fovea/memory/addressing.h"
#include "fovea/memory/entity_slots.h"
#include "fovea/memory/shifting_stack.h"
#include "fovea/memory/stack.h"
#include "fovea/memory/strengths.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/linear.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"
#include "support/gradient.h"
#include "support/layer.h"
#include "support/twin.h"

namespace fovea::test {
namespace {

TEST(Addressing, KernelsAgreeWithTheirTwins) {
  for (const int64_t N : {1, 2, 3, 7, 16, 33, 128}) {
    for (const int64_t reach : {int64_t{0}, int64_t{1}, int64_t{2}}) {
      const kernel::Slots m{5, N, reach};
      check_against_twin(
          [=]<class T>(Call& c, T) {
            const T *memory = c.in<T>(m.D * N), *controls = c.in<T>(m.controls()),
                    *before = c.in<T>(N, 0, 1), *erase_add = c.in<T>(2 * m.D);
            T* w = c.out<T>(N);
            const kernel::AddressKept<T> kept{c.out<T>(N), c.out<T>(N), c.out<T>(N), c.out<T>(N),
                                              c.out<T>(N)};
            kernel::address(m, w, kept, memory, controls, before);
            T *dm = c.inout<T>(m.D * N), *dc = c.inout<T>(m.controls()), *db = c.inout<T>(N);
            kernel::address_grad(m, kernel::AddressGradient<T>{dm, dc, db}, c.in<T>(N), w, kept,
                                 memory, controls, before);
            kernel::write_slots(m, c.out<T>(m.D * N), memory, w, erase_add);
            T *dw = c.inout<T>(N), *de = c.inout<T>(2 * m.D);
            kernel::write_slots_grad(m, kernel::WriteGradient<T>{dm, dw, de}, c.in<T>(m.D * N),
                                     memory, w, erase_add);
            kernel::read_slots(m, c.out<T>(m.D), memory, w);
            kernel::read_slots_grad(m, dm, dw, c.in<T>(m.D), memory, w);
          },
          2e-5);
    }
  }
}

constexpr int64_t B = 3, D = 4, N = 6;
const Slots slots{D, N, 1};

// As the four parts, each an op of its own, with content from the attention engine.
Tensor address_of_parts(const Tensor& memory, const Tensor& controls, const Tensor& before) {
  const auto column = [&](int64_t from, int64_t to) {
    return reshape(slice(controls, 1, from, to), {B, 1, to - from});
  };
  Parameters none(1, memory.dtype());
  const Tensor key = column(0, D);
  const Tensor unit = key / sqrt(sum(square(key), -1, true) + 1e-12);
  const Score score = [&](const Tensor& q, const Tensor& k) {
    ScoreForm form = cosine_score(Scope(none), 1, false)(q, k);
    form.q = reshape(unit * softplus(column(D, D + 1)), {B, 1, 1, D});
    return form;
  };
  const Tensor content = content_address(memory, key, score, Alignment(), "content");
  const Tensor gated =
      gated_address(content, reshape(before, {B, 1, N}), sigmoid(column(D + 1, D + 2)));
  const Tensor shifted = shifted_address(gated, softmax(column(D + 2, D + 5)));
  return reshape(sharpened_address(shifted, softplus(column(D + 5, D + 6)) + 1), {B, N});
}

TEST(Addressing, OneOpIsTheFourPartsWithContentFromTheAttentionEngine) {
  const Tensor memory = random_tensor({B, D, N}, 1), controls = random_tensor({B, 12}, 2),
               before = softmax(random_tensor({B, N}, 3));
  const Tensor at = slice(controls, 1, 2, 2 + slots.controls());
  EXPECT_LT(relative_difference(head_address(slots, memory, controls, 2, before),
                                address_of_parts(memory, at, before)),
            1e-10);
}

TEST(Addressing, ShiftAndSharpenKeepADistribution) {
  Random random(5);
  for (int trial = 0; trial < 50; ++trial) {
    const Tensor w = softmax(random_tensor({2, 1, 9}, 10 + trial, -5, 5)),
                 shift = softmax(random_tensor({2, 1, 5}, 90 + trial, -5, 5));
    const Tensor after = sharpened_address(
        shifted_address(w, shift), Tensor::full({2, 1, 1}, 1 + 9 * random.uniform(), Dtype::f64));
    for (int64_t b = 0; b < 2; ++b) {
      double sum = 0;
      for (int64_t i = 0; i < 9; ++i) {
        EXPECT_GE(after.read<double>()[b * 9 + i], 0);
        sum += after.read<double>()[b * 9 + i];
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
  // A shift by one moves every weight by one, round the end.
  const Tensor w = Tensor::of({1, 1, 3}, {0.7f, 0.2f, 0.1f});
  const Tensor turned = shifted_address(w, Tensor::of({1, 1, 3}, {0, 0, 1}));
  EXPECT_FLOAT_EQ(turned.read()[0], 0.1f);
  EXPECT_FLOAT_EQ(turned.read()[1], 0.7f);
}

TEST(Addressing, Gradients) {
  const Function f = [](const std::vector<Tensor>& in) {
    const Tensor w = head_address(slots, in[0], in[1], 2, softmax(in[2]));
    const Tensor after = written(slots, in[0], w, in[1], 3);
    const Tensor again = head_address(slots, after, in[1], 1, w);
    return concat({read_of(slots, after, again), w, again}, 1);
  };
  EXPECT_LT(gradient_error(f, {random_tensor({B, D, N}, 1), random_tensor({B, 12}, 2),
                               random_tensor({B, N}, 3)}),
            1e-5);
  const Function parts = [](const std::vector<Tensor>& in) {
    return address_of_parts(in[0], in[1], softmax(in[2]));
  };
  EXPECT_LT(
      gradient_error(parts, {random_tensor({B, D, N}, 1), random_tensor({B, slots.controls()}, 2),
                             random_tensor({B, N}, 3)}),
      1e-5);
}

TEST(Addressing, RefusesWhatDoesNotFit) {
  const Tensor memory = random_tensor({B, D, N}, 1), before = random_tensor({B, N}, 3);
  EXPECT_THROW(head_address(slots, memory, random_tensor({B, 9}, 2), 0, before), Error);
  EXPECT_THROW(head_address({D, N, 9}, memory, random_tensor({B, 30}, 2), 0, before), Error);
  EXPECT_THROW(written(slots, memory, before, random_tensor({B, 8}, 2), 1), Error);
  EXPECT_THROW(read_of(slots, memory, random_tensor({B, N + 1}, 2)), Error);
}

// With whole pushes and pops a neural stack, queue and deque are those of the standard library.
TEST(Stack, HardProgramsAreThoseOfADeque) {
  for (const StackKind kind : {StackKind::stack, StackKind::queue, StackKind::deque}) {
    NeuralStacks stacks(kind, 1, 1);
    std::deque<float> truth;
    Random random(7);
    const bool deque = kind == StackKind::deque;
    for (int step = 0; step < 100'000; ++step) {
      const auto flip = [&] { return random.below(2) == 0 ? 0.0f : 1.0f; };
      const float value = static_cast<float>(1 + random.below(1000)), d = flip(), u = flip();
      Tensor controls;
      if (deque) {
        const float d2 = flip(), u2 = flip(), other = static_cast<float>(1 + random.below(1000));
        if (u > 0 && !truth.empty()) truth.pop_back();
        if (u2 > 0 && !truth.empty()) truth.pop_front();
        if (d > 0) truth.push_back(value);
        if (d2 > 0) truth.push_front(other);
        controls = Tensor::of({1, 6}, {d, d2, u, u2, value, other});
      } else {
        if (u > 0 && !truth.empty())
          kind == StackKind::stack ? truth.pop_back() : truth.pop_front();
        if (d > 0) truth.push_back(value);
        controls = Tensor::of({1, 3}, {d, u, value});
      }
      const Tensor r = stacks.step(controls, false);
      const float top = truth.empty() ? 0 : truth.back(),
                  bottom = truth.empty() ? 0 : truth.front();
      ASSERT_EQ(r.read()[0], kind == StackKind::queue ? bottom : top) << step;
      if (deque) {
        ASSERT_EQ(r.read()[1], bottom) << step;
      }
    }
  }
}

// Against the paper's equations over everything that was ever pushed.
TEST(Stack, SoftStepsAreThePapersEquations) {
  constexpr int64_t width = 3, steps = 40;
  for (const bool queue : {false, true}) {
    NeuralStacks stacks(queue ? StackKind::queue : StackKind::stack, 2, width);
    std::vector<double> s[2], v[2];
    for (int64_t t = 0; t < steps; ++t) {
      Tensor controls = random_tensor({2, 2 + width}, static_cast<uint64_t>(t + 1), 0, 1);
      const Tensor r = stacks.step(controls, false);
      for (int64_t b = 0; b < 2; ++b) {
        const double* c = controls.read<double>().data() + b * (2 + width);
        std::vector<double> after(s[b].size());
        naive::pop_strengths(after.data(), s[b].data(), t, c[1], queue);
        after.push_back(c[0]);
        s[b] = after;
        v[b].insert(v[b].end(), c + 2, c + 2 + width);
        double want[width];
        naive::read_strengths(want, s[b].data(), v[b].data(), t + 1, width, queue);
        for (int64_t k = 0; k < width; ++k)
          ASSERT_NEAR(r.read<double>()[b * width + k], want[k], 1e-12) << t;
        const std::vector<float> held = stacks.held(b);
        for (int64_t i = 0; i <= t; ++i) ASSERT_NEAR(held[i], s[b][i], 1e-6);
      }
    }
  }
}

// Twenty are popped at one end, and the list then grows at the other: they come back all the same.
TEST(Stack, WhatWasPoppedComesBackAfterTheListHasGrown) {
  for (const bool bottom : {false, true}) {
    Strengths<float> list(1);
    const float value = 1;
    for (int32_t step = 0; step < 20; ++step) list.push(1, &value, step, !bottom);
    const auto popped = list.pop(20, bottom);
    EXPECT_EQ(list.size(), 0u);
    for (int32_t step = 20; step < 220; ++step) list.push(1, &value, step, !bottom);
    for (int step = 20; step < 220; ++step) list.undo_push(!bottom);
    list.undo_pop(popped, bottom);
    ASSERT_EQ(list.size(), 20u);
    for (size_t i = 0; i < 20; ++i) EXPECT_EQ(list.entry(i, bottom).step, static_cast<int32_t>(i));
    // And when the later ones are still there.
    for (int32_t step = 20; step < 24; ++step) list.push(1, &value, step, !bottom);
    const auto again = list.pop(20, bottom);
    for (int32_t step = 24; step < 120; ++step) list.push(1, &value, step, !bottom);
    list.undo_pop(again, bottom);
    ASSERT_EQ(list.size(), 120u);
    for (size_t i = 0; i < 120; ++i) EXPECT_EQ(list.entry(i, bottom).step, static_cast<int32_t>(i));
  }
}

TEST(Stack, Gradients) {
  constexpr int64_t width = 2, steps = 7;
  for (const StackKind kind : {StackKind::stack, StackKind::queue, StackKind::deque}) {
    // Only some steps are looked at: those behind them are undone all the same.
    for (const bool all : {true, false}) {
      const Function f = [=](const std::vector<Tensor>& in) {
        NeuralStacks stacks(kind, 2, width);
        std::vector<Tensor> reads;
        for (int64_t t = 0; t < steps; ++t) {
          const Tensor r = stacks.step(in[t]);
          if (all || t == 2 || t == 4) reads.push_back(r);
        }
        return concat(reads, 1);
      };
      std::vector<Tensor> in;
      for (int64_t t = 0; t < steps; ++t) {
        in.push_back(random_tensor({2, NeuralStacks::controls(kind, width)},
                                   static_cast<uint64_t>(20 + t), -2, 2));
      }
      if (!all) in.resize(steps);
      EXPECT_LT(gradient_error(f, in), 1e-5);
    }
  }
}

TEST(Stack, ShiftingStacksPushPopAndKeep) {
  const auto act = [](float push, float pop, float none) {
    return Tensor::of({1, 1, 3}, {push, pop, none});
  };
  Tensor s = shifted_stacks({}, Tensor::of({1, 1}, {0.25f}), act(1, 0, 0), 9);
  s = shifted_stacks(s, Tensor::of({1, 1}, {0.75f}), act(1, 0, 0), 9);
  EXPECT_EQ(s.read()[0], 0.75f);
  EXPECT_EQ(s.read()[1], 0.25f);
  s = shifted_stacks(s, Tensor::of({1, 1}, {0.5f}), act(0, 1, 0), 9);
  EXPECT_EQ(s.read()[0], 0.25f);
  EXPECT_EQ(s.read()[1], -1);
  s = shifted_stacks(s, Tensor::of({1, 1}, {0.5f}), act(0, 0, 1), 9);
  EXPECT_EQ(s.read()[0], 0.25f);
  EXPECT_EQ(s.dim(2), 4);
  EXPECT_EQ(shifted_stacks(s, Tensor::of({1, 1}, {0.5f}), act(0, 0, 1), 4).dim(2), 4);
}

TEST(Stack, ShiftingStacksGradients) {
  const Function f = [](const std::vector<Tensor>& in) {
    Tensor s;
    for (int64_t t = 0; t < 4; ++t) {
      s = shifted_stacks(s, slice(in[0], 1, t, t + 2), softmax(in[1] * (1.0 + 0.3 * t)), 3);
    }
    return s;
  };
  EXPECT_LT(gradient_error(f, {random_tensor({2, 5}, 1), random_tensor({2, 2, 3}, 2)}), 1e-5);
}

TEST(EntitySlots, KernelAgreesWithItsTwin) {
  for (const int64_t d : {1, 3, 8, 17, 33, 100}) {
    const int64_t N = 3;
    check_against_twin(
        [=]<class T>(Call& c, T) {
          const kernel::EntitySentence<T> x{N,          d,          c.in<T>(N * d), c.in<T>(N * d),
                                            c.in<T>(d), c.in<T>(N), c.in<T>(d),     c.in<T>(N * d),
                                            c.in<T>(d)};
          T *next = c.out<T>(N * d), *gate = c.out<T>(N), *scale = c.out<T>(N);
          kernel::change_slots(x, next, gate, scale);
          const kernel::EntityGradient<T> to{c.out<T>(N * d), c.out<T>(N * d), c.out<T>(N),
                                             c.inout<T>(d),   c.inout<T>(d),   c.inout<T>(N * d),
                                             c.inout<T>(d)};
          kernel::change_slots_grad(x, to, c.in<T>(N * d), next, gate, scale);
        },
        2e-5);
  }
}

// Three stories of 2, 0 and 3 sentences, 4 slots of 5 features; in[] as entity_slots() takes them.
const Packing three_stories(Tensor::ids({4}, {0, 2, 2, 5}));
std::vector<Tensor> entity_inputs() {
  return {random_tensor({5, 5}, 1), random_tensor({5, 4}, 2), random_tensor({5, 5}, 3),
          random_tensor({4, 5}, 4), random_tensor({4, 5}, 5), random_tensor({5, 5}, 6),
          random_tensor({5}, 7)};
}
Tensor slots_of(const std::vector<Tensor>& in, Tensor* gates = nullptr) {
  return entity_slots({in[0], in[1], in[2]}, three_stories, {in[3], in[4], in[5], in[6]}, gates);
}

// The equations of Henaff et al. 2017 as ops, a story and a sentence at a time.
TEST(EntitySlots, OneOpIsThePapersEquations) {
  const std::vector<Tensor> in = entity_inputs();
  Tensor gates;
  const Tensor all = slots_of(in, &gates);
  const auto at = three_stories.offsets.read<int32_t>();
  for (int64_t b = 0; b < three_stories.count(); ++b) {
    Tensor h = in[3];
    for (int64_t t = at[b]; t < at[b + 1]; ++t) {
      const Tensor s = slice(in[0], 0, t, t + 1);
      const Tensor gate = sigmoid(linear(h, s) + reshape(slice(in[1], 0, t, t + 1), {4, 1}));
      EXPECT_LT(relative_difference(reshape(slice(gates, 0, t, t + 1), {4, 1}), gate), 1e-12);
      const Tensor p = linear(h, in[5]) + slice(in[2], 0, t, t + 1) + in[4];
      const Tensor sum_of = h + gate * (relu(p) - in[6] * relu(-p));
      h = sum_of / sqrt(sum(square(sum_of), -1, true) + 1e-12);
    }
    EXPECT_LT(relative_difference(reshape(slice(all, 0, b, b + 1), {4, 5}), h), 1e-12);
  }
}

TEST(EntitySlots, Gradients) {
  EXPECT_LT(
      gradient_error([](const std::vector<Tensor>& in) { return slots_of(in); }, entity_inputs()),
      1e-7);
}

TEST(EntitySlots, SizesThatDoNotFitAreRefused) {
  for (size_t i = 0; i < 7; ++i) {
    std::vector<Tensor> in = entity_inputs();
    in[i] = random_tensor({2, 3}, 9);
    EXPECT_THROW(slots_of(in), Error) << i;
  }
}

}  // namespace
}  // namespace fovea::test
