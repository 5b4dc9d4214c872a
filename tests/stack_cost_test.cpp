// What a neural stack, queue and deque cost, in uses of their numbers: time would tell less, and
// only of one machine.
#include <gtest/gtest.h>

#include "fovea/memory/stack.h"
#include "fovea/memory/strengths.h"

namespace fovea::test {
namespace {

// A number that counts how often any is copied, compared or reckoned with.
struct Counted {
  Counted(double v = 0) : value(v) {}
  Counted(const Counted& other) : value(other.value) { ++uses; }
  Counted& operator=(const Counted& other) { return value = other.value, ++uses, *this; }
  Counted& operator+=(const Counted& other) { return value += other.value, ++uses, *this; }
  Counted& operator-=(const Counted& other) { return value -= other.value, ++uses, *this; }
  Counted operator-() const { return ++uses, Counted(-value); }
  friend Counted operator*(const Counted& a, const Counted& b) {
    return ++uses, Counted(a.value * b.value);
  }
  friend auto operator<=>(const Counted& a, const Counted& b) {
    return ++uses, a.value <=> b.value;
  }

  double value;
  static inline int64_t uses = 0;
};

constexpr int64_t width = 2;
constexpr double strength = 0.4;
const Counted value[width] = {1, 2};

// The ends that are pushed to; true: the bottom. Both are read and popped by a deque, else one.
struct Ends {
  std::vector<bool> pushed, taken;
};
Ends ends_of(StackKind kind) {
  if (kind == StackKind::deque) return {{false, true}, {false, true}};
  return {{false}, {kind == StackKind::queue}};
}

void push_all(Strengths<Counted>& list, const Ends& ends, int32_t n) {
  for (int32_t step = 0; step < n; ++step) {
    for (const bool bottom : ends.pushed) list.push(strength, value, step, bottom);
  }
}

// Of a pop and a read at each end, and of the way back.
int64_t uses_of_a_step(Strengths<Counted>& list, const Ends& ends) {
  Counted read[width], slope[width], d_read[width] = {1, 1};
  const auto slope_of = [&](const auto&) { return slope; };
  std::vector<Strengths<Counted>::Popped> popped(ends.taken.size());
  Counted::uses = 0;
  for (size_t i = 0; i < popped.size(); ++i) popped[i] = list.pop(0.5, ends.taken[i]);
  for (const bool bottom : ends.taken) list.read(read, bottom);
  for (size_t i = popped.size(); i-- > 0;) list.undo_read(d_read, ends.taken[i], slope_of);
  for (size_t i = popped.size(); i-- > 0;) list.undo_pop(popped[i], ends.taken[i]);
  return Counted::uses;
}

TEST(StackCost, AStepTouchesAsFewEntriesHoweverManyWerePushed) {
  constexpr int32_t few = 10, many = 100'000;
  for (const StackKind kind : {StackKind::stack, StackKind::queue, StackKind::deque}) {
    SCOPED_TRACE(static_cast<int>(kind));
    const Ends ends = ends_of(kind);
    Strengths<Counted> small(width), large(width), shrunk(width);
    push_all(small, ends, few);
    Counted::uses = 0;
    push_all(large, ends, many);
    EXPECT_LT(Counted::uses, 40 * std::ssize(ends.pushed) * many) << "a push moves what is there";
    push_all(shrunk, ends, many);
    while (shrunk.size() > small.size()) shrunk.pop(strength, ends.taken.back());
    shrunk.forget();
    const int64_t of_few = uses_of_a_step(small, ends);
    EXPECT_GT(of_few, 0);
    EXPECT_EQ(uses_of_a_step(large, ends), of_few);
    EXPECT_LE(uses_of_a_step(shrunk, ends), of_few);
  }
}

}  // namespace
}  // namespace fovea::test
