// Attention of a sequence to itself that does not compare every token with every other: what
// MultiHead takes in the place of the engine. Tay et al., "Efficient Transformers: A Survey", 2022,
// sorts these by what they do without; each has a file here.
#pragma once

#include <functional>

#include "fovea/attention/cache.h"
#include "fovea/attention/contract.h"
#include "fovea/nn/scope.h"

namespace fovea {

// A way for a sequence to look at itself. With as many queries as keys it is the whole sequence;
// fewer queries are its last ones.
struct SelfAttention {
  // Patterns may be lengths, causal or packed; what else a call says is read as by attend().
  std::function<AttentionOutput(const AttentionInputs&)> attend;
  // Decoding without keys: queries, keys and values of the next rows, and the sums that the cache
  // has of all before. Null: keys and values are kept, and attend() looks back on them.
  std::function<AttentionOutput(const AttentionInputs&, KeyValueCache&)> step{};
};

// For heads of a layer.
struct SelfAttentionFactory {
  // Given a place for parameters, the layer's width, its heads and their width.
  std::function<SelfAttention(Scope, int64_t d_model, int64_t heads, int64_t d_head)> make{};
  // False: it makes nothing of keys; AttentionInputs::k are then the queries over again.
  bool reads_keys = true;

  explicit operator bool() const { return make != nullptr; }  // whether there is one
};

// The contexts that `context` gives for its inputs, with the weights that are asked for: those of
// in.capture, or of a Recorder. Contexts are linear in the values, so the weights are the contexts
// of values that are 1 at one key and 0 elsewhere; more than 4096 keys are an Error. `name` is that
// of the mechanism, for errors.
AttentionOutput with_weights(const AttentionInputs& in, const std::string& name,
                             const std::function<Tensor(const AttentionInputs&)>& context);
// The most keys whose weights are told.
inline constexpr int64_t most_watched_keys = 4096;

}  // namespace fovea
