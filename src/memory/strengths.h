// A list of values with strengths that is pushed, popped and read at its ends: what a neural stack,
// queue and deque are made of (Grefenstette, Hermann, Suleyman, Blunsom 2015; kernel/naive/stack.h
// has the equations). What a pop has taken away entirely is no longer in the list: it has no weight
// in any later read and no gradient, so that a step costs what it touches, not what was ever
// pushed. Steps can be undone in turn, with gradients: where max or min have equal arguments, the
// slope is that of the left one, as the paper has it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fovea {

template <class T>
class Strengths {
 public:
  // A value in the list.
  struct Entry {
    T strength;      // how much of it is left
    const T* value;  // [width], kept by whoever pushed it
    int32_t step;    // that pushed it
    bool bottom;     // at that end
    T slope = 0;     // d loss / d strength, on the way back
  };

  explicit Strengths(int64_t width) : width_(width) {}

  // From one end inwards.
  size_t size() const { return high_ - low_; }
  const Entry& entry(size_t i, bool bottom = false) const {
    return entries_[bottom ? low_ + i : high_ - 1 - i];
  }

  // What a pop took, for the way back.
  struct Popped {
    int32_t removed = 0;   // entries that are gone
    bool partial = false;  // the entry that is now at the end lost a part of its strength
    T amount = 0;          // which
  };
  // Takes strength u from an end inwards.
  Popped pop(T u, bool bottom) {
    Popped popped;
    for (T left = u; left > 0 && size() > 0;) {
      Entry& last = end(bottom);
      if (last.strength <= left) {
        left -= last.strength;
        removed_.push_back(last);
        ++popped.removed;
        bottom ? ++low_ : --high_;
      } else {
        last.strength -= left;
        popped.partial = true;
        popped.amount = left;
        left = 0;
      }
    }
    return popped;
  }
  // Forgets what was popped: for lists that nobody will undo.
  void forget() { removed_.clear(); }

  // Puts a value at an end.
  void push(T strength, const T* value, int32_t step, bool bottom) {
    put({strength, value, step, bottom}, bottom);
  }

  // r[width], from the end inwards until strengths of 1 have been read.
  void read(T* r, bool bottom) const {
    std::fill_n(r, width_, T(0));
    T rest = 1;
    for (size_t i = 0; i < size() && rest > 0; ++i) {
      const Entry& e = entry(i, bottom);
      const T part = std::min(e.strength, rest);
      for (int64_t k = 0; k < width_; ++k) r[k] += part * e.value[k];
      rest -= e.strength;
    }
  }

  // The way back, in reverse order. slope_of(entry) is where the gradient of its value is summed.
  template <class SlopeOf>
  void undo_read(const T* dr, bool bottom, const SlopeOf& slope_of) {
    T rest = 1;
    for (size_t i = 0; i < size() && rest > 0; ++i) {
      Entry& e = entries_[bottom ? low_ + i : high_ - 1 - i];
      const T part = std::min(e.strength, rest);
      T* dv = slope_of(e);
      T along = 0;
      for (int64_t k = 0; k < width_; ++k) {
        along += dr[k] * e.value[k];
        dv[k] += part * dr[k];
      }
      if (e.strength <= rest) {
        e.slope += along;
      } else {  // it got what those further out had left
        for (size_t j = 0; j < i; ++j) entries_[bottom ? low_ + j : high_ - 1 - j].slope -= along;
      }
      rest -= e.strength;
    }
  }
  // d loss / d strength of what the push brought.
  T undo_push(bool bottom) {
    const T slope = end(bottom).slope;
    bottom ? ++low_ : --high_;
    return slope;
  }
  // d loss / d u.
  T undo_pop(const Popped& popped, bool bottom) {
    T slope = 0;
    if (popped.partial) {
      slope = end(bottom).slope;
      end(bottom).strength += popped.amount;
    }
    for (int32_t i = 0; i < popped.removed; ++i) {
      put(removed_.back(), bottom);
      removed_.pop_back();
      end(bottom).slope = slope;  // more of it would have left more of the entry behind
    }
    return -slope;
  }

 private:
  Entry& end(bool bottom) { return entries_[bottom ? low_ : high_ - 1]; }
  // A list that grew since something was popped may have no room for it any more.
  void put(const Entry& e, bool bottom) {
    if (bottom ? low_ == 0 : high_ == entries_.size()) grow();
    entries_[bottom ? --low_ : high_++] = e;
  }
  // Room at both ends, the list in the middle.
  void grow() {
    std::vector<Entry> larger(2 * size() + 16);
    const size_t at = (larger.size() - size()) / 2, n = size();
    std::copy_n(entries_.begin() + static_cast<int64_t>(low_), n,
                larger.begin() + static_cast<int64_t>(at));
    entries_ = std::move(larger);
    low_ = at, high_ = at + n;
  }

  int64_t width_;
  std::vector<Entry> entries_;
  size_t low_ = 0, high_ = 0;
  std::vector<Entry> removed_;
};

}  // namespace fovea
