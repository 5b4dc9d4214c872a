// From a batch of pairs, or of phrases in their sentences, to the features that co-attention reads.
#pragma once

#include "fovea/attention/feature/features.h"
#include "fovea/model/inputs.h"
#include "fovea/model/text_encoder.h"

namespace fovea {

struct PairOptions : TextEncoderOptions {
  bool match = false;  // pairs: words that the other text has too are marked (Chen et al. 2017)
  bool whole = true;   // phrases: the sentence is encoded as a whole and then cut
};
// As options of a run, for pairs and for phrases.
const Fields<PairOptions>& pair_fields();
const Fields<PairOptions>& phrase_fields();

// The states of two texts.
struct TwoTexts {
  Features first, second;  // of B texts each
};
// Both texts by the same encoder and in one go: to a Recorder the encoder's maps of the second
// texts follow those of the first. With marks, if the encoder
// reads any.
TwoTexts encode_pair(const TextEncoder& encoder, const ModelInputs& in);

// A record of numbers as rows: what each is, and how much of it there is.
//   r_f = tanh(e_f + z_f v_f)
struct RecordRows {
  RecordRows(Scope s, int64_t numbers, int64_t width);

  Features operator()(const Tensor& numbers) const;  // [B, numbers] -> B examples of `numbers` rows

  Parameter name, value;  // [numbers, width]
};

// The states of a phrase, and of what stands left and right of it.
struct PhraseAndSides {
  Features phrase, left, right;  // of B texts each; a side may have no rows that count
};
// `whole`: each state knows the rest of the sentence; else each part is encoded by itself.
PhraseAndSides encode_phrase(const TextEncoder& encoder, const ModelInputs& in, bool whole);
// The sentence with its phrase, and the phrase.
TwoTexts encode_sentence_and_phrase(const TextEncoder& encoder, const ModelInputs& in, bool whole);

}  // namespace fovea
