// One block of a Transformer: Vaswani et al., "Attention Is All You Need", 2017.
//   post-norm:  x = norm(x + part(x))     pre-norm:  x = x + part(norm(x))
// for each part: self-attention, cross-attention where there is a memory, feed-forward.
#pragma once

#include <optional>

#include "fovea/attention/multihead.h"
#include "fovea/model/seq2seq/translator.h"
#include "fovea/model/transformer/options.h"
#include "fovea/nn/feedforward.h"
#include "fovea/nn/norm.h"
#include "fovea/nn/sequences.h"

namespace fovea {

// How packed rows stand in sequences. All but attention is done row by row, so padding is there
// only between pad() and strip(), and not at all where sequences are equally long.
struct RowLayout {
  // An Error unless offsets and longest agree.
  explicit RowLayout(const Packing& s);

  Tensor pad(const Tensor& rows) const;  // [rows, C] -> [B, T, C]
  Tensor strip(const Tensor& x) const;   // and back

  Packing packing;  // where each sequence begins and ends
  bool even;        // all sequences are equally long
  Tensor lengths;   // int32 [B]; empty where all are equally long
  // Who may be looked at, and by whom in a decoder. One for all blocks: worked out once.
  Pattern keys, causal = fovea::causal();
};

// The block with its weights.
struct TransformerBlock {
  // Both decoders are causal, the last looks at a memory too.
  enum class Kind { encoder, decoder, cross_decoder };

  // Paths: self, cross, feed_forward, norm1, norm2, norm3 in the order of use. `d_memory`: how wide
  // what a cross_decoder looks at is; 0: as wide as itself.
  TransformerBlock(Scope s, const TransformerOptions& options, Kind kind, int64_t d_memory = 0);

  // rows [rows, width] of whole sequences; the same shape comes back. A memory is for a
  // cross_decoder.
  Tensor operator()(const Tensor& rows, const RowLayout& layout, const Memory& memory) const;

  // Some steps on of sequences that are equally long so far.
  struct Caches {
    KeyValueCache self, cross;  // of its own steps; of the memory
  };
  // Makes the memory's keys and values, once for all steps; only a cross_decoder has any.
  void remember(const Memory& memory, Caches& caches) const;
  // x [N m, width]: m steps of N sequences; N is a multiple of the memories, whose sequences stand
  // side by side.
  Tensor step(const Tensor& x, int64_t N, const Memory& memory, Caches& caches) const;

  TransformerOptions options;      // as it was made
  Kind kind;                       // as it was made
  MultiHead self;                  // over its own sequence
  std::optional<MultiHead> cross;  // over the memory, in a cross_decoder
  FeedForward feed_forward;        // row by row
  LayerNorm norm1, norm2;          // of the first and the second part
  std::optional<LayerNorm> norm3;  // of the third, in a cross_decoder

 private:
  Tensor run(const Tensor& rows, const RowLayout& layout, const Memory& memory) const;
  template <class Part>
  Tensor residual(const Tensor& x, const LayerNorm& norm, const Part& part) const;
  Tensor feed(const Tensor& x) const;

  std::vector<Parameter> parameters_;  // of this block
};

}  // namespace fovea
