// What a sentence changes in the slots of a recurrent entity network (memory/entity_slots.h), apart
// from the product with U.
#pragma once

#include "fovea/kernel/naive/entity_slots.h"

namespace fovea::kernel {

using naive::EntityGradient;
using naive::EntitySentence;

// On the calling thread; the caller cuts a batch.
void change_slots(const EntitySentence<float>& x, float* next, float* gate, float* scale);
void change_slots_grad(const EntitySentence<float>& x, const EntityGradient<float>& to,
                       const float* dnext, const float* next, const float* gate,
                       const float* scale);
using naive::change_slots;
using naive::change_slots_grad;

}  // namespace fovea::kernel
