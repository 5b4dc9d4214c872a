// Memory network with its four parts: Weston, Chopra, Bordes 2014; on bAbI Weston et al. 2015.
//   I  makes vectors of sentences: sums of words, or of words in their places
//   G  keeps them in the order in which they come, the newest `memory` of them
//   O  finds supporting facts: o_h = argmax_i s_O([x, m_o1 .. m_oh-1], m_i)
//   R  answers: argmax_w s_R([x, m_o1 ...], w), or a recurrent network that reads what was found
// s(x, y) = (U x)^T (U y) with words of their own for question, facts and what is scored. It learns
// from given supporting facts with a margin; "no more" is a memory too, for questions with fewer.
// When something was said counts as in the paper's time features: candidates are compared in pairs,
// from the oldest on, and a newer one may be preferred though it matches a little less.
#pragma once

#include <functional>
#include <optional>

#include "fovea/model/memory/stories.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/recurrent.h"

namespace fovea {

struct MemoryNetworkOptions : StoryOptions {
  int64_t hops = 2;                // facts that are looked for, one after the other
  std::string response = "words";  // words, lstm
  double margin = 1;               // by which what is right must lead
  MemoryNetworkOptions() { memory = 0; }
};
// As options of a run.
const Fields<MemoryNetworkOptions>& memory_network_fields();

// What was found in each story: [B][hops], places among those kept; -1: no more.
using FoundFacts = std::vector<std::vector<int64_t>>;

// What may be the next fact.
struct ScoredFacts {
  // Of every kept sentence of each story, and last of "no more": [B, longest + 1]; a great negative
  // number behind a story's end.
  Tensor scores;
  Tensor newer{};  // [B, 1]: by how much a newer one may score less and be preferred; empty: not
};

// The parts, each to be replaced by one's own. I and G are what `remembered` and a WordTable do.
struct MemoryNetworkParts {
  // Given the question and what was found before.
  std::function<ScoredFacts(const ModelInputs&, const RememberedSentences&, const FoundFacts&)>
      output;
  // Scores of the candidates.
  std::function<Tensor(const ModelInputs&, const RememberedSentences&, const FoundFacts&)> response;
};

// The network, with its own parts or given ones.
class MemoryNetwork : public Scorer {
 public:
  MemoryNetwork(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& options);
  MemoryNetwork(MemoryNetworkParts parts, const ModelSizes& sizes,
                const MemoryNetworkOptions& options);

  Output operator()(const ModelInputs& in) const override;
  // Needs supporting facts.
  Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const override;

 private:
  RememberedSentences kept(const ModelInputs& in) const;
  FoundFacts find(const ModelInputs& in, const RememberedSentences& kept) const;

  MemoryNetworkOptions options_;
  int64_t longest_sentence_;
  MemoryNetworkParts parts_;
};

// sum over the rows of mean_i max(0, margin - s_target + s_i), i all others; targets int32 [n].
Tensor margin_loss(const Tensor& scores, const Tensor& targets, double margin);

}  // namespace fovea
