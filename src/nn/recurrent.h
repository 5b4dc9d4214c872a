// RNN, GRU or LSTM layers, one above the other, in one or both directions.
#pragma once

#include <vector>

#include "fovea/nn/scope.h"
#include "fovea/op/recurrent.h"

namespace fovea {

struct RecurrentOptions {
  Cell cell = Cell::lstm;
  int layers = 1;
  bool bidirectional = false;  // y then has 2 H features: forwards, backwards
  double dropout = 0;          // between layers
  double forget_bias =
      1;  // of an LSTM, so that it remembers from the start: Jozefowicz et al. 2015
};

// For each layer, and in it for each direction: forwards, backwards.
using RecurrentStates = std::vector<RecurrentState>;

struct Recurrent {
  // Path: LAYER/forward or LAYER/backward, then input/weight, input/bias, hidden/weight,
  // hidden/bias.
  Recurrent(Scope s, int64_t in, int64_t hidden, const RecurrentOptions& options = {});

  struct Inputs {
    Tensor x;                 // [B, T, C], or with `offsets` [rows, C]
    Tensor lengths{};         // as in op/recurrent.h
    Tensor offsets{};         //
    RecurrentStates start{};  // empty: zeros
  };
  struct Output {
    Tensor y;  // of the last layer
    RecurrentStates last;
  };
  Output operator()(const Inputs& in) const;

  // One step of B sequences forwards, for decoders: x [B, C] gives [B, H], and `state` moves on. An
  // empty state stands for zeros.
  Tensor step(const Tensor& x, RecurrentStates& state) const;

  int64_t directions() const { return options.bidirectional ? 2 : 1; }

  // One layer in one direction.
  struct Direction {
    Parameter w_input, b_input, w_hidden, b_hidden;
    RecurrentWeights weights() const { return {w_input, w_hidden, b_input, b_hidden}; }
  };
  RecurrentOptions options;
  std::vector<Direction> parts;  // in the order of RecurrentStates
};

}  // namespace fovea
