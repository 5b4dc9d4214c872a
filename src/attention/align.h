// From scores to weights, a row at a time. Keys that a pattern forbids have weight 0 in all of
// them, and a row that may look at nothing is 0.
#pragma once

#include "fovea/attention/contract.h"
#include "fovea/nn/scope.h"

namespace fovea {

struct Alignment {
  enum class Kind {
    softmax,  // global and soft
    sigmoid,  // unnormalised gates
    entmax,   // Peters, Niculae, Martins 2019; alpha 2 is sparsemax (Martins, Astudillo 2016)
    local,    // softmax within a window that the query places, times a Gaussian around its middle
    hard,     // one key, drawn from the softmax while a tape lives, the heaviest otherwise
    reinforced,  // softmax over a subset of the keys that a learned selector keeps
  };
  // How the gradient passes a hard choice: as if it had been soft (Bengio, Leonard, Courville
  // 2013), or not at all, with the log-probability given back for a REINFORCE term (Williams 1992).
  enum class Estimator { straight_through, reinforce };

  Kind kind = Kind::softmax;
  double alpha = 1.5;  // entmax, in (1, 2]
  double reach = 0;    // local: D; sigma is D / 2
  // local: p [B, Tq, H], in float64 where n may be large
  std::function<Tensor(const Tensor& q, int64_t n)> center{};
  Estimator estimator = Estimator::straight_through;  // hard
  std::function<Tensor(const Tensor& k)> keep{};  // reinforced: logits [B, Tk, Hk] of keeping a key
};

Alignment softmax_alignment();
Alignment sigmoid_alignment();
Alignment sparsemax_alignment();
Alignment entmax_alignment(double alpha = 1.5);
// Luong, Pham, Manning 2015, local-p: p = n sigmoid(v^T tanh(W q)). Local-m is softmax with the
// pattern window(D, D).
Alignment local_alignment(Scope s, int64_t d_q, double reach);
// Xu et al. 2015.
Alignment hard_alignment(Alignment::Estimator estimator);
// Shen et al. 2018 (ReSAN): each key is kept with probability sigmoid(w^T tanh(W k + b)).
Alignment reinforced_alignment(Scope s, int64_t d_k);

// Alpha-entmax along the last axis, with its exact gradient.
Tensor entmax(const Tensor& z, double alpha);
inline Tensor sparsemax(const Tensor& z) { return entmax(z, 2); }

}  // namespace fovea
