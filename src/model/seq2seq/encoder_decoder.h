// Recurrent encoder-decoder over text: Cho et al. 2014; Sutskever, Vinyals, Le 2014; with attention
// Bahdanau, Cho, Bengio 2014. Without attention one summary c of the source is all that the decoder
// sees:
//   c = h_T,   c = tanh(W h_T),   c = tanh(W mean(h_1 .. h_T))
#pragma once

#include "fovea/model/seq2seq/recurrent_decoder.h"

namespace fovea {

struct EncoderDecoderOptions : RecurrentDecoderOptions {
  std::string summary = "last";  // without attention: last, activated, mean
};
// Those of every recurrent model, input feeding and the summary.
const Fields<EncoderDecoderOptions>& encoder_decoder_fields();

// The model: both halves, and what lies between them.
class EncoderDecoder : public Translator {
 public:
  EncoderDecoder(Scope s, const ModelSizes& sizes, const EncoderDecoderOptions& options,
                 const AttentionOptions& attention);

  // With attention all states of the source, without it the summary alone.
  Memory encode(const ModelInputs& in) const override;
  const Decoder& decoder() const override { return decoder_; }               // a recurrent one
  Parameter output_bias() const override { return decoder_.output_bias(); }  // of W_o

 private:
  EncoderDecoderOptions options_;
  bool attends_;
  RecurrentEncoder encoder_;
  std::optional<Linear> summarise_;
  RecurrentDecoder decoder_;
};

}  // namespace fovea
