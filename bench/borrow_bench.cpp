// What the library costs on top of its kernels: attention on memory that is borrowed and given, in
// turn with the kernel on the same pointers, and with arrays that are copied in and out.
//   borrow_bench [SECONDS a case]
// A line for each case: name, microseconds of the kernel, of attend() on borrowed memory, of
// attend() on copies, and the last two over the first (best of many).
#include <cmath>
#include <cstdlib>

#include "fovea/app/bench/race.h"
#include "fovea/attention/engine.h"
#include "fovea/kernel/attention.h"

namespace fovea::bench {
namespace {

struct Case {
  const char* name;
  int64_t Tq, Tk, H, D;
};

void measure(const Case& c, double seconds) {
  const auto numbers = [](int64_t n, uint64_t seed) {
    const Tensor x = uniform({n}, seed);
    return std::vector<float>(x.read().begin(), x.read().end());
  };
  const std::vector<float> q = numbers(c.Tq * c.H * c.D, 1), k = numbers(c.Tk * c.H * c.D, 2),
                           v = numbers(c.Tk * c.H * c.D, 3);
  std::vector<float> context(q.size()), lse(static_cast<size_t>(c.H * c.Tq));
  const Shape queries{1, c.Tq, c.H, c.D}, keys{1, c.Tk, c.H, c.D};

  kernel::HeadInputs<float> in;
  in.H = in.Hk = c.H, in.Tq = c.Tq, in.Tk = c.Tk, in.D = in.Dv = c.D;
  in.scale = 1 / std::sqrt(static_cast<float>(c.D));
  in.q = {q.data(), c.Tq * c.H * c.D, c.H * c.D, c.D};
  in.k = {k.data(), c.Tk * c.H * c.D, c.H * c.D, c.D};
  in.v = {v.data(), c.Tk * c.H * c.D, c.H * c.D, c.D};
  const kernel::HeadView<float> out{context.data(), c.Tq * c.H * c.D, c.H * c.D, c.D};

  const auto by_kernel = [&] { kernel::attention_forward(in, out, lse.data()); };
  const auto borrowed = [&] {
    AttentionInputs call;
    call.q = Tensor::borrow(queries, q), call.k = Tensor::borrow(keys, k);
    call.v = Tensor::borrow(keys, v);
    call.into.memory = context;
    attend(call);
  };
  const auto copied = [&] {
    AttentionInputs call;
    call.q = Tensor::of(queries, q), call.k = Tensor::of(keys, k), call.v = Tensor::of(keys, v);
    const Tensor y = attend(call).context;
    std::ranges::copy(y.read(), context.begin());
  };
  double best[3] = {1e9, 1e9, 1e9};
  const double end = now() + seconds;
  const auto time = [](const auto& f) {
    const double start = now();
    f();
    return now() - start;
  };
  while (now() < end) {
    for (int i = 0; i < 20; ++i) {
      best[0] = std::min(best[0], time(by_kernel));
      best[1] = std::min(best[1], time(borrowed));
      best[2] = std::min(best[2], time(copied));
    }
  }
  std::printf("%-34s %8.1f %8.1f %8.1f us   borrowed %.2f x, copied %.2f x\n", c.name,
              best[0] * 1e6, best[1] * 1e6, best[2] * 1e6, best[1] / best[0], best[2] / best[0]);
}

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) {
  using namespace fovea::bench;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  for (const Case& c : {Case{"1 query, 1,024 keys, 1 head x 64", 1, 1024, 1, 64},
                        Case{"1 query, 1,024 keys, 8 heads x 64", 1, 1024, 8, 64},
                        Case{"128 queries and keys, 8 heads x 64", 128, 128, 8, 64}}) {
    measure(c, seconds);
  }
}
