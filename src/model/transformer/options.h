// What a Transformer can be told.
#pragma once

#include <string>

#include "fovea/model/named_attention.h"
#include "fovea/model/recurrent/encoder.h"

namespace fovea {

struct TransformerOptions : WordOptions {
  int64_t layers = 4;        // of the encoder, and as many of the decoder
  int64_t width = 256;       // features of a token
  int64_t heads = 4;         // of each attention
  int64_t hidden = 0;        // of the feed-forward; 0: 4 width
  int64_t key_heads = 0;     // that heads share in equal groups; 0: one for each head
  std::string norm = "pre";  // pre: before each part, and one at the end; post: behind each, as in
                             // the paper
  std::string activation = "gelu";      // relu, gelu, gelu_tanh
  double dropout = 0.1;                 // of embeddings, hidden layers and what joins the residual
  double attention_dropout = 0.1;       // of the weights
  std::string position = "sinusoidal";  // of the catalogue, or none
  int64_t longest = 1024;               // learned positions: how many there are
  // Whom tokens of one sequence look at, by a name of the catalogue: full is all of them. In a
  // translator it is that of the decoder too, where it has a causal form.
  std::string self_attention = "full";
  AttentionOptions attention =
      scaled();                 // score and alignment of every head, and what self_attention reads
  bool tied = true;             // the output layer shares the (decoder's) embedding
  bool shared = false;          // translation: source and target share one embedding
  bool scale_embedding = true;  // embeddings N(0, 1/width) times sqrt(width); else N(0, 0.02^2)
  bool recompute = false;       // a block's activations are computed again in the backward pass

  bool pre_norm() const { return norm == "pre"; }  // a norm before each part, not behind it
  // Whether something is learned for each of `longest` places.
  bool knows_places() const { return position == "learned" || self_attention == "synthesizer"; }
  // The scaled product and softmax.
  static AttentionOptions scaled() {
    AttentionOptions o;
    o.score = "scaled";
    return o;
  }
};
// All but tied, shared and those of vectors, which are listed where a model has them.
const Fields<TransformerOptions>& transformer_fields();
// For models whose output layer can share the embedding, and those whose two halves can.
const Fields<TransformerOptions>& tied_fields();
const Fields<TransformerOptions>& shared_fields();
// For models whose words can start from vectors.
const Fields<TransformerOptions>& transformer_word_fields();

// Label and classify can start from the encoder of a masked language model.
struct InitOptions {
  std::string init;  // its folder
};
// As options of a run.
const Fields<InitOptions>& init_fields();

// What the settings say to a Transformer, its attention included. Attention of a Transformer is
// always in heads: `query` is not read.
TransformerOptions transformer_options(const Settings& settings);
// What a Transformer is part of, for the options it reads.
enum class TransformerPart {
  encoder,
  decoder,  // alone: its attention needs a causal form
  both,     // cross-attention compares all pairs in any case
};
// The options that count for a Transformer, once its attention, score and alignment are chosen.
std::vector<FieldInfo> transformer_option_list(const Settings& settings,
                                               TransformerPart part = TransformerPart::encoder);

}  // namespace fovea
