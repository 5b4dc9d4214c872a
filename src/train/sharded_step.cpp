#include "fovea/train/sharded_step.h"

#include <chrono>
#include <cmath>
#include <optional>

#include "fovea/attention/ring.h"
#include "fovea/kernel/reduce.h"
#include "fovea/kernel/unary.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

void scale(std::span<float> x, double factor) {
  kernel::unary(kernel::Unary::affine, x.data(), x.data(), static_cast<int64_t>(x.size()),
                static_cast<float>(factor), 0.0f);
}

}  // namespace

ShardedStep::ShardedStep(Learner& learner, const TrainOptions& options,
                         const std::vector<ParameterGroup>& groups, Communicator& ranks)
    : learner_(learner),
      ranks_(ranks),
      shards_(options.shards),
      sequences_(options.sequence_parallel),
      layout_(learner.parameters()),
      exchange_(layout_, ranks, options.shards),
      mine_(layout_.slices_of(ranks.rank(), ranks.size())),
      optimizer_(
          make_optimizer(learner.parameters(), mine_.slices, optimizer_options(options), groups)) {}

std::vector<std::vector<double>> ShardedStep::gather(const std::vector<double>& mine,
                                                     const std::vector<size_t>& sizes) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::vector<double>> all;
  std::vector<std::span<std::byte>> parts;
  for (size_t n : sizes) all.emplace_back(n);
  all[static_cast<size_t>(ranks_.rank())] = mine;
  for (auto& one : all) parts.push_back(std::as_writable_bytes(std::span(one)));
  all_gather(ranks_, parts);
  gathering_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return all;
}

// One sum for every block of this rank's segments.
std::vector<double> ShardedStep::squares() const {
  std::vector<double> sums;
  float* all = const_cast<GradientExchange&>(exchange_).vector().data();
  for (size_t b = 0; b < layout_.buckets().size(); ++b) {
    const auto segment = layout_.segment(b, ranks_.rank(), ranks_.size());
    for (int64_t at = segment.begin; at < segment.end; at += GradientLayout::block) {
      sums.push_back(
          kernel::square_sum(all + at, std::min(GradientLayout::block, segment.end - at)));
    }
  }
  return sums;
}

// Adds the blocks up in the order of the vector: squares[r][from ...] are those of rank r.
double ShardedStep::norm_of(const std::vector<std::vector<double>>& squares, size_t from) const {
  std::vector<size_t> next(squares.size(), from);
  double sum = 0;
  for (size_t b = 0; b < layout_.buckets().size(); ++b) {
    for (int r = 0; r < ranks_.size(); ++r) {
      const int64_t n = layout_.segment(b, r, ranks_.size()).size();
      for (int64_t at = 0; at < n; at += GradientLayout::block) {
        sum += squares[static_cast<size_t>(r)][next[static_cast<size_t>(r)]++];
      }
    }
  }
  return std::sqrt(sum);
}

ShardedStep::Figures ShardedStep::gradient(int64_t first, int64_t count, const Random& random,
                                           const std::function<double()>& factor) {
  Figures figures;
  present_.assign(layout_.parts().size(), 0);
  sum_.clear();
  const double share = 1 / static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    const Random own = random.fork(static_cast<uint64_t>(i));
    batch_gradient(first + i, own, figures, share, i + 1 == count, factor);
    if (count == 1) break;
    // This batch's share joins those before it; the last one puts the sum where one alone lies.
    size_t at = 0;
    if (i == 0) sum_.resize(static_cast<size_t>(layout_.segment_sum(ranks_.rank(), ranks_.size())));
    for (size_t b = 0; b < layout_.buckets().size(); ++b) {
      const auto segment = layout_.segment(b, ranks_.rank(), ranks_.size());
      float* x = exchange_.vector().data() + segment.begin;
      const auto factor_of = static_cast<float>(scale_);
      for (int64_t k = 0; k < segment.size(); ++k, ++at) {
        sum_[at] += x[k] * factor_of;
        if (i + 1 == count) x[k] = sum_[at];
      }
    }
  }
  if (count == 1) return figures;
  scale_ = 1;
  std::vector<size_t> sizes;
  for (int r = 0; r < ranks_.size(); ++r) {
    sizes.push_back(static_cast<size_t>(layout_.blocks_of(r, ranks_.size())));
  }
  figures.norm = norm_of(gather(squares(), sizes), 0);
  return figures;
}

void ShardedStep::batch_gradient(int64_t batch, const Random& random, Figures& figures,
                                 double share, bool last, const std::function<double()>& factor) {
  const int64_t examples = learner_.examples_in(batch);
  check(examples > 0, "training: batches of this task cannot be cut into shards; leave shards at 1",
        ranks_.size() > 1 ? " and start one process" : "");
  std::vector<double> mine;  // for each shard loss, terms and tokens; then what else is gathered
  for (int64_t shard = exchange_.first_shard(); shard < exchange_.last_shard(); ++shard) {
    const Learner::Shard cut{shard, shards_};
    Learner::Loss one{{}, 0, 0};
    double loss = 0, weight = 0;  // a weight below 0 says that losses are added as they are
    exchange_.begin_shard(shard);
    // Ranks that share every sequence all take the whole batch, and of each sequence their part.
    std::optional<SequenceRing> ring;
    if (sequences_) {
      ring.emplace(ranks_, random.fork("ring"));
    } else {
      learner_.take_shard(cut);
    }
    if (sequences_ || cut.begin(examples) < cut.end(examples)) {
      Random draws = random.fork(static_cast<uint64_t>(shard));
      Tape tape(draws);
      one = learner_.loss(batch);
      check(!ring || ring->shares(), "sequence_parallel: this task cannot share its sequences; lm ",
            "and classify with a Transformer can");
      check(one.terms > 0 || sequences_,
            "training: this task does not say how many terms its loss is the mean ",
            "of, so that its batches cannot be cut into shards");
      loss = one.loss.item();
      weight = one.sum ? -1 : static_cast<double>(one.terms);
      tape.backward(one.loss, Tensor::full(one.loss.shape(), std::abs(weight), one.loss.dtype()),
                    [this](uint32_t parameter, const Tensor& g) { exchange_.take(parameter, g); });
    }
    exchange_.end_shard();
    mine.insert(mine.end(), {loss, weight, static_cast<double>(one.tokens)});
  }
  exchange_.finish();
  const bool alone = last && share == 1;
  mine.push_back(last && ranks_.rank() == 0 ? factor() : 0);
  for (uint8_t there : exchange_.present()) mine.push_back(there);
  if (alone) {
    const std::vector<double> own = squares();
    mine.insert(mine.end(), own.begin(), own.end());
  }
  std::vector<size_t> sizes;
  const size_t parts = layout_.parts().size();
  const auto shards_of = [&](int r) {
    return static_cast<size_t>(exchange_.first_of(r + 1) - exchange_.first_of(r));
  };
  for (int r = 0; r < ranks_.size(); ++r) {
    const auto blocks = static_cast<size_t>(alone ? layout_.blocks_of(r, ranks_.size()) : 0);
    sizes.push_back(3 * shards_of(r) + 1 + parts + blocks);
  }
  auto all = gather(mine, sizes);
  double sum = 0, terms = 0;
  bool sums = false;
  for (int r = 0; r < ranks_.size(); ++r) {
    auto& theirs = all[static_cast<size_t>(r)];
    const size_t shards = shards_of(r);
    for (size_t s = 0; s < shards; ++s) {
      const double weight = theirs[3 * s + 1];
      sums |= weight < 0;
      sum += theirs[3 * s] * std::abs(weight);
      terms += weight;
      figures.tokens += static_cast<int64_t>(theirs[3 * s + 2]);
    }
    if (r == 0) figures.factor = theirs[3 * shards];
    for (size_t p = 0; p < parts; ++p) present_[p] |= theirs[3 * shards + 1 + p] != 0;
    // The squares, which norm_of() reads from one place on for all ranks.
    theirs.erase(theirs.begin(), theirs.begin() + static_cast<int64_t>(3 * shards + 1 + parts));
  }
  if (sums) terms = 1;
  figures.loss += sum / terms * share;
  scale_ = share / terms;
  if (alone) figures.norm = norm_of(all, 0) * scale_;
}

void ShardedStep::update(const Figures& figures, double clip) {
  double factor = scale_;
  if (clip > 0 && figures.norm > clip) factor *= clip / figures.norm;
  float* all = exchange_.vector().data();
  std::vector<std::span<const float>> gradients;
  for (size_t i = 0; i < mine_.slices.size(); ++i) {
    const std::span<float> g(all + mine_.at[i], static_cast<size_t>(mine_.slices[i].count));
    if (present_[mine_.part[i]]) {
      if (factor != 1) scale(g, factor);
      gradients.push_back(g);
    } else {
      gradients.emplace_back();
    }
  }
  optimizer_->step_slices(gradients, figures.factor);
  exchange_.share_weights();
}

std::string ShardedStep::not_finite() {
  // Parts stand in the reverse of the table's order, so that the greatest is the first.
  int64_t first = -1;
  for (size_t i = 0; i < mine_.slices.size(); ++i) {
    const float* g = exchange_.vector().data() + mine_.at[i];
    for (int64_t k = 0; k < mine_.slices[i].count; ++k) {
      if (!std::isfinite(g[k])) first = std::max(first, static_cast<int64_t>(mine_.part[i]));
    }
  }
  for (int64_t theirs : all_gather_value(ranks_, first)) first = std::max(first, theirs);
  return first < 0 ? "" : layout_.parts()[static_cast<size_t>(first)].parameter.name();
}

std::vector<NamedTensor> ShardedStep::state() {
  const std::vector<std::string>& names = optimizer_->array_names();
  if (ranks_.rank() != 0) {
    for (const Tensor& array : optimizer_->arrays()) {
      send(ranks_, 0, tag_state, std::as_bytes(array.read()));
    }
    return {};
  }
  // For each parameter its arrays, whole.
  std::unordered_map<uint32_t, std::vector<Tensor>> whole;
  for (const Parameter& w : learner_.parameters().entries()) {
    for (size_t k = 0; k < names.size(); ++k) {
      whole[w.number()].push_back(Tensor::zeros(w.shape(), w.dtype()));
    }
  }
  for (int r = 0; r < ranks_.size(); ++r) {
    const auto theirs = layout_.slices_of(r, ranks_.size());
    size_t at = 0;
    for (const ParameterSlice& slice : theirs.slices) {
      for (size_t k = 0; k < names.size(); ++k, ++at) {
        const auto to = whole[slice.parameter.number()][k].write().subspan(
            static_cast<size_t>(slice.begin), static_cast<size_t>(slice.count));
        if (r == 0) {
          std::ranges::copy(optimizer_->arrays()[at].read(), to.begin());
        } else {
          receive(ranks_, r, tag_state, std::as_writable_bytes(to));
        }
      }
    }
  }
  std::vector<NamedTensor> named{optimizer_->state()[0]};  // the number of steps
  for (const Parameter& w : learner_.parameters().entries()) {
    for (size_t k = 0; k < names.size(); ++k) {
      named.push_back({names[k] + "/" + w.name(), whole[w.number()][k]});
    }
  }
  return named;
}

}  // namespace fovea
