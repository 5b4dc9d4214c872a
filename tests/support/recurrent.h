// What the tests of recurrent ops and layers share.
#pragma once

#include <string>

#include "fovea/op/recurrent.h"
#include "support/gradient.h"

namespace fovea::test {

constexpr Cell cells[] = {Cell::rnn, Cell::gru, Cell::lstm};

inline std::string name_of(Cell cell) {
  return cell == Cell::rnn ? "rnn" : cell == Cell::gru ? "gru" : "lstm";
}

// The error that f throws holds these words.
template <class F>
void expect_says(const std::string& words, const F& f) {
  try {
    f();
    ADD_FAILURE() << "no error; expected: " << words;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

}  // namespace fovea::test
