// From n tokens to m, in two halves. An encoder makes a memory, whoever it is: of text, a picture,
// frames, a graph. A decoder starts from a memory and knows nothing else; beam search knows the
// decoder.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "fovea/attention/pattern.h"
#include "fovea/model/model.h"

namespace fovea {

// What a decoder looks at and begins with.
struct Memory {
  Tensor states{};   // [B, S, features]: to look at
  Tensor lengths{};  // int32 [B]: how much of it counts,
  Pattern who{};     // and who may be looked at: nothing where all lengths are the whole
  // A finer level of the same, as letters are of words: [B, letters, features] and int32 [B]; empty
  // where there is none.
  Tensor letters{}, letter_lengths{};
  // What a recurrent decoder's states are made of, [B, features]: one for each of its states (h of
  // every layer, then c), or one for all. A Transformer needs none.
  std::vector<Tensor> beginnings{};

  int64_t count() const { return lengths.dim(0); }  // B: how many examples it is made of
};

// From a memory to tokens: it is taught with the right answer before its eyes, and it answers one
// token at a time.
class Decoder {
 public:
  virtual ~Decoder() = default;

  // What the decoder says to each token of the right answer.
  struct Taught {
    Tensor scores;             // [rows of target, vocabulary]: for the token that follows each row
    Tensor log_probability{};  // [rows]: of what a drawing alignment drew; else empty
  };
  // `target` begins with the begin token and lacks the end token.
  virtual Taught teach(const Memory& memory, const Sequences& target) const = 0;

  // Answers from B memories, `beam` of each side by side.
  class Decoding {
   public:
    virtual ~Decoding() = default;
    // The last token of each answer, int32 [B beam], gives scores of the next: [B beam,
    // vocabulary].
    virtual Tensor step(const Tensor& ids) = 0;
    // Answer i goes on from what answer rows[i] was; int32 [B beam], within the same memory.
    virtual void select(const Tensor& rows) = 0;
  };
  // The decoder must outlive it.
  virtual std::unique_ptr<Decoding> start(const Memory& memory, int64_t beam) const = 0;
  // The most tokens an answer can have, the begin token included.
  virtual int64_t longest() const { return std::numeric_limits<int64_t>::max(); }
};

// A model that gives tokens: an encoder and its decoder.
class Translator : public Network {
 public:
  // The memory of a batch, to be looked at by the decoder.
  virtual Memory encode(const ModelInputs& in) const = 0;
  virtual const Decoder& decoder() const = 0;  // it lives as long as the model

  // Both halves one after the other: what training needs.
  Decoder::Taught teach(const ModelInputs& in, const Sequences& target) const {
    return decoder().teach(encode(in), target);
  }
  // What training makes small. By default the mean cross-entropy of the tokens that are wanted
  // after each row of the target, int32 [rows], with the REINFORCE term where something was drawn.
  virtual Tensor loss(const ModelInputs& in, const Sequences& target, const Tensor& wanted,
                      double smoothing) const {
    const Decoder::Taught taught = teach(in, target);
    return classification_loss(taught.scores, wanted, smoothing, taught.log_probability);
  }
  // The bias of the output layer, to start it from the tokens' frequencies; empty without one.
  virtual Parameter output_bias() const { return {}; }
};

}  // namespace fovea
