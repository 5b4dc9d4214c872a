// RNN, GRU and LSTM layers over whole sequences. Weights have PyTorch's layouts and order of gates,
// so that its checkpoints fit: G H rows with the gates one after the other, (r, z, n) or (i, f, g,
// o).
#pragma once

#include "fovea/kernel/naive/recurrent.h"
#include "fovea/op/tape.h"

namespace fovea {

using naive::Cell;
using naive::gates_of;

struct RecurrentWeights {
  Tensor input;                  // [G H, C]
  Tensor hidden;                 // [G H, H]
  Tensor b_input{}, b_hidden{};  // [G H], or empty
};

// What a layer hands from one step to the next.
struct RecurrentState {
  Tensor h{};  // [B, H]
  Tensor c{};  // [B, H]; lstm only
};

// What recurrent() takes.
struct RecurrentInputs {
  Cell cell = Cell::lstm;  // its kind says how many gates the weights have
  Tensor x{};              // [B, T, C], or with `offsets` [rows, C]
  RecurrentWeights w{};    // of one layer in one direction
  RecurrentState start{};  // empty: zeros
  Tensor lengths{};        // int32 [B]: how much of each padded sequence counts; empty: all
  Tensor offsets{};  // int32 [B + 1]: packed; sequence b has the rows [offsets[b], offsets[b + 1])
  bool reverse = false;  // from each sequence's own end to its beginning
};

// What recurrent() gives.
struct RecurrentOutput {
  Tensor y;             // as x, with H features: h after each step; 0 in the padding
  RecurrentState last;  // after each sequence's own last step; what it started with if it has none
};

// No work is done for padding.
RecurrentOutput recurrent(const RecurrentInputs& in);

// One step of B sequences, for decoders: x is [B, C].
RecurrentState recurrent_step(Cell cell, const Tensor& x, const RecurrentWeights& w,
                              const RecurrentState& before);

}  // namespace fovea
