// Gradients of shards become those of the batch: added up in the tree of shard_tree.h, each rank
// its own segments of the vector of gradient_layout.h. What a rank sends of a bucket sets out as
// soon as the backward pass of its last shard has made it whole, so that it travels while the pass
// goes on. All in all a rank sends and gets what a reduce-scatter and an all-gather need, as long
// as the ranks' shards are whole nodes of the tree (1, 2, 4, ... ranks of 8 shards); with other
// numbers, a node more now and then.
#pragma once

#include <memory>

#include "fovea/base/communicator.h"
#include "fovea/train/gradient_layout.h"
#include "fovea/train/shard_tree.h"

namespace fovea {

class GradientExchange {
 public:
  // All of them must outlive it. An Error when there are more ranks than shards.
  GradientExchange(const GradientLayout& layout, Communicator& ranks, int64_t shards);

  // The shards that this rank computes, one after the other: [first, last).
  int64_t first_shard() const { return first_of(ranks_.rank()); }
  int64_t last_shard() const { return first_of(ranks_.rank() + 1); }
  int64_t first_of(int rank) const { return shards_ * rank / ranks_.size(); }

  // A shard's gradients: begin_shard, take for each parameter that has one, end_shard.
  void begin_shard(int64_t shard);
  void take(uint32_t parameter, const Tensor& gradient);
  void end_shard();

  // Behind the last shard: waits until this rank's segments hold the sums of all shards.
  void finish();
  // The whole vector, of which this rank's segments count.
  std::span<float> vector() { return {buffers_[0].get(), static_cast<size_t>(layout_.size())}; }
  // Which parts of the layout had a gradient in a shard of this rank's.
  std::vector<uint8_t>& present() { return present_; }

  // After a step: every rank gets the parameters' numbers in the others' segments.
  void share_weights();

  // Seconds that were spent in waiting for others since it was made.
  double waited() const { return waited_; }

 private:
  struct Pending {
    size_t bucket;
    std::vector<std::vector<float>> came;  // nodes of other ranks, in their order
    std::vector<std::unique_ptr<Transfer>> receives;
  };
  void add_part(size_t part, const float* gradient);
  void start(size_t bucket);
  bool reduce_if_here(Pending& pending, bool wait);
  void wait(std::vector<std::unique_ptr<Transfer>>& transfers);

  const GradientLayout& layout_;
  Communicator& ranks_;
  int64_t shards_;
  std::vector<std::vector<TreeNode>> nodes_;       // of each rank, when it is done
  std::vector<std::unique_ptr<float[]>> buffers_;  // of the nodes that are open, by depth
  std::vector<TreeNode> open_;                     // nodes of this rank so far
  size_t joined_ = 0;                              // of them, that the shard at hand completes
  std::vector<uint8_t> present_, taken_;           // by part: in any shard, in the one at hand
  std::vector<int64_t> missing_;                   // by bucket: parts it still lacks
  std::vector<Pending> pending_;                   // buckets on their way
  std::vector<std::unique_ptr<Transfer>> sends_;
  double waited_ = 0;
};

}  // namespace fovea
