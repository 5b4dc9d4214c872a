// A recurrent decoder over any memory.
//   without attention: Cho et al. 2014; Sutskever, Vinyals, Le 2014. The memory's summary c stands
//     beside every state:   o_t = tanh(W_c [c; s_t])
//   with attention: Bahdanau, Cho, Bengio 2014; Luong, Pham, Manning 2015. The memory's states are
//     keys and values, the decoder's state is the query:
//     c_t = attend(s_t, h_1 .. h_T),   o_t = tanh(W_c [c_t; s_t]),   p(y_t) = softmax(W_o o_t)
//   attention-via-attention (Zhao, Zhang 2018), where the memory has letters beside its words:
//     c_t = [attend(s_t, words); attend([s_t; c^w_t], letters)]
//   input feeding (Luong et al.): the decoder's next input is [y_t; o_t].
#pragma once

#include <optional>

#include "fovea/attention/feature/via.h"
#include "fovea/model/named_attention.h"
#include "fovea/model/recurrent/encoder.h"
#include "fovea/model/seq2seq/translator.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct RecurrentDecoderOptions : RecurrentModelOptions {
  bool input_feeding = false;  // the decoder sees its last output too
};

// The decoder with its weights; score=none leaves attention out.
class RecurrentDecoder : public Decoder {
 public:
  // `features`: how wide the memory's states and beginnings are; `letters`: how wide its finer
  // level is, 0: it has none.
  RecurrentDecoder(Scope s, int64_t vocabulary, int64_t features,
                   const RecurrentDecoderOptions& options, const AttentionOptions& attention,
                   int64_t letters = 0);

  Taught teach(const Memory& memory, const Sequences& target) const override;
  std::unique_ptr<Decoding> start(const Memory& memory, int64_t beam) const override;
  Parameter output_bias() const { return output_.bias; }  // of W_o

 private:
  friend class RecurrentDecoding;
  RecurrentStates first_states(const Memory& memory) const;
  Memory projected(const Memory& memory) const;
  // The contexts of queries [B, Tq, width]; `step` as in NamedAttention.
  struct Looked {
    Tensor context;          // [B, Tq, width], or with letters [B, Tq, 2 width]
    Tensor log_probability;  // [B, Tq], or empty
  };
  Looked look(const Tensor& q, const Memory& memory, int64_t step) const;
  bool attends() const { return attention_ || via_; }
  Tensor combine(const Tensor& context, const Tensor& state) const;
  Taught teach_fed(const Memory& memory, const Sequences& target) const;

  RecurrentDecoderOptions options_;
  Embedding embedding_;
  Recurrent layers_;
  std::optional<Linear> memory_;   // to the decoder's width, where the memory has another
  std::optional<Linear> letters_;  // the same of its finer level
  std::vector<Linear> bridge_;     // first states: h of each layer, then c
  std::optional<NamedAttention> attention_;
  std::optional<ViaAttention> via_;  // instead of it
  Linear combine_, output_;
};

}  // namespace fovea
