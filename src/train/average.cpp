#include "fovea/train/average.h"

#include <algorithm>
#include <array>

#include "fovea/base/parallel.h"
#include "fovea/train/checkpoint.h"

namespace fovea {
namespace {

std::string prefix_of(int64_t number) { return say("snapshot/", number, "/"); }

template <class T>
void mean_of(const std::vector<const T*>& from, T* to, int64_t n) {
  constexpr int64_t grain = 1024;
  const double count = static_cast<double>(from.size());
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    std::array<double, grain> sum{};
    for (const T* x : from) {
      for (int64_t i = begin; i < end; ++i) sum[i - begin] += x[i];
    }
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<T>(sum[i - begin] / count);
  });
}

}  // namespace

Replaced::Replaced(const Parameters& parameters, std::vector<Tensor> values)
    : parameters_(parameters), others_(std::move(values)) {
  check(others_.empty() || others_.size() == parameters.entries().size(),
        "weights: ", parameters.entries().size(), " parameters cannot be replaced by ",
        others_.size());
  swap();
}

void Replaced::swap() {
  for (size_t i = 0; i < others_.size(); ++i) {
    const Parameter& p = parameters_.entries()[i];
    Tensor own = p;
    p = others_[i];
    others_[i] = std::move(own);
  }
}

void Snapshots::add() {
  if (most_ < 2) return;
  // Shares the weights' memory: it is the next step that, about to write, makes a copy.
  std::vector<Tensor> now;
  for (const auto& entry : parameters_.entries()) now.push_back(entry);
  ring_.push_back(std::move(now));
  if (count() > most_) ring_.pop_front();
}

std::vector<Tensor> Snapshots::mean() const {
  std::vector<Tensor> means;
  if (ring_.empty()) return means;
  for (size_t i = 0; i < ring_.back().size(); ++i) {
    const Tensor& newest = ring_.back()[i];
    if (newest.dtype() == Dtype::i32) {
      means.push_back(newest);
      continue;
    }
    Tensor mean(newest.shape(), newest.dtype());
    with_real(newest.dtype(), [&]<class T>(T) {
      std::vector<const T*> from;
      for (const auto& snapshot : ring_) from.push_back(snapshot[i].template read<T>().data());
      mean_of<T>(from, mean.write<T>().data(), mean.elements());
    });
    means.push_back(std::move(mean));
  }
  return means;
}

std::vector<NamedTensor> Snapshots::state() const {
  std::vector<NamedTensor> named;
  for (int64_t k = 0; k < count(); ++k) {
    for (size_t i = 0; i < ring_[k].size(); ++i) {
      named.push_back({prefix_of(k) + parameters_.entries()[i].name(), ring_[k][i]});
    }
  }
  return named;
}

void Snapshots::restore(const Safetensors& from, const std::string& path) {
  if (most_ < 2 || parameters_.entries().empty()) return;
  const std::string& first = parameters_.entries()[0].name();
  int64_t saved = 0;
  while (from.has(prefix_of(saved) + first)) ++saved;
  std::deque<std::vector<Tensor>> ring;
  for (int64_t k = std::max<int64_t>(0, saved - most_); k < saved; ++k) {
    ring.push_back(read_parameters(from, path, parameters_, prefix_of(k)));
  }
  ring_ = std::move(ring);
}

}  // namespace fovea
