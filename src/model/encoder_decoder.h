// Recurrent encoder-decoder.
//   without attention: Cho et al. 2014; Sutskever, Vinyals, Le 2014. One summary c of the source:
//     c = h_T,   c = tanh(W h_T),   c = tanh(W mean(h_1 .. h_T))
//   with attention: Bahdanau, Cho, Bengio 2014; Luong, Pham, Manning 2015. The encoder's states are
//     keys and values, the decoder's state is the query:
//     c_t = attend(s_t, h_1 .. h_T),   o_t = tanh(W_c [c_t; s_t]),   p(y_t) = softmax(W_o o_t)
//   input feeding (Luong et al.): the decoder's next input is [y_t; o_t].
#pragma once

#include <optional>

#include "fovea/model/named_attention.h"
#include "fovea/model/recurrent_encoder.h"
#include "fovea/model/translator.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct EncoderDecoderOptions {
  RecurrentModelOptions recurrent{};
  AttentionChoice attention{};   // score "none": without
  std::string summary = "last";  // without attention: last, activated, mean
  bool input_feeding = false;
};

class EncoderDecoder : public Translator {
 public:
  EncoderDecoder(Scope s, int64_t source_vocabulary, int64_t target_vocabulary,
                 const EncoderDecoderOptions& options);

  Taught teach(const Sequences& source, const Sequences& target, Random* random) const override;
  std::unique_ptr<Decoding> start(const Sequences& source, int64_t beam) const override;

 private:
  friend class EncoderDecoderDecoding;
  struct Encoded {
    Tensor memory;   // [B, S, width] to look at; empty without attention
    Tensor lengths;  // int32 [B]
    Tensor summary;  // [B, features]; empty with attention
    RecurrentStates start;
  };
  Encoded encode(const Sequences& source, Random* random) const;
  RecurrentStates bridge(const RecurrentStates& last, const Tensor& summary) const;
  Tensor combine(const Tensor& context, const Tensor& state, Random* random) const;
  Taught teach_fed(const Encoded& e, const Sequences& target, Random* random) const;

  EncoderDecoderOptions options_;
  RecurrentEncoder encoder_;
  std::optional<Linear> memory_;  // to the decoder's width, as two directions have twice it
  std::optional<Linear> summarise_;
  std::vector<Linear> bridge_;  // first states of the decoder: h of each layer, then c
  Embedding embedding_;
  Recurrent decoder_;
  std::optional<NamedAttention> attention_;
  Linear combine_, output_;
};

}  // namespace fovea
