// What the parts of a memory network hand to each other (memory_network.h), and those of them that
// learn nothing: I, which makes features of words, and G, which stores sentences.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fovea/model/memory/stories.h"

namespace fovea {

// I: of each word its features. Those from `features` on, `fixed` of them, have vectors that are
// not learned.
struct InputPart {
  int64_t features = 0, fixed = 0;  // how many there are
  // Given words, int32 [n], and where the data has them their letters, int32 [n, letters_of_word]:
  // n sequences.
  std::function<Sequences(const Tensor& words, const Tensor& letters)> read{};
};
// A word is its only feature.
InputPart word_input(const ModelSizes& sizes);
// The groups of three letters of a word, whose ends count as letters: "#ma", "mar", "ary", "ry#"
// (Huang et al. 2013). They share `groups` vectors by their hash, so that a word that was never
// seen has much in common with others that look like it.
InputPart letter_input(int64_t groups);

// What each slot of a story's memory holds: the number of a sentence, from 0.
using StoredSentences = std::vector<int64_t>;
// G: where in the slots a sentence goes, whose words these are. Sentences come in their order; one
// may go nowhere, and one that was stored may be moved or forgotten.
using StorePart =
    std::function<void(StoredSentences& slots, int64_t sentence, std::span<const int32_t> words)>;
// The next slot.
StorePart next_slot();
// The same up to so many; then the slot of the oldest sentence, which is forgotten.
StorePart oldest_slot(int64_t slots);

// Texts as I has read them.
struct ReadTexts {
  Sequences words;   // of each word its features
  Packing texts;     // of each text its words
  Sequences sums{};  // of each text the features of all its words,
  Tensor places{};   // and where in the text the word of each one stands

  // Words from longest_sentence on share its last place.
  ReadTexts(Sequences words, Packing texts, int64_t longest_sentence);
};

// What a question is answered from.
struct MemoryContents {
  ReadTexts questions;  // of each example
  ReadTexts sentences;  // those that are stored; one without words where there are none
  Packing outer;        // the stored sentences of each story, in the order they came in
  std::vector<StoredSentences> which;  // of each story, which of its sentences they are
};
// I and G at work.
MemoryContents memory_contents(const InputPart& input, const StorePart& store,
                               const ModelInputs& in, int64_t longest_sentence);

// What was found in each story: [B][hops], places among those stored; -1: no more.
using FoundFacts = std::vector<std::vector<int64_t>>;

// What may be the next fact.
struct ScoredFacts {
  // Of every stored sentence of each story, and last of "no more": [B, longest + 1]; a great
  // negative number behind a story's end.
  Tensor scores;
  Tensor newer{};  // [B, 1]: by how much a newer one may score less and be preferred; empty: not
};

}  // namespace fovea
