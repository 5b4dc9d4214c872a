// The memory of a recurrent entity network (Henaff, Weston, Szlam, Bordes, LeCun 2017) over whole
// stories: every sentence s_t changes the slots h_j that it concerns,
//   g_j = sigmoid(s_t . h_j + s_t . w_j),   h~_j = phi(U h_j + V s_t + W w_j),
//   h_j <- (h_j + g_j h~_j) / |.|,          phi(p) = max(p, 0) + slope min(p, 0)
// One op, since its fifteen parts are each too small to be worth a pass over memory.
#pragma once

#include "fovea/nn/sequences.h"
#include "fovea/op/tape.h"

namespace fovea {

// What of the stories' sentences does not depend on the slots; rows are the sentences of all
// stories, packed.
struct EntitySentences {
  Tensor s;        // [rows, d]
  Tensor to_keys;  // s_t . w_j: [rows, N]
  Tensor moved;    // V s_t: [rows, d]
};
// And what is the same for all of them.
struct EntityWeights {
  Tensor first;       // the slots before the first sentence: [N, d]
  Tensor moved_keys;  // W w_j, and a bias if there is one: [N, d]
  Tensor turn;        // U: [d, d]
  Tensor slope;       // [d]
};

// Slots of each story behind its last sentence: [stories, N, d]. `gates`, if given, becomes g_j for
// each sentence: [rows, N].
Tensor entity_slots(const EntitySentences& sentences, const Packing& stories,
                    const EntityWeights& weights, Tensor* gates = nullptr);

}  // namespace fovea
