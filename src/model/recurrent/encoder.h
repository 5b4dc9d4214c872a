// From token ids to states: an embedding and recurrent layers. Taggers, classifiers and
// encoder-decoders start with it.
#pragma once

#include "fovea/base/fields.h"
#include "fovea/model/word_embedding.h"
#include "fovea/nn/recurrent.h"
#include "fovea/nn/sequences.h"
#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {

// What every model of layers can be told: the fields of any struct that has them.
template <class Options>
std::vector<typename Fields<Options>::Field> layer_fields() {
  return {
      {"layers", &Options::layers, "layers, one above the other", whole_from(1, 256)},
      {"width", &Options::width, "units of a layer", whole_from(1, 65536)},
      {"dropout", &Options::dropout, "part of the features dropped while training", part_of_one()}};
}

struct RecurrentModelOptions : WordOptions {
  std::string cell = "gru";   // rnn, gru, lstm
  int64_t layers = 1;         // one above the other
  int64_t embed = 128;        // features of a token
  int64_t width = 256;        // units of a layer, in each direction
  bool bidirectional = true;  // reads backwards too, states side by side
  double dropout = 0;         // of embeddings, between layers and before the output
  double word_dropout = 0;    // of whole tokens
};
// All of them, as options of a run.
const Fields<RecurrentModelOptions>& recurrent_fields();
// The unit of that name, and that which the options name.
Cell cell_named(const std::string& name);
inline Cell cell_of(const RecurrentModelOptions& options) { return cell_named(options.cell); }

// Mean of each sequence's rows: [B, features].
inline Tensor mean_rows(const Tensor& rows, const Packing& of) {
  const Tensor n = maximum(of.lengths().to(rows.dtype()), Tensor::full({1}, 1, rows.dtype()));
  return scatter_add(rows, of.owners(), of.count()) / n.reshaped({of.count(), 1});
}

// The layers with their weights.
struct RecurrentEncoder {
  // `more`: features that stand beside each token's embedding.
  RecurrentEncoder(Scope s, int64_t vocabulary, const RecurrentModelOptions& o, int64_t more = 0)
      : options(o),
        embedding(s / "embedding", vocabulary, o.embed, o),
        layers(s / "layers", o.embed + more, o.width,
               {.cell = cell_of(o),
                .layers = static_cast<int>(o.layers),
                .bidirectional = o.bidirectional,
                .dropout = o.dropout}) {}

  // What a call gives.
  struct Output {
    Tensor rows;           // [rows, features()]: a state for every token, packed
    RecurrentStates last;  // as Recurrent gives them
  };
  Output operator()(const Sequences& tokens, const Tensor& more = {}) const {
    Tensor x = embedding(tokens);
    if (options.word_dropout > 0) {
      x = x * dropout(Tensor::full({tokens.rows(), 1}, 1, x.dtype()), options.word_dropout);
    }
    if (!more.empty()) x = concat({x, more}, -1);
    auto out = layers({.x = dropout(x, options.dropout), .offsets = tokens.offsets});
    return {out.y, std::move(out.last)};
  }
  // What the last layer held after its last step, both directions side by side: [B, features()].
  Tensor final_state(const RecurrentStates& last) const {
    if (!options.bidirectional) return last.back().h;
    return concat({last[last.size() - 2].h, last.back().h}, -1);
  }
  // What every layer held after its last step, both directions side by side: h of each layer, then
  // of LSTMs c.
  std::vector<Tensor> ends(const RecurrentStates& last) const;
  // How wide a token's state is: both directions side by side.
  int64_t features() const { return options.width * layers.directions(); }

  RecurrentModelOptions options;  // as it was made
  WordEmbedding embedding;        // embed features of a token
  Recurrent layers;               // over the embeddings and what stands beside them
};

}  // namespace fovea
