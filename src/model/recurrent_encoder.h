// From token ids to states: an embedding and recurrent layers. Taggers, classifiers and the
// encoder-decoder start with it.
#pragma once

#include "fovea/nn/embedding.h"
#include "fovea/nn/recurrent.h"
#include "fovea/nn/sequences.h"
#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {

struct RecurrentModelOptions {
  Cell cell = Cell::gru;
  int64_t layers = 1;
  int64_t embed = 128;  // features of a token
  int64_t width = 256;  // units of a layer, in each direction
  bool bidirectional = true;
  double dropout = 0;  // of embeddings, between layers and before the output
};

// Dropout with or without a stream to draw from.
inline Tensor maybe_dropout(const Tensor& x, double p, Random* random) {
  return p > 0 && random ? dropout(x, p, *random) : x;
}

// Mean of each sequence's rows: [B, features].
inline Tensor mean_rows(const Tensor& rows, const Sequences& of) {
  const Tensor n = maximum(of.lengths().to(rows.dtype()), Tensor::full({1}, 1, rows.dtype()));
  return scatter_add(rows, of.owners(), of.count()) / n.reshaped({of.count(), 1});
}

struct RecurrentEncoder {
  // `more`: features that stand beside each token's embedding.
  RecurrentEncoder(Scope s, int64_t vocabulary, const RecurrentModelOptions& o, int64_t more = 0)
      : options(o),
        embedding(s / "embedding", vocabulary, o.embed),
        layers(s / "layers", o.embed + more, o.width,
               {.cell = o.cell,
                .layers = static_cast<int>(o.layers),
                .bidirectional = o.bidirectional,
                .dropout = o.dropout}) {}

  struct Output {
    Tensor rows;           // [rows, features()]: a state for every token, packed
    RecurrentStates last;  // as Recurrent gives them
  };
  Output operator()(const Sequences& tokens, Random* random, const Tensor& more = {}) const {
    Tensor x = embedding(tokens.ids);
    if (!more.empty()) x = concat({x, more}, -1);
    auto out = layers({.x = maybe_dropout(x, options.dropout, random),
                       .offsets = tokens.offsets,
                       .random = random});
    return {out.y, std::move(out.last)};
  }
  // What the last layer held after its last step, both directions side by side: [B, features()].
  Tensor final_state(const RecurrentStates& last) const {
    if (!options.bidirectional) return last.back().h;
    return concat({last[last.size() - 2].h, last.back().h}, -1);
  }
  int64_t features() const { return options.width * layers.directions(); }

  RecurrentModelOptions options;
  Embedding embedding;
  Recurrent layers;
};

}  // namespace fovea
