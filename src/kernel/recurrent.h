// The recurrent part of RNN, GRU and LSTM layers over whole sequences of any lengths, without
// padding. The products with the input are taken before, and the gradients of the weights
// afterwards, for all rows at once: see op/recurrent.cpp.
#pragma once

#include "fovea/kernel/naive/recurrent.h"

namespace fovea::kernel {

using naive::Cell;
using naive::gates_of;
using naive::Recurrence;
using naive::RecurrentBackward;
using naive::RecurrentForward;

// Numbers of working memory that both passes need.
int64_t recurrent_workspace(const Recurrence& r);

// Sequences are cut into groups by their number alone; a group runs through all its steps on one
// thread, waiting for nobody.
void recurrent_forward(const Recurrence& r, const RecurrentForward<float>& f, float* workspace);
void recurrent_backward(const Recurrence& r, const RecurrentBackward<float>& g, float* workspace);

inline void recurrent_forward(const Recurrence& r, const RecurrentForward<double>& f, double*) {
  naive::recurrent_forward(r, f);
}
inline void recurrent_backward(const Recurrence& r, const RecurrentBackward<double>& g, double*) {
  naive::recurrent_backward(r, g);
}

}  // namespace fovea::kernel
