// A translator that reads words and their letters, and writes letters: attention-via-attention
// (Zhao, Zhang 2018). What it writes is never an unknown word, and a word that it has not seen is
// known by its letters.
//   letters of word w:     g_w1 .. g_wn = GRU(e(l_w1) .. e(l_wn))          both directions
//   words:                 h_1 .. h_T = GRU([x_1; g_1 end] .. [x_T; g_T end])
//   finer level:           f_wj = tanh(W_g g_wj + W_h h_w + b)
//   decoder:               c_t = [attend(s_t, h); attend([s_t; c^w_t], f)]
#pragma once

#include "fovea/model/seq2seq/recurrent_decoder.h"

namespace fovea {

struct ViaOptions : RecurrentDecoderOptions {
  int64_t letter_embed = 64;   // features of a letter
  int64_t letter_width = 128;  // units of the letters' layer, in each direction
};
// As options of a run.
const Fields<ViaOptions>& via_fields();

// The translator with its weights.
class ViaTranslator : public Translator {
 public:
  // sizes.vocabulary words, sizes.alphabet letters, sizes.target_vocabulary letters that it writes.
  ViaTranslator(Scope s, const ModelSizes& sizes, const ViaOptions& options,
                const AttentionOptions& attention);

  // in.text are the words; in.document.inner the letters of each, in.document.outer the words of
  // each text.
  Memory encode(const ModelInputs& in) const override;
  const Decoder& decoder() const override { return decoder_; }
  Parameter output_bias() const override { return decoder_.output_bias(); }

 private:
  ViaOptions options_;
  Embedding alphabet_;
  Recurrent letters_;
  RecurrentEncoder encoder_;
  Linear finer_letter_, finer_word_;  // W_g; W_h and b
  RecurrentDecoder decoder_;
};

}  // namespace fovea
