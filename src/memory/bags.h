// Sentences as sums of their words: what memories of text hold.
#pragma once

#include "fovea/nn/sequences.h"
#include "fovea/op/tape.h"

namespace fovea {

// y_s = sum_w weights[place_w] o table[id_w] over the words of sentence s: [sentences, d].
//   words   sentences of ids; those from table.dim(0) on are rows of `fixed`, which is not learned
//           (empty: there are none)
//   places  int32 [words]: rows of weights [places, d]; both have a gradient
Tensor bags(const Tensor& table, const Tensor& fixed, const Sequences& words, const Tensor& places,
            const Tensor& weights);

// Position weights of Sukhbaatar et al. 2015 as the authors' program has them, for sentences of at
// most J words: 1 + 4 (k - (d + 1) / 2) (j - (J + 1) / 2) / (d J). attention/position/memory.h has
// the paper's form: this is twice that of j - 1/2 and k - 1/2, so that it is 1 in the middle.
Tensor place_weights(int64_t J, int64_t d, Dtype dtype);

}  // namespace fovea
