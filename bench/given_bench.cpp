// An alignment from outside beside the built-in softmax, both through the kernel that holds rows:
// forward and backward, 1,024 queries and keys, 8 heads of 64, in turn.
//   given_bench [SECONDS a case]
// A line for each: name, milliseconds (best), median over best, and the time over that of softmax.
#include <algorithm>
#include <cmath>

#include "fovea/app/bench/race.h"
#include "fovea/attention/align/given.h"

namespace {

using namespace fovea;

// Softmax over the k heaviest keys, as docs/library.md has it.
struct TopK {
  size_t k;
  template <class T>
  void forward(std::span<T> row) const {
    std::vector<std::pair<T, size_t>> best;  // heaviest first, with their places
    for (size_t j = 0; j < row.size(); ++j) {
      if (best.size() == k && row[j] <= best.back().first) continue;
      if (best.size() == k) best.pop_back();
      const auto at =
          std::ranges::upper_bound(best, row[j], std::greater<>(), &std::pair<T, size_t>::first);
      best.insert(at, {row[j], j});
    }
    std::ranges::fill(row, T(0));
    T sum = 0;
    for (const auto& [x, j] : best) sum += row[j] = std::exp(x - best[0].first);
    for (const auto& [x, j] : best) row[j] /= sum;
  }
  template <class T>
  void backward(std::span<const T> weights, std::span<T> gradient) const {
    T mean = 0;
    for (size_t i = 0; i < weights.size(); ++i) mean += weights[i] * gradient[i];
    for (size_t i = 0; i < weights.size(); ++i) gradient[i] = weights[i] * (gradient[i] - mean);
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace fovea::kernel;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  constexpr int64_t n = 1024, H = 8, D = 64;
  const auto some = [](uint64_t stream) { return bench::uniform({1, n, H, D}, stream, 2); };
  const Tensor q = some(1), k = some(2), v = some(3), dy = some(4);
  Tensor out(q.shape()), dq(q.shape()), dk(q.shape()), dv(q.shape());
  const auto read = [](const Tensor& t) {
    return HeadView<const float>{t.read().data(), n * H * D, H * D, D};
  };
  const auto write = [](Tensor& t) {
    return HeadView<float>{t.write().data(), n * H * D, H * D, D};
  };
  RowsInputs in;
  in.base.B = 1, in.base.H = in.base.Hk = H, in.base.Tq = in.base.Tk = n;
  in.base.D = in.base.Dv = D, in.base.scale = 0.125f;
  in.base.q = read(q), in.base.k = read(k), in.base.v = read(v);

  const std::vector<Alignment> outside{row_alignment("top 8", TopK{8}),
                                       row_alignment("top 64", TopK{64})};
  std::vector<bench::Timer> timers(1 + outside.size());
  const auto run = [&](size_t which) {
    RowsInputs now = in;
    if (which > 0) {
      now.align = RowAlign::given;
      now.given = outside[which - 1].rows->given;
    }
    attention_rows_forward(now, write(out));
    attention_rows_backward(now, read(dy), {{write(dq), write(dk), write(dv), {}}});
  };
  for (size_t i = 0; i < timers.size(); ++i) run(i);
  for (const double stop = bench::now() + seconds * 3; bench::now() < stop;) {
    for (size_t i = 0; i < timers.size(); ++i) timers[i].run([&] { run(i); });
  }
  for (size_t i = 0; i < timers.size(); ++i) {
    std::printf("%-16s %8.2f ms %6.2f %6.2f x\n", i == 0 ? "softmax" : outside[i - 1].name.c_str(),
                timers[i].best() * 1e3, timers[i].spread(), timers[i].best() / timers[0].best());
  }
}
