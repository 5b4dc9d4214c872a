// What every attention takes and gives. Three steps, each a choice of its own:
//   score e_ij = score(q_i, k_j)  ->  align a_i = align(e_i)  ->  read c_i = sum_j a_ij v_j
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fovea/attention/heads.h"
#include "fovea/attention/pattern.h"
#include "fovea/kernel/attention_rows.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// What to keep of the weights. The context has the same bits whatever is asked.
struct Capture {
  // How much of them, and in what form.
  enum class What {
    nothing,        // the context alone
    rows,           // exact weights of chosen queries
    summary,        // per query its heaviest keys and entropy, and a pooled map: O(n) memory
    with_gradient,  // exact weights of all queries, part of what is differentiated: for losses and
                    // answers that are made of them (pointers, coverage, supervised alignment)
  };
  What what = What::nothing;             // kept beside the context
  std::vector<int32_t> queries{};        // rows: which; empty is all
  int64_t top = 8;                       // summary: heaviest keys a query, 0 to 32
  int64_t map_rows = 64, map_cols = 64;  // summary: at least 1
};

// Weights as they were asked for; what was not asked for is empty. They are those before dropout.
struct Weights {
  Tensor rows;         // [B, H, queries asked for, Tk]
  Tensor top_keys;     // int32 [B, H, Tq, top], heaviest first, -1 where there are fewer
  Tensor top_weights;  // [B, H, Tq, top]
  Tensor entropy;      // [B, H, Tq], in nats
  Tensor lse;          // [B, H, Tq]: log sum exp of the scores
  Tensor map;  // [B, H, map_rows, map_cols]: mean weight of a block of keys for a block of queries
  // Of a pattern that is a list of edges: (query, key) int32 [E, 2], and weights [B, H, E]. Its
  // `rows` are there where they were asked for by name or are few.
  Tensor edges, edge_weights;
};

// Memory of the caller's that a context is written to: it must be there, and not be written to by
// others, as long as the context or a tape that recorded it is used, and must not overlap q, k or
// v.
struct ContextMemory {
  std::span<float> memory{};  // B Tq H Dv numbers; empty: the context gets memory of its own
  bool head_major = false;    // the context is [B, H, Tq, Dv]
};

// What attend() takes. Arrays of [B, T, H, D] are what it is made for; Heads (heads.h) are read in
// any other order, as they lie.
struct AttentionInputs {
  Heads q;  // [B, Tq, H, Dq]
  Heads k;  // [B, Tk, Hk, Dk]; H is a multiple of Hk: query heads share key heads in equal groups
  Heads v;  // [B, Tk, Hk, Dv]
  Pattern who{};  // may look at whom; everyone at everyone unless said
  Tensor bias{};  // added to the scores; broadcasts to [B, H, Tq, Tk]; has a gradient
  // Added too, by how far apart query and key are: distances[b, h, i, clip(j - i - offset) +
  // reach], where query i stands where key i + offset does. [1 or B, 1 or H, 1 or Tq, 2 reach + 1];
  // has a gradient. The only bias, and the same for all queries, it takes O(n) memory.
  Tensor distances{};
  int64_t offset = 0;
  // How many keys each batch entry has, int32 [B], for alignments that go by it; who may look at
  // them is the pattern's to say. Empty: all.
  Tensor lengths{};
  // Where each query stands among the keys, [B, Tq]; empty: query i stands at i + offset.
  Tensor places{};
  // What queries, keys and values were made of, [B, T, features], for mechanisms that make more of
  // it; or empty.
  Tensor x{};
  double dropout = 0;    // of weights, while this thread trains (op/tape.h)
  std::string name{};    // what a Recorder calls the map
  Capture capture{};     // what to keep of the weights
  ContextMemory into{};  // float32 only
};

// What attend() gives.
struct AttentionOutput {
  Tensor context;   // [B, Tq, H, Dv]; in the order of AttentionInputs::into, where that is given
  Weights weights;  // those that the capture asked for
  // Alignments that draw (hard, reinforced): the log-probability of what was drawn, [B, Tq, H], for
  // the REINFORCE term of a loss.
  Tensor log_probability;
};

// How a score is applied after the product of queries and keys.
using kernel::ScoreMap;

// What every score comes down to, once its own parameters have been applied to queries and keys:
//   e_ij = map(scale q_i . k_j),   with `w`:   e_ij = w . act(q_i + k_j),
//   or distance:   e_ij = -|q_i - k_j|
struct ScoreForm {
  Heads q, k;                     // [B, T, H or Hk, D], equally wide
  double scale = 1;               // of the product
  ScoreMap map = ScoreMap::none;  // applied to the scaled product; distance: in its place
  Tensor w{};                     // [D], or [H, D]: an additive score; map is then its act
  Tensor more{};  // added to the scores, as a bias is: whatever a score has that is no such form
};
// A function of two arrays (const Tensor&) is one too; of Heads, it can hand them on as they lie.
using Score = std::function<ScoreForm(const Heads& q, const Heads& k)>;

}  // namespace fovea
