// The recurrent attention model: Mnih, Heess, Graves, Kavukcuoglu, "Recurrent Models of Visual
// Attention", 2014.
//   l_t ~ N(tanh(W_l h_(t-1) + b_l), deviation^2)                 where to look: drawn
//   g_t = relu(L relu(L rho(x, l_t)) + L relu(L l_t))             what is seen there, and where
//   h_t = relu(L h_(t-1) + L g_t),  y = W h_T + b
// Classes are learned by gradient through all glimpses; places, which have none, by REINFORCE
// (Williams 1992): with R = p(right answer) and a baseline b_t = W_b h_(t-1) + c,
//   d E[R] = E[sum_t (R - b_t) d log p(l_t)]
// The paper's R is 1 where the best answer is right: an answer drawn would be right so often as R
// here says, which has less noise, and still tells good places from better ones when nearly all
// answers are right.
// The first place comes from h_0 = 0: it is the same for all pictures. Without a random stream the
// mean is looked at. `random`: places are uniform over the picture instead, which is what learned
// ones are compared with; when it answers they are a function of the picture.
#pragma once

#include <optional>

#include "fovea/base/fields.h"
#include "fovea/model/model.h"
#include "fovea/nn/linear.h"
#include "fovea/op/glimpse.h"

namespace fovea {

struct GlimpseModelOptions {
  int64_t glimpses = 6;    // how often it looks
  int64_t glimpse = 8;     // pixels of a side
  int64_t scales = 1;      // of a glimpse, each twice as wide as the one before
  int64_t width = 256;     // of the state; half of it of what is seen, and of where
  double deviation = 0.1;  // of places, in halves of a picture's side
  double reward = 1;       // weight of the REINFORCE term beside the cross-entropy
  double dropout = 0;      // of the last state
};
// What both rows read, and what only drawn places need.
const Fields<GlimpseModelOptions>& glimpse_fields();
const Fields<GlimpseModelOptions>& policy_fields();

// The glimpse network and the state it updates.
struct GlimpseCore {
  GlimpseCore(Scope s, const ModelSizes& sizes, const GlimpseModelOptions& options);
  // One glimpse on: h [B, width], or empty before the first; places [B, 2].
  Tensor operator()(const Tensor& pictures, const Tensor& places, const Tensor& h) const;

  GlimpseOptions sensor;  // what a glimpse sees
  // The L above in their order: of rho, of l_t, of what either's relu gives, of h_(t-1) and of g_t.
  Linear seen, where, from_seen, from_where, from_state, from_glimpse;
};

// Labels for pictures, by places that are learned or random.
class GlimpseClassifier : public Scorer {
 public:
  GlimpseClassifier(Scope s, const ModelSizes& sizes, const GlimpseModelOptions& options,
                    bool random);
  Output operator()(const ModelInputs& in) const override;
  // Cross-entropy, the REINFORCE term, and the squared error of the baseline.
  Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const override;

  // Where it looks, one [B, 2] (down, across) for each glimpse, and what it sees there.
  std::vector<Tensor> places(const Tensor& pictures) const { return walk(pictures).places; }
  const GlimpseOptions& sensor() const { return core_.sensor; }
  // What is seen along given places, one [B, 2] for each glimpse: scores [B, labels].
  Tensor scores_at(const Tensor& pictures, std::span<const Tensor> places) const;

 private:
  // A walk over the pictures.
  struct Walk {
    Tensor h;                      // after the last glimpse
    std::vector<Tensor> places{};  // [B, 2] each
    Tensor log_probability{};      // [T, B]: of the places, but for constants; empty: not drawn
    Tensor baseline{};             // [T, B]
  };
  Walk walk(const Tensor& pictures) const;
  Tensor random_places(const Tensor& pictures, int64_t glimpse) const;
  void show(const Walk& walk, const Tensor& pictures) const;

  GlimpseModelOptions options_;
  GlimpseCore core_;
  std::optional<Linear> place_, baseline_;  // none where places are random
  Linear output_;
};

}  // namespace fovea
