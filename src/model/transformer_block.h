// One block of a Transformer: Vaswani et al., "Attention Is All You Need", 2017.
//   post-norm:  x = norm(x + part(x))     pre-norm:  x = x + part(norm(x))
// for each part: self-attention, cross-attention where there is a memory, feed-forward.
#pragma once

#include <optional>

#include "fovea/attention/multihead.h"
#include "fovea/model/transformer_options.h"
#include "fovea/nn/feedforward.h"
#include "fovea/nn/norm.h"
#include "fovea/nn/sequences.h"

namespace fovea {

// How packed rows stand in sequences. All but attention is done row by row, so padding is there
// only between pad() and strip(), and not at all where sequences are equally long.
struct RowLayout {
  explicit RowLayout(const Sequences& s)
      : offsets(s.offsets),
        lengths(s.lengths()),
        count(s.count()),
        longest(s.longest),
        even(s.rows() == s.count() * s.longest) {}

  Tensor pad(const Tensor& rows) const;  // [rows, C] -> [B, T, C]
  Tensor strip(const Tensor& x) const;   // and back
  Pattern keys() const;                  // who may be looked at
  Tensor places() const;                 // int32 [rows]: of each row in its sequence

  Tensor offsets, lengths;  // int32 [B + 1], [B]
  int64_t count, longest;
  bool even;
};

struct TransformerBlock {
  enum class Kind { encoder, decoder, cross_decoder };  // the decoders are causal

  // Paths under `path`: self, cross, feed_forward, norm1, norm2, norm3 in the order of use.
  TransformerBlock(Parameters& table, const std::string& path, const TransformerOptions& options,
                   Kind kind);

  // What a decoder looks at beside itself.
  struct Memory {
    Tensor states;         // [B, S, width]
    Tensor lengths;        // int32 [B]
    bool even = false;     // all are S long
    Pattern keys() const;  // who may be looked at
  };
  // rows [rows, width] of whole sequences; the same shape comes back.
  Tensor operator()(const Tensor& rows, const RowLayout& layout, const Memory& memory,
                    Random* random) const;

  // Some steps on of sequences that are equally long so far.
  struct Caches {
    KeyValueCache self, cross;
  };
  void remember(const Memory& memory, Caches& caches) const;
  // x [N m, width]: m steps of N sequences; N is a multiple of the memories, whose sequences stand
  // side by side.
  Tensor step(const Tensor& x, int64_t N, const Memory& memory, Caches& caches) const;

  TransformerOptions options;
  Kind kind;
  MultiHead self;
  std::optional<MultiHead> cross;
  FeedForward feed_forward;
  LayerNorm norm1, norm2;
  std::optional<LayerNorm> norm3;

 private:
  Tensor run(const Tensor& rows, const RowLayout& layout, const Memory& memory,
             Random* random) const;
  template <class Part>
  Tensor residual(const Tensor& x, const LayerNorm& norm, Random* random, const Part& part) const;
  Tensor feed(const Tensor& x, Random* random) const;
  Pattern aligned(const Pattern& who, int64_t B, int64_t T, int64_t from, int64_t m) const;

  std::vector<Tensor*> parameters_;  // all of them, for recomputing
};

}  // namespace fovea
