// From tokens, or from rows that are there already, to states that know their sequence: recurrent
// layers or a Transformer's blocks, as the option `encoder` says. Models of several texts, of
// phrases and of documents start with it.
#pragma once

#include "fovea/model/recurrent/encoder.h"
#include "fovea/model/transformer/stack.h"

namespace fovea {

struct TextEncoderOptions : RecurrentModelOptions {
  std::string encoder = "rnn";          // rnn, transformer
  int64_t heads = 4;                    // of a Transformer, as the rest
  int64_t hidden = 0;                   // of its feed-forward; 0: 4 width
  double attention_dropout = 0;         // of the weights
  std::string position = "sinusoidal";  // of the catalogue, or none
  int64_t longest = 1024;               // learned positions: how many there are

  bool recurrent() const { return encoder == "rnn"; }  // not the blocks of a Transformer
};
// All of them, as options of a run.
const Fields<TextEncoderOptions>& text_encoder_fields();
// Of a list of options without those that the chosen encoder does not read.
std::vector<FieldInfo> without_idle_encoder(std::vector<FieldInfo> list, const Settings& settings);

// The encoder with its weights, one of the two.
struct TextEncoder {
  // Of tokens. Paths as RecurrentEncoder and TransformerStack have them; `mark` is a Transformer's.
  TextEncoder(Scope s, int64_t vocabulary, const TextEncoderOptions& options,
              bool with_marks = false);

  // A state for every token, packed: [rows, features()]. marks: [rows, 1], where they are read.
  Tensor operator()(const Sequences& tokens, const Tensor& marks = {}) const;
  int64_t features() const;  // how wide a state is
  Dtype dtype() const;       // of its parameters

  std::optional<RecurrentEncoder> recurrent;    // where `encoder` is rnn
  std::optional<TransformerStack> transformer;  // where it is transformer
  double word_dropout;            // of whole tokens, before the blocks of a Transformer
  bool marked;                    // tokens come with marks
  std::optional<Parameter> mark;  // what one adds to an embedding, before those blocks
};

// The same of rows [rows, in], as of sentences.
struct RowEncoder {
  RowEncoder(Scope s, int64_t in, const TextEncoderOptions& options);

  Tensor operator()(const RaggedRows& rows) const;  // [rows, features]

  std::optional<Recurrent> recurrent;           // rnn: one layer, whatever the options say
  std::optional<Linear> project;                // to a Transformer's width, where rows have another
  std::optional<TransformerStack> transformer;  // transformer: one block
};

}  // namespace fovea
