// Bidirectional attention flow: Seo, Kembhavi, Farhadi, Hajishirzi, "Bidirectional Attention Flow
// for Machine Comprehension", 2017.
//   x = highway([word; letters]),   H = lstm(x of the passage),   U = lstm(x of the question)
//   S_tj = w . [h_t; u_j; h_t o u_j]
//   context to query:  u~_t = sum_j softmax_j(S_tj) u_j
//   query to context:  h~ = sum_t softmax_t(max_j S_tj) h_t
//   G_t = [h_t; u~_t; h_t o u~_t; h_t o h~],   M = lstm(lstm(G)),   M' = lstm(M)
//   start = softmax(w_1 . [G; M]),   end = softmax(w_2 . [G; M'])
// Where questions may have no answer, a further score [h~; mean of M] stands beside those of the
// words (Levy, Seo, Choi, Zettlemoyer 2017 have one number for all).
#pragma once

#include <optional>

#include "fovea/attention/contract.h"
#include "fovea/model/reader/span_reader.h"
#include "fovea/model/reader/words.h"
#include "fovea/nn/highway.h"

namespace fovea {

struct BidafOptions : ReaderOptions {
  BidafOptions() {
    cell = "lstm";
    layers = 2, embed = 100, width = 100, letters = 100;
    dropout = 0.2;
  }
  int64_t highway = 2;  // layers between words and states
};
// All of them, as options of a run; layers are those of the modelling part.
const Fields<BidafOptions>& bidaf_fields();

// The reader with its weights.
class Bidaf : public SpanReader {
 public:
  Bidaf(Scope s, const ModelSizes& sizes, const BidafOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  // The flow between passage h and question u, packed rows: G, and h~ [B, 2 width].
  struct Flow {
    Tensor g, summary;
  };
  Flow flow(const Tensor& h, const Tensor& u, const ModelInputs& in) const;

  BidafOptions options_;
  ReaderWords words_;
  std::vector<Highway> highway_;
  Recurrent context_;             // of passage and question alike
  Score similarity_;              // S
  Recurrent modelling_, ending_;  // M and M'
  Linear from_flow_, from_modelling_, from_ending_;
  std::optional<Linear> nothing_;
  std::string path_;
};

}  // namespace fovea
