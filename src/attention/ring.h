// Ring attention: Liu, Zaharia, Abbeel, "Ring Attention with Blockwise Transformers for
// Near-Infinite Context", 2023. One sequence over all ranks: each keeps its queries, and the keys
// and values go round from rank to rank while the block at hand is computed.
//   out_i = sum_b e^(lse_ib - lse_i) out_ib     lse_i = log sum_b e^lse_ib     over the blocks b
// A sequence is cut into 2 P chunks for P ranks, of which rank r has chunks r and 2 P - 1 - r: with
// a causal pattern, early queries look at little and late ones at much, and so every rank has as
// much to do as the others (zigzag; Brandon et al., "Striped Attention", 2023, for the problem).
#pragma once

#include "fovea/attention/contract.h"
#include "fovea/base/communicator.h"
#include "fovea/base/random.h"

namespace fovea {

struct Alignment;

// While one lives, this thread's sequences are parts of longer ones that the ranks share: attend()
// goes round the ring, and positions are those in the whole. All ranks do the same calls in the
// same order.
class SequenceRing {
 public:
  // `random` must stand at the same place on all ranks: what attention drops is drawn from it.
  SequenceRing(Communicator& ranks, Random random);
  ~SequenceRing();
  SequenceRing(const SequenceRing&) = delete;
  SequenceRing& operator=(const SequenceRing&) = delete;
  // The one of this thread, or null.
  static SequenceRing* current();

  // The sequences that come next, by their lengths. Their chunks are long enough for the longest.
  void share(std::span<const int64_t> lengths);
  // Whether share() has been called.
  bool shares() const { return chunk_ > 0; }

  // Positions of a chunk, and positions in all: [0, whole()).
  int64_t chunk() const { return chunk_; }
  int64_t whole() const { return 2 * ranks_.size() * chunk_; }
  // Where the two chunks of a rank begin.
  int64_t first(int rank) const { return rank * chunk_; }
  int64_t second(int rank) const { return (2 * ranks_.size() - 1 - rank) * chunk_; }
  // This rank's part of a sequence. Where it reaches into the second chunk, the first is full, so
  // that row t of the part belongs to the second from t = chunk() on.
  template <class T>
  std::vector<T> part_of(const std::vector<T>& sequence) const {
    std::vector<T> part;
    for (const int64_t from : {first(ranks_.rank()), second(ranks_.rank())}) {
      const auto n = static_cast<int64_t>(sequence.size());
      const auto begin = sequence.begin() + std::min(from, n);
      part.insert(part.end(), begin, sequence.begin() + std::min(from + chunk_, n));
    }
    return part;
  }
  // How long the sequences are in all, int32 [B].
  const Tensor& lengths() const { return lengths_; }

  Communicator& ranks() const { return ranks_; }  // of the ring
  uint64_t seed() { return random_.bits64(); }    // of the next dropout, the same on all ranks

 private:
  Communicator& ranks_;
  Random random_;
  int64_t chunk_ = 0;
  Tensor lengths_;
  SequenceRing* outer_;
};

// What ring_attend() takes beside queries, keys and values.
struct RingCall {
  double scale = 1;    // of the product
  Pattern who{};       // of the whole sequences: ranges, as causal(), window() and lengths() are
  Tensor diagonals{};  // [1 or B, 1 or H, 1, 2 whole - 1]: added by distance, from 1 - whole on
  double dropout = 0;  // of weights
  uint64_t seed = 0;   // of the dropout, the same on all ranks
};
// q [B, 2 chunk, H, D], k and v [B, 2 chunk, Hk, D or Dv] of this rank: the context of its queries
// over all keys, as one process has it but for rounding; with gradients. float32.
Tensor ring_attend(SequenceRing& ring, const Tensor& q, const Tensor& k, const Tensor& v,
                   const RingCall& call);

// attend() on a ring: any score that is a product, with softmax. An Error for anything else.
AttentionOutput attend_on_ring(SequenceRing& ring, const AttentionInputs& in, const Score& score,
                               const Alignment& align);

// The sum of all ranks' x, on every rank; its gradient is the sum of theirs.
Tensor ring_sum(SequenceRing& ring, const Tensor& x);

}  // namespace fovea
