// Tokens to states: embedding times sqrt(width), positions, blocks, and with pre-norm a norm at the
// end. Encoder, decoder and the decoder of an encoder-decoder differ in the kind of their blocks.
// States are packed rows, without padding: linear layers, norms and losses then touch no row in
// vain.
#pragma once

#include "fovea/attention/position/learned.h"
#include "fovea/model/transformer/block.h"
#include "fovea/model/word_embedding.h"

namespace fovea {

struct TransformerStack {
  using Kind = TransformerBlock::Kind;  // encoder, decoder or cross_decoder

  // Paths: embedding/weight, positions/weight, 0, 1, ..., norm. With `shared` the stack has no
  // embedding of its own; with a vocabulary of 0 it has none at all, for rows that are given.
  // Where the options name vectors, `words` is in its place. `d_memory`: as in TransformerBlock.
  TransformerStack(Scope s, int64_t vocabulary, const TransformerOptions& options, Kind kind,
                   const Embedding* shared = nullptr, int64_t d_memory = 0);

  // [rows, width]. `more` [rows, width] is added to the embeddings; a memory is for a
  // cross_decoder.
  Tensor operator()(const Sequences& tokens, const Tensor& more = {},
                    const Memory& memory = {}) const;

  // In two steps: the embeddings of tokens, before places are added, and what is made of them or of
  // other rows [rows, width].
  Tensor embed(const Sequences& tokens) const;
  Tensor over(const Tensor& rows, const Packing& of, const Memory& memory = {}) const;

  // Decoding: keys and values of all steps so far.
  struct State {
    std::vector<TransformerBlock::Caches> caches;  // of each block
    Memory memory;                                 // of a cross_decoder
    int64_t steps = 0;                             // tokens so far
  };
  // Before the first token; a memory is for a cross_decoder.
  State start(const Memory& memory = {}) const;
  // ids [N] or [N, m], the next m tokens of N sequences: [N m, width].
  Tensor step(const Tensor& ids, State& state) const;
  // Sequence i goes on from what sequence rows[i] was; the memories stay.
  void select(State& state, const Tensor& rows) const;

  // Scores of every token for rows [rows, width]: the output layer that shares the embedding.
  Tensor scores(const Tensor& rows) const { return embedding.scores(rows); }

  TransformerOptions options;                // as it was made
  Embedding embedding;                       // its own, the shared one, or none
  std::optional<WordEmbedding> words;        // in its place, where they start from vectors
  std::optional<LearnedPosition> positions;  // where they are learned
  std::vector<TransformerBlock> blocks;      // in the order of use
  std::optional<LayerNorm> norm;             // at the end, with pre-norm

 private:
  Tensor embedded(const Tensor& ids) const;
  Tensor table(int64_t T, int64_t offset, Dtype dtype) const;
  Tensor places(int64_t T, Dtype dtype) const;
  Tensor placed(const Tensor& x, const RowLayout& layout) const;
  Tensor through(Tensor x, const RowLayout& layout, const Memory& memory) const;
};

}  // namespace fovea
