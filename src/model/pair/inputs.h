// From a batch of pairs, or of phrases in their sentences, to the features that co-attention reads.
#pragma once

#include "fovea/attention/feature/features.h"
#include "fovea/model/inputs.h"
#include "fovea/model/recurrent/encoder.h"

namespace fovea {

struct PairOptions : RecurrentModelOptions {
  bool whole = true;  // phrases: the sentence is encoded as a whole and then cut
};
const Fields<PairOptions>& pair_fields();
const Fields<PairOptions>& phrase_fields();

// The states of both texts, by the same encoder.
struct TwoTexts {
  Features first, second;
};
TwoTexts encode_pair(const RecurrentEncoder& encoder, const ModelInputs& in);

// The states of a phrase, and of what stands left and right of it.
struct PhraseAndSides {
  Features phrase, left, right;
};
// `whole`: each state knows the rest of the sentence; else each part is encoded by itself.
PhraseAndSides encode_phrase(const RecurrentEncoder& encoder, const ModelInputs& in, bool whole);
// The sentence with its phrase, and the phrase.
TwoTexts encode_sentence_and_phrase(const RecurrentEncoder& encoder, const ModelInputs& in,
                                    bool whole);

}  // namespace fovea
