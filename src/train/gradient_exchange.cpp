#include "fovea/train/gradient_exchange.h"

#include <algorithm>
#include <chrono>

#include "fovea/kernel/binary.h"

namespace fovea {
namespace {

void add_to(float* sum, const float* x, int64_t n) {
  if (n == 0) return;
  const Shape shape{n};
  kernel::binary(kernel::Binary::add, sum, sum, x, kernel::broadcast(shape, shape));
}

int tag_of(RankTag kind, size_t bucket) { return static_cast<int>(bucket << 4) | kind; }

std::span<const std::byte> bytes_at(const float* from, int64_t n) {
  return std::as_bytes(std::span(from, static_cast<size_t>(n)));
}

std::span<std::byte> bytes_at(float* to, int64_t n) {
  return std::as_writable_bytes(std::span(to, static_cast<size_t>(n)));
}

}  // namespace

GradientExchange::GradientExchange(const GradientLayout& layout, Communicator& ranks,
                                   int64_t shards)
    : layout_(layout), ranks_(ranks), shards_(shards) {
  check(ranks.size() <= shards, "training: ", ranks.size(), " ranks need at least as many shards, ",
        "and this run has ", shards, "; start fewer ranks, or a new run with more shards");
  for (int r = 0; r < ranks.size(); ++r) {
    nodes_.push_back(nodes_of(first_of(r), first_of(r + 1)));
  }
  present_.resize(layout.parts().size());
}

void GradientExchange::begin_shard(int64_t shard) {
  if (shard == first_shard()) {
    open_.clear();
    std::ranges::fill(present_, uint8_t{0});
    missing_.clear();
    for (const auto& b : layout_.buckets()) {
      missing_.push_back(static_cast<int64_t>(b.last_part - b.first_part));
    }
  }
  // Which open nodes become one with this leaf.
  TreeNode node{shard, 1};
  joined_ = 0;
  while (joined_ < open_.size() && open_[open_.size() - 1 - joined_].joins(node)) {
    node = {open_[open_.size() - 1 - joined_].first, node.size * 2};
    ++joined_;
  }
  if (joined_ == 0 && buffers_.size() == open_.size()) {
    buffers_.push_back(
        std::make_unique_for_overwrite<float[]>(static_cast<size_t>(layout_.size())));
  }
  open_.push_back({shard, 1});
  taken_.assign(layout_.parts().size(), 0);
}

void GradientExchange::take(uint32_t parameter, const Tensor& gradient) {
  const int64_t part = layout_.part_of(parameter);
  check(part >= 0, "training: a gradient came for a parameter that is not of the model's table");
  const auto p = static_cast<size_t>(part);
  check(gradient.shape() == layout_.parts()[p].parameter.shape(), "training: a parameter of shape ",
        layout_.parts()[p].parameter.shape(), " needs a gradient like it, got ", gradient.shape());
  present_[p] = taken_[p] = 1;
  add_part(p, gradient.read().data());
}

// The leaf goes into the node left of it, that one into the node left of it, and so on, for as many
// as it completes. A parameter without a gradient counts as zeros: adding them makes -0 to 0, which
// must not depend on who adds.
void GradientExchange::add_part(size_t part, const float* gradient) {
  const GradientLayout::Part& at = layout_.parts()[part];
  const int64_t n = at.parameter.elements();
  const size_t leaf = open_.size() - 1;  // its place among the open nodes
  if (joined_ == 0) {
    float* to = buffers_[leaf].get() + at.begin;
    if (gradient) {
      std::copy_n(gradient, n, to);
    } else {
      std::fill_n(to, n, 0.0f);
    }
  } else {
    float* left = buffers_[leaf - 1].get() + at.begin;
    if (gradient) {
      add_to(left, gradient, n);
    } else {
      for (int64_t i = 0; i < n; ++i) left[i] += 0.0f;
    }
    for (size_t k = 2; k <= joined_; ++k) {
      float* next = buffers_[leaf - k].get() + at.begin;
      add_to(next, left, n);
      left = next;
    }
  }
  if (open_.back().end() < last_shard()) return;
  if (--missing_[at.bucket] == 0) start(at.bucket);
  for (size_t i = 0; i < pending_.size();) {
    if (reduce_if_here(pending_[i], false)) {
      pending_.erase(pending_.begin() + static_cast<int64_t>(i));
    } else {
      ++i;
    }
  }
}

void GradientExchange::end_shard() {
  for (size_t p = 0; p < taken_.size(); ++p) {
    if (!taken_[p]) add_part(p, nullptr);
  }
  for (; joined_ > 0; --joined_) {
    open_.pop_back();
    open_.back().size *= 2;
  }
}

void GradientExchange::start(size_t bucket) {
  const int n = ranks_.size(), me = ranks_.rank();
  const std::vector<TreeNode>& mine = nodes_[static_cast<size_t>(me)];
  Pending pending{bucket, {}, {}};
  const int64_t own = layout_.segment(bucket, me, n).size();
  for (int r = 0; r < n; ++r) {
    if (r == me) continue;
    for (size_t k = 0; own > 0 && k < nodes_[static_cast<size_t>(r)].size(); ++k) {
      pending.came.emplace_back(static_cast<size_t>(own));
      pending.receives.push_back(ranks_.start_receive(r, tag_of(tag_gradient, bucket),
                                                      bytes_at(pending.came.back().data(), own)));
    }
  }
  for (int k = 1; k < n; ++k) {
    const int to = (me + k) % n;  // each begins with another one
    const auto segment = layout_.segment(bucket, to, n);
    for (size_t i = 0; segment.size() > 0 && i < mine.size(); ++i) {
      sends_.push_back(ranks_.start_send(
          to, tag_of(tag_gradient, bucket),
          bytes_at(static_cast<const float*>(buffers_[i].get()) + segment.begin, segment.size())));
    }
  }
  pending_.push_back(std::move(pending));
}

bool GradientExchange::reduce_if_here(Pending& pending, bool wait_for_it) {
  if (wait_for_it) {
    wait(pending.receives);
  } else {
    for (const auto& one : pending.receives) {
      if (!one->done()) return false;
    }
  }
  const int me = ranks_.rank();
  const auto segment = layout_.segment(pending.bucket, me, ranks_.size());
  if (segment.size() == 0) return true;
  std::vector<TreeNode> nodes;
  std::vector<float*> sums;
  size_t came = 0;
  for (int r = 0; r < ranks_.size(); ++r) {
    const auto& theirs = nodes_[static_cast<size_t>(r)];
    for (size_t k = 0; k < theirs.size(); ++k) {
      nodes.push_back(theirs[k]);
      sums.push_back(r == me ? buffers_[k].get() + segment.begin : pending.came[came++].data());
    }
  }
  add_up(nodes, [&](size_t i, size_t j) { add_to(sums[i], sums[j], segment.size()); });
  float* home = buffers_[0].get() + segment.begin;
  if (sums[0] != home) std::copy_n(sums[0], segment.size(), home);
  return true;
}

void GradientExchange::finish() {
  for (Pending& pending : pending_) reduce_if_here(pending, true);
  pending_.clear();
  wait(sends_);
}

void GradientExchange::wait(std::vector<std::unique_ptr<Transfer>>& transfers) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  fovea::finish(transfers);
  waited_ += std::chrono::duration<double>(Clock::now() - began).count();
}

void GradientExchange::share_weights() {
  const int n = ranks_.size(), me = ranks_.rank();
  if (n == 1) return;
  float* all = buffers_[0].get();
  const auto each_part = [&](size_t bucket, int rank, auto&& f) {
    const auto segment = layout_.segment(bucket, rank, n);
    const GradientLayout::Bucket& b = layout_.buckets()[bucket];
    for (size_t p = b.first_part; p < b.last_part; ++p) {
      const GradientLayout::Part& part = layout_.parts()[p];
      const int64_t from = std::max(segment.begin, part.begin);
      const int64_t to = std::min(segment.end, part.end());
      if (from < to) f(part.parameter, from - part.begin, all + from, to - from);
    }
  };
  std::vector<std::vector<std::unique_ptr<Transfer>>> receives(layout_.buckets().size());
  for (size_t b = 0; b < layout_.buckets().size(); ++b) {
    each_part(b, me, [](const Parameter& w, int64_t at, float* flat, int64_t count) {
      std::copy_n(w.read().data() + at, count, flat);
    });
    const auto mine = layout_.segment(b, me, n);
    for (int k = 1; k < n; ++k) {
      const int to = (me + k) % n, other = (me - k + n) % n;
      const auto theirs = layout_.segment(b, other, n);
      if (theirs.size() > 0) {
        receives[b].push_back(ranks_.start_receive(other, tag_of(tag_weight, b),
                                                   bytes_at(all + theirs.begin, theirs.size())));
      }
      if (mine.size() > 0) {
        sends_.push_back(
            ranks_.start_send(to, tag_of(tag_weight, b),
                              bytes_at(static_cast<const float*>(all) + mine.begin, mine.size())));
      }
    }
  }
  for (size_t b = 0; b < receives.size(); ++b) {
    wait(receives[b]);
    for (int r = 0; r < n; ++r) {
      if (r == me) continue;
      each_part(b, r, [](const Parameter& w, int64_t at, const float* flat, int64_t count) {
        std::copy_n(flat, count, w.write().data() + at);
      });
    }
  }
  wait(sends_);
}

}  // namespace fovea
