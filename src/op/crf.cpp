#include "fovea/op/crf.h"

#include "fovea/base/parallel.h"
#include "fovea/kernel/crf.h"

namespace fovea {
namespace {

template <class T>
kernel::CrfTransitions transitions_of(const Tensor& t) {
  return kernel::CrfTransitions(t.read<T>().data(), t.dim(1));
}

void check_shapes(const Tensor& scores, const Tensor& transitions, const Tensor& offsets) {
  check(scores.rank() == 2 && transitions.shape() == Shape({scores.dim(1) + 1, scores.dim(1)}),
        "crf: needs scores [rows, L] and transitions [L + 1, L], got ", scores.shape(), " and ",
        transitions.shape());
  check(offsets.read<int32_t>().back() == scores.dim(0), "crf: the offsets end at ",
        offsets.read<int32_t>().back(), ", there are ", scores.dim(0), " rows");
}

}  // namespace

Tensor crf_loss_each(const Tensor& scores, const Tensor& transitions, const Tensor& offsets,
                     const Tensor& targets) {
  check_shapes(scores, transitions, offsets);
  check(targets.elements() == scores.dim(0), "crf: ", scores.dim(0), " rows, but ",
        targets.elements(), " targets");
  const int64_t B = offsets.dim(0) - 1, L = scores.dim(1);
  Tensor losses({B}, scores.dtype());
  const auto at = offsets.read<int32_t>();
  const auto wanted = targets.read<int32_t>();
  for (int32_t label : wanted) {
    check(label >= 0 && label < L, "crf: there is no label ", label, " of ", L);
  }
  with_real(scores.dtype(), [&]<class T>(T) {
    const auto moves = transitions_of<T>(transitions);
    const T* from = scores.read<T>().data();
    T* to = losses.write<T>().data();
    parallel_for(B, 4, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        if (at[b] == at[b + 1]) {
          to[b] = 0;
          continue;
        }
        double sum = 0;
        for (int32_t t = at[b]; t < at[b + 1]; ++t) {
          sum += static_cast<double>(from[t * L + wanted[t]]) +
                 moves.raw(t == at[b] ? L : wanted[t - 1], wanted[t]);
        }
        to[b] = static_cast<T>(
            kernel::crf_marginals(from + at[b] * L, moves, at[b + 1] - at[b], nullptr, nullptr) -
            sum);
      }
    });
  });
  return record(
      "crf", {scores, transitions}, losses,
      [scores, transitions, offsets, targets](const Tensor& dy, InputGradients& dx) {
        const int64_t B = offsets.dim(0) - 1, L = scores.dim(1);
        const auto at = offsets.read<int32_t>();
        const auto wanted = targets.read<int32_t>();
        Tensor d_scores = Tensor::zeros(scores.shape(), scores.dtype());
        Tensor d_moves = Tensor::zeros(transitions.shape(), scores.dtype());
        with_real(scores.dtype(), [&]<class T>(T) {
          const auto moves = transitions_of<T>(transitions);
          const T* from = scores.read<T>().data();
          T* to = d_scores.write<T>().data();
          // Sums of chunks, added up in their order: the same bits on any number of threads.
          constexpr int64_t grain = 4;
          std::vector<std::vector<double>> sums(static_cast<size_t>((B + grain - 1) / grain));
          parallel_for(B, grain, [&](int64_t begin, int64_t end) {
            auto& sum = sums[static_cast<size_t>(begin / grain)];
            sum.assign(static_cast<size_t>((L + 1) * L), 0);
            std::vector<double> marginals, pairs(sum.size());
            for (int64_t b = begin; b < end; ++b) {
              const int64_t steps = at[b + 1] - at[b];
              if (steps == 0) continue;
              const auto weight = static_cast<double>(dy.read<T>()[b]);
              marginals.assign(static_cast<size_t>(steps * L), 0);
              std::ranges::fill(pairs, 0);
              kernel::crf_marginals(from + at[b] * L, moves, steps, marginals.data(), pairs.data());
              for (int64_t t = 0; t < steps; ++t) {
                const int32_t label = wanted[at[b] + t];
                marginals[t * L + label] -= 1;
                pairs[(t == 0 ? L : wanted[at[b] + t - 1]) * L + label] -= 1;
              }
              for (int64_t i = 0; i < steps * L; ++i) {
                to[at[b] * L + i] = static_cast<T>(weight * marginals[i]);
              }
              for (size_t i = 0; i < sum.size(); ++i) sum[i] += weight * pairs[i];
            }
          });
          std::vector<double> all(static_cast<size_t>((L + 1) * L), 0);
          for (const auto& sum : sums) {
            for (size_t i = 0; i < sum.size(); ++i) all[i] += sum[i];
          }
          std::ranges::transform(all, d_moves.write<T>().begin(),
                                 [](double x) { return static_cast<T>(x); });
        });
        dx.add(0, d_scores);
        dx.add(1, d_moves);
      });
}

CrfAnswer crf_answer(const Tensor& scores, const Tensor& transitions, const Tensor& offsets) {
  check_shapes(scores, transitions, offsets);
  const int64_t B = offsets.dim(0) - 1, L = scores.dim(1);
  CrfAnswer answer{Tensor({scores.dim(0)}, Dtype::i32), Tensor(scores.shape(), scores.dtype())};
  const auto at = offsets.read<int32_t>();
  int32_t* labels = answer.labels.write<int32_t>().data();
  with_real(scores.dtype(), [&]<class T>(T) {
    const auto moves = transitions_of<T>(transitions);
    const T* from = scores.read<T>().data();
    T* to = answer.likely.write<T>().data();
    parallel_for(B, 4, [&](int64_t begin, int64_t end) {
      std::vector<double> marginals;
      for (int64_t b = begin; b < end; ++b) {
        const int64_t steps = at[b + 1] - at[b];
        if (steps == 0) continue;
        marginals.assign(static_cast<size_t>(steps * L), 0);
        kernel::crf_marginals(from + at[b] * L, moves, steps, marginals.data(), nullptr);
        kernel::crf_best_path(from + at[b] * L, moves, steps, labels + at[b]);
        for (int64_t i = 0; i < steps * L; ++i) {
          to[at[b] * L + i] = static_cast<T>(std::log(std::max(marginals[i], 1e-30)));
        }
      }
    });
  });
  return answer;
}

}  // namespace fovea
