// One Model asked by 1 thread and by 4: answers a second in turn, and whether the bits are the
// same.
//   serve_bench [SECONDS]
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "fovea/app/bench/race.h"
#include "fovea/task/model.h"

namespace {

// Answers a second of `threads` that ask for that long; counts the answers that are not as they
// should be.
double rate(const fovea::Model& model, const std::string& line, double score, int threads,
            double seconds, std::atomic<int64_t>& wrong) {
  std::atomic<int64_t> answers = 0;
  const double start = fovea::bench::now(), end = start + seconds;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&] {
      while (fovea::bench::now() < end) {
        wrong += model.predict(line).best().score != score;
        ++answers;
      }
    });
  }
  for (std::thread& t : all) t.join();
  return static_cast<double>(answers) / (fovea::bench::now() - start);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  const std::string folder = std::filesystem::temp_directory_path() / "fovea_serve_bench";
  std::filesystem::remove_all(folder);
  const fovea::Model model = fovea::Model::train(
      "classify", {{"data", "builtin:sentiment"}, {"steps", "5"}, {"width", "128"}}, folder);
  std::filesystem::remove_all(folder);
  const std::string line = "the film was not good at all , and the food was worse";
  const double score = model.predict(line).best().score;
  std::atomic<int64_t> wrong = 0;
  double best[2] = {0, 0};
  for (double stop = fovea::bench::now() + seconds; fovea::bench::now() < stop;) {
    best[0] = std::max(best[0], rate(model, line, score, 1, 0.2, wrong));
    best[1] = std::max(best[1], rate(model, line, score, 4, 0.2, wrong));
  }
  std::printf("1 thread %.0f a second, 4 threads %.0f: %.2f x; %lld answers of other bits\n",
              best[0], best[1], best[1] / best[0], static_cast<long long>(wrong.load()));
  return wrong > 0;
}
