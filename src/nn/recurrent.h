// RNN, GRU or LSTM layers, one above the other, in one or both directions.
#pragma once

#include <vector>

#include "fovea/nn/scope.h"
#include "fovea/op/recurrent.h"

namespace fovea {

struct RecurrentOptions {
  Cell cell = Cell::lstm;      // of every layer
  int layers = 1;              // each takes what the one below gives
  bool bidirectional = false;  // y then has 2 H features: forwards, backwards
  double dropout = 0;          // between layers
  double forget_bias =
      1;  // of an LSTM, so that it remembers from the start: Jozefowicz et al. 2015
};

// For each layer, and in it for each direction: forwards, backwards.
using RecurrentStates = std::vector<RecurrentState>;

// The layers, with their weights.
struct Recurrent {
  // Path: LAYER/forward or LAYER/backward, then input/weight, input/bias, hidden/weight,
  // hidden/bias.
  Recurrent(Scope s, int64_t in, int64_t hidden, const RecurrentOptions& options = {});

  // What a call takes.
  struct Inputs {
    Tensor x;                 // [B, T, C], or with `offsets` [rows, C]
    Tensor lengths{};         // as in op/recurrent.h
    Tensor offsets{};         // as in op/recurrent.h
    RecurrentStates start{};  // empty: zeros
  };
  // What a call gives.
  struct Output {
    Tensor y;              // of the last layer
    RecurrentStates last;  // of every layer and direction, for `start` of what follows
  };
  Output operator()(const Inputs& in) const;

  // One step of B sequences forwards, for decoders: x [B, C] gives [B, H], and `state` moves on. An
  // empty state stands for zeros.
  Tensor step(const Tensor& x, RecurrentStates& state) const;

  int64_t directions() const { return options.bidirectional ? 2 : 1; }  // how many each layer has

  // One layer in one direction.
  struct Direction {
    Parameter w_input, b_input, w_hidden, b_hidden;  // shapes as in RecurrentWeights
    // As recurrent() takes them.
    RecurrentWeights weights() const { return {w_input, w_hidden, b_input, b_hidden}; }
  };
  RecurrentOptions options;      // as it was made
  std::vector<Direction> parts;  // in the order of RecurrentStates
};

}  // namespace fovea
