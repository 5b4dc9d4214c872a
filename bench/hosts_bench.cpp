// One model, asked by several threads of a host program at once: answers a second of four threads
// over those of one, in turn in one run, with one and with all threads of ours; and whether all
// answers have the same bits.
#include <atomic>
#include <cstring>
#include <thread>

#include "fovea/app/bench/race.h"
#include "fovea/core.h"

namespace {

using namespace fovea;

// Two blocks of attention and a feed-forward layer, as a classifier of short texts has them.
struct Model {
  explicit Model(int64_t width) : width(width) {
    for (const char* name : {"a", "b"}) {
      Scope scope = Scope(parameters) / name;
      blocks.push_back({Linear(scope / "q", width, width), Linear(scope / "k", width, width),
                        Linear(scope / "v", width, width), Linear(scope / "up", width, 4 * width),
                        Linear(scope / "down", 4 * width, width)});
    }
  }

  Tensor operator()(Tensor x) const {
    const int64_t T = x.dim(1), H = width / 32;
    for (const Block& b : blocks) {
      auto heads = [&](const Linear& l) { return reshape(l(x), {1, T, H, 32}); };
      x = x + reshape(attend({.q = heads(b.q), .k = heads(b.k), .v = heads(b.v)}).context,
                      {1, T, width});
      x = x + b.down(tanh(b.up(x)));
    }
    return x;
  }

  struct Block {
    Linear q, k, v, up, down;
  };
  int64_t width;
  Parameters parameters{1};
  std::vector<Block> blocks;
};

// Answers a second of so many threads together.
double rate(const Model& model, const Tensor& x, const Tensor& want, int hosts, double seconds) {
  std::atomic<int64_t> answers{0}, wrong{0};
  const double start = bench::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < hosts; ++i) {
    threads.emplace_back([&] {
      while (bench::now() < start + seconds) {
        const Tensor y = model(x);
        wrong += std::memcmp(y.bytes().data(), want.bytes().data(), y.bytes().size()) != 0;
        ++answers;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (wrong != 0) std::printf("OTHER BITS in %ld answers\n", static_cast<long>(wrong));
  return static_cast<double>(answers) / (bench::now() - start);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
  const int most = threads();
  std::printf("%-34s %10s %10s %6s\n", "", "1 host/s", "4 hosts/s", "ratio");
  for (const auto& [T, width] : {std::pair<int64_t, int64_t>{16, 64}, {64, 128}, {256, 256}}) {
    const Model model(width);
    const Tensor x = bench::uniform({1, T, width}, 1), want = model(x);
    for (int ours : {1, most}) {
      set_threads(ours);
      double one = 0, four = 0;
      for (int round = 0; round < 7; ++round) {
        one = std::max(one, rate(model, x, want, 1, seconds));
        four = std::max(four, rate(model, x, want, 4, seconds));
      }
      const std::string name = say(T, " tokens, width ", width, ", FOVEA_THREADS=", ours);
      std::printf("%-34s %10.0f %10.0f %6.2f\n", name.c_str(), one, four, four / one);
      std::fflush(stdout);
    }
  }
}
