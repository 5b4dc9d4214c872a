// Opening a trained folder beside reading its weights' bytes into memory, in turn.
//   open_bench FOLDER [ROUNDS]
// Prints megabytes of weights, the most memory that the first opening took the process to, and
// milliseconds of both, best by the clock and of processor time, with their ratios.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>

#include "fovea/base/file.h"
#include "fovea/task/model.h"
#include "fovea/tensor/pool.h"
#include "turns.h"

namespace {

using fovea::bench::now;

struct Best {
  double clock = 1e9, processor = 1e9;
  template <class F>
  void run(const F& f) {
    const double start = now();
    const std::clock_t busy = std::clock();
    f();
    clock = std::min(clock, now() - start);
    processor = std::min(processor, static_cast<double>(std::clock() - busy) / CLOCKS_PER_SEC);
  }
};

void read_all(const std::string& path, size_t bytes) {
  const auto memory = std::make_unique_for_overwrite<char[]>(bytes);
  const fovea::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  size_t got = 0;
  while (got < bytes) {
    const ssize_t n = read(file.get(), memory.get() + got, bytes - got);
    fovea::check<fovea::ErrorKind::io>(n > 0, path, ": cannot be read");
    got += static_cast<size_t>(n);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("open_bench: needs the folder of a trained model\n", stderr);
    return 2;
  }
  const std::string folder = argv[1], weights = folder + "/model.safetensors";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  try {
    const size_t bytes = std::filesystem::file_size(weights);
    const int64_t parameters = fovea::Model::open(folder).parameters();
    const double megabytes = static_cast<double>(bytes) / 1048576;
    std::printf("%.1f million parameters, %.1f MB; peak %.1f MB\n",
                static_cast<double>(parameters) / 1e6, megabytes,
                fovea::bench::own_peak_megabytes());
    Best reads, opens;
    for (int round = 0; round < rounds; ++round) {
      reads.run([&] { read_all(weights, bytes); });
      opens.run([&] { fovea::Model::open(folder); });
      fovea::pool::trim();  // or the next one would find memory that the system has given already
    }
    std::printf("clock: reading %.1f ms, opening %.1f ms, %.2f x\n", reads.clock * 1e3,
                opens.clock * 1e3, opens.clock / reads.clock);
    std::printf("processor: reading %.1f ms, opening %.1f ms, %.2f x\n", reads.processor * 1e3,
                opens.processor * 1e3, opens.processor / reads.processor);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "open_bench: %s\n", error.what());
    return 1;
  }
}
