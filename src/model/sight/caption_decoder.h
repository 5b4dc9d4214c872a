// The decoder that looks at regions before each word: Xu, Ba, Kiros, Cho, Courville, Salakhutdinov,
// Zemel, Bengio, "Show, Attend and Tell", 2015. Regions a_1 .. a_L, words y_1 .. y_T:
//   alpha_t = align(score(h_(t-1), a_i)),   beta_t = sigmoid(w_b h_(t-1))
//   soft:  z_t = beta_t sum_i alpha_ti a_i
//   hard:  z_t = beta_t a_s,  s ~ alpha_t; the likeliest where nothing is learned
//   none:  z_t = beta_t mean_i a_i
//   h_t = LSTM([E y_(t-1); z_t], h_(t-1)),   h_0, c_0 = tanh(W mean_i a_i)
//   p(y_t) = softmax(L_o tanh(E y_(t-1) + L_h h_t + L_z z_t))
// What is made small, over the words of a batch:
//   sum_t -log p(y_t) + lambda sum_i (1 - sum_t alpha_ti)^2      (every region its share of looks)
//   hard: and, for what was drawn,  (cost from t on - baseline) log alpha_ts - entropy bonus
// The baseline is a moving mean (0.9 and 0.1) of the cost of a word, times the words that follow:
// as the paper's, but what came before a draw, which it cannot have changed, does not count.
#pragma once

#include <functional>
#include <optional>

#include "fovea/attention/catalog.h"
#include "fovea/model/seq2seq/translator.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/recurrent.h"

namespace fovea {

// How a captioner looks.
enum class Looking { soft, hard, none };

struct CaptionDecoderOptions {
  int64_t embed = 64;           // features of a word
  int64_t width = 128;          // units of the LSTM
  double dropout = 0;           // of words and before the output
  bool gate = true;             // beta
  double penalty = 0;           // lambda of the doubly stochastic penalty
  double expectation = 0.5;     // hard: part of the pictures that are looked at softly
  double reward = 1;            // hard: weight of what is learned from rewards
  double look_entropy = 0.002;  // hard: bonus for each nat of a look's entropy
};
// All of them, as options of a run; those of hard looking last.
const Fields<CaptionDecoderOptions>& caption_decoder_fields();
// The names of the last three.
const std::vector<std::string>& hard_looking_options();

// The decoder with its weights.
class CaptionDecoder : public Decoder {
 public:
  // `features`: of a region.
  CaptionDecoder(Scope s, int64_t vocabulary, int64_t features, Looking looking,
                 const CaptionDecoderOptions& options, AttentionOptions attention);

  Taught teach(const Memory& memory, const Sequences& target) const override;
  std::unique_ptr<Decoding> start(const Memory& memory, int64_t beam) const override;
  Parameter output_bias() const { return output_.bias; }  // of L_o

  // What training makes small: see above. wanted is int32 [rows of target]. While it trains, the
  // baseline moves.
  Tensor loss(const Memory& memory, const Sequences& target, const Tensor& wanted,
              double smoothing) const;

  // What captions cost with hard looks at given regions.
  struct Forced {
    Tensor cost;             // [rows]: -log p of the wanted words
    Tensor log_probability;  // [rows]: of the choices
  };
  // With looks at these regions, one a word: int32 [B, longest of target].
  Forced forced(const Memory& memory, const Sequences& target, const Tensor& wanted,
                const Tensor& regions) const;

  std::string name;  // of its map

 private:
  friend class CaptionDecoding;
  // A batch that is looked at: keys made once for all steps.
  struct Ground {
    Tensor keys, values;  // [B, L, 1, d]
    Tensor mean{};        // [B, features]
    Tensor lengths{};     // int32 [B]; empty: all of it counts
    Tensor expected{};    // hard and training: [B, 1], 1 where a picture is looked at softly
    std::vector<int32_t> forced{};  // hard: the regions to take, [T, B]; empty: its own choice
  };
  struct Look {
    Tensor context;            // [n, features]
    Tensor alpha{};            // [n, L]
    Tensor log_probability{};  // [n]
  };
  // One step: what it saw and what state it is in.
  struct Step {
    Tensor h, z;  // [n, width], [n, features]
    Look look;
  };
  struct Told {
    Tensor scores;                               // [rows, vocabulary]
    std::vector<Tensor> alpha, log_probability;  // a step each
  };

  Ground ground_of(const Memory& memory) const;
  RecurrentStates first_states(const Memory& memory) const;
  Look look(const Ground& ground, const Tensor& h, int64_t beam, int64_t t, bool keep) const;
  Look choose(const Ground& ground, const Tensor& alpha, int64_t t) const;
  Step step(const Ground& ground, const Tensor& words, RecurrentStates& state, int64_t beam,
            int64_t t, bool keep) const;
  Tensor scores_of(const Tensor& words, const Tensor& h, const Tensor& z) const;
  Told tell(const Memory& memory, const Sequences& target, const Ground& ground, bool keep) const;

  Looking looking_;
  CaptionDecoderOptions options_;
  Embedding embedding_;
  Recurrent layers_;
  Linear first_h_, first_c_, h_out_, z_out_, output_;
  std::optional<Linear> gate_;
  // An additive score with its keys apart; any other as it comes.
  std::optional<Linear> key_, query_;
  Parameter w_;
  ScoreMap act_ = ScoreMap::tanh;
  Score score_;
  Alignment align_;
  Parameter baseline_;  // [2], frozen: the mean cost of a word, and whether there is one yet
};

}  // namespace fovea
