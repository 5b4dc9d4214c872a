// What a Transformer can be told.
#pragma once

#include <string>

#include "fovea/model/named_attention.h"

namespace fovea {

struct TransformerOptions {
  int64_t layers = 4;     // of the encoder, and as many of the decoder
  int64_t width = 256;    // features of a token
  int64_t heads = 4;      //
  int64_t hidden = 0;     // of the feed-forward; 0: 4 width
  int64_t key_heads = 0;  // that heads share in equal groups; 0: one for each head
  bool pre_norm = true;   // norms before each part, and one at the end; else behind each, as in the
                          // paper
  std::string activation = "gelu";      // relu, gelu, gelu_tanh
  double dropout = 0.1;                 // of embeddings, hidden layers and what joins the residual
  double attention_dropout = 0.1;       // of the weights
  std::string position = "sinusoidal";  // sinusoidal, learned, rotary, alibi, shaw, t5, none
  int64_t longest = 1024;               // learned positions: how many there are
  AttentionChoice attention{.score = "scaled"};  // score and alignment of every head
  bool tied = true;             // the output layer shares the (decoder's) embedding
  bool shared = false;          // translation: source and target share one embedding
  bool scale_embedding = true;  // embeddings N(0, 1/width) times sqrt(width); else N(0, 0.02^2)
  bool recompute = false;       // a block's activations are computed again in the backward pass
};

}  // namespace fovea
