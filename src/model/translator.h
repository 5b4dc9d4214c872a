// What a task needs of a model from n tokens to m: it is taught with the right answer before its
// eyes, and it answers one token at a time.
#pragma once

#include <memory>

#include "fovea/nn/scope.h"
#include "fovea/nn/sequences.h"

namespace fovea {

class Translator {
 public:
  virtual ~Translator() = default;

  struct Taught {
    Tensor scores;           // [rows of target, vocabulary]: for the token that follows each row
    Tensor log_probability;  // [rows]: of what a drawing alignment drew; else empty
  };
  // `target` begins with the begin token and lacks the end token. Without a stream nothing is
  // dropped or drawn.
  virtual Taught teach(const Sequences& source, const Sequences& target, Random* random) const = 0;

  // Answers to B sources, `beam` of each side by side.
  class Decoding {
   public:
    virtual ~Decoding() = default;
    // The last token of each answer, int32 [B beam], gives scores of the next: [B beam,
    // vocabulary].
    virtual Tensor step(const Tensor& ids) = 0;
    // Answer i goes on from what answer rows[i] was; int32 [B beam], within the same source.
    virtual void select(const Tensor& rows) = 0;
  };
  virtual std::unique_ptr<Decoding> start(const Sequences& source, int64_t beam) const = 0;
};

}  // namespace fovea
