// Capsule-based attention, one capsule a class with an attention of its own: Wang, Sun, Han, Zhu,
// "Sentiment Analysis by Capsules", 2018.
//   e_cl = q_c . k_l   a_c = align(e_c)   c_c = sum_l a_cl v_l      the capsule's representation
//   p_c = sigmoid(w_c . c_c + b_c)                                  the probability that it is
//   active r_c = p_c c_c                                                   its reconstruction of
//   the input
// Joint loss, with y_c = -1 for the true class and 1 for the others, and f the mean of the values:
//   max(0, 1 + sum_c y_c p_c) + max(0, 1 + sum_c y_c f . r_c)
#pragma once

#include "fovea/attention/factory.h"

namespace fovea {

struct Capsules {
  Capsules(Scope s, int64_t classes, int64_t d_k, int64_t d_v, const AlignmentFactory& align = {});

  // What a call takes.
  struct Inputs {
    Tensor k;           // [B, T, d_k]
    Tensor v{};         // [B, T, d_v]; empty: k
    Pattern who{};      // which keys count
    Tensor lengths{};   // as in AttentionInputs
    Capture capture{};  // which weights to keep
  };
  // What a call gives; C is the number of classes.
  struct Output {
    Tensor representation;  // c [B, C, d_v]
    Tensor probability;     // p [B, C]
    Tensor reconstruction;  // r [B, C, d_v]
    Tensor mean;            // f [B, d_v]
    Weights weights;        // a capsule is a head with one query
    // [B]: of what all capsules' alignments drew, for a REINFORCE term; else empty.
    Tensor log_probability;
  };
  // Every capsule looks at all of the sequence.
  Output operator()(const Inputs& in) const;

  Parameter query;   // q [C, d_k]
  Parameter weight;  // w [C, d_v]
  Parameter bias;    // b [C]
  Alignment align;   // of every capsule
  std::string name;  // its path: what a Recorder calls its map
};

// The joint loss of each example, [B], for these classes (int32 [B]), and its mean over the batch;
// `share` weighs the second part.
Tensor capsule_losses(const Capsules::Output& out, const Tensor& classes, double share = 1);
Tensor capsule_loss(const Capsules::Output& out, const Tensor& classes, double share = 1);

}  // namespace fovea
