// The parts of a Neural Turing Machine's step, each for one sequence: where a head looks, what a
// write leaves, what a read takes.
#pragma once

#include "fovea/kernel/naive/addressing.h"

namespace fovea::kernel {

using naive::AddressGradient;
using naive::AddressKept;
using naive::Slots;
using naive::WriteGradient;

// On the calling thread; the caller cuts a batch.
void address(const Slots& m, float* w, const AddressKept<float>& kept, const float* memory,
             const float* controls, const float* before);
void address_grad(const Slots& m, const AddressGradient<float>& to, const float* dw, const float* w,
                  const AddressKept<float>& kept, const float* memory, const float* controls,
                  const float* before);
void write_slots(const Slots& m, float* after, const float* memory, const float* w,
                 const float* controls);
void write_slots_grad(const Slots& m, const WriteGradient<float>& to, const float* dafter,
                      const float* memory, const float* w, const float* controls);
void read_slots(const Slots& m, float* r, const float* memory, const float* w);
void read_slots_grad(const Slots& m, float* dmemory, float* dw, const float* dr,
                     const float* memory, const float* w);
using naive::address;
using naive::address_grad;
using naive::read_slots;
using naive::read_slots_grad;
using naive::write_slots;
using naive::write_slots_grad;

}  // namespace fovea::kernel
