// Memory network with its four parts, each to be replaced: Weston, Chopra, Bordes 2014; on bAbI
// Weston et al. 2015.
//   I  makes features of words: the word itself, or groups of its letters
//   G  stores sentences in the slots of a memory: the next one, or that of the oldest sentence
//   O  finds supporting facts: o_h = argmax_i s_O([x, m_o1 .. m_oh-1], m_i)
//   R  answers: argmax_w s_R([x, m_o1 ...], w), or a recurrent network that reads x, m_o1 ... and
//      then writes the answer, word by word
// A sentence is the sum of its features' vectors, by where its words stand. s(x, y) = (U x)^T (U y)
// with vectors of their own for question, facts and what is scored. It learns from given supporting
// facts with a margin; "no more" is a memory too, for questions with fewer.
// When something was said counts as in the paper's time features: candidates are compared in pairs,
// from the oldest on, and a newer one may be preferred though it matches a little less.
#pragma once

#include <functional>

#include "fovea/model/memory/memory_parts.h"
#include "fovea/model/seq2seq/beam_search.h"

namespace fovea {

struct MemoryNetworkOptions : StoryOptions {
  int64_t hops = 2;                // facts that are looked for, one after the other
  std::string input = "words";     // I: words, letters
  int64_t groups = 4096;           // of letters: how many vectors they share
  std::string response = "words";  // R: words, lstm
  double margin = 1;               // by which what is right must lead
  MemoryNetworkOptions() { memory = 0; }
};
// As options of a run.
const Fields<MemoryNetworkOptions>& memory_network_fields();

// R where it writes.
struct WritingPart {
  // What it costs to write the given answers (ModelInputs::answer), when after each of their rows
  // these tokens are wanted: the mean over the answers, so that long ones count more.
  std::function<Tensor(const MemoryContents&, const FoundFacts&, const Sequences& answer,
                       const Tensor& wanted)>
      loss{};
  // What it writes.
  std::function<std::vector<std::vector<Hypothesis>>(const MemoryContents&, const FoundFacts&,
                                                     const BeamOptions&)>
      write{};
};

// The parts; those that are null are the network's own, as the options say.
struct MemoryNetworkParts {
  InputPart input{};  // I: what a text is read as
  StorePart store{};  // G: where a sentence is kept
  // O: given the question and what was found before, what may be the next fact.
  std::function<ScoredFacts(const MemoryContents&, const FoundFacts&)> output{};
  // R: scores of the candidates, ModelInputs::candidates.
  std::function<Tensor(const MemoryContents&, const FoundFacts&, const Tensor& candidates)>
      response{};
  WritingPart writing{};  // R in the place of that
};

// The network with its weights; it scores the candidates for an answer, or writes one.
class MemoryNetwork : public Scorer, public LearnsFromFacts, public WritesAnswers {
 public:
  // Paths: output and response, of parts that are its own. One that writes has
  // sizes.target_vocabulary tokens for it.
  MemoryNetwork(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& options,
                MemoryNetworkParts parts = {});

  // An Error where it writes.
  Output operator()(const ModelInputs& in) const override;
  std::vector<std::vector<Hypothesis>> write(const ModelInputs& in,
                                             const BeamOptions& options) const override;
  // Needs supporting facts. The targets are candidates, or where it writes what is wanted after
  // each row of in.answer.
  Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const override;

 private:
  FoundFacts find(const MemoryContents& memory) const;

  MemoryNetworkOptions options_;
  int64_t longest_sentence_;
  MemoryNetworkParts parts_;
};

// sum over the rows of mean_i max(0, margin - s_target + s_i), i all others; targets int32 [n].
Tensor margin_loss(const Tensor& scores, const Tensor& targets, double margin);

}  // namespace fovea
