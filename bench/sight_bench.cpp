// Training steps of models of pictures, in turn with tools/bench_sight_torch.py:
//   sight_bench conv|glimpses BATCH
// conv: 28 x 28, two stages of 32 and 64 channels with batch norm; glimpses: 28 x 28, 6 of 8 x 8,
// width 256, REINFORCE. Both with Adam.
#include <cstdlib>

#include "fovea/model/sight/conv_net.h"
#include "fovea/model/sight/glimpses.h"
#include "fovea/train/optimizer.h"
#include "turns.h"

namespace fovea::bench {
namespace {

class Training {
 public:
  Training(const std::string& what, int64_t B) {
    const ModelSizes sizes{.labels = 10, .height = 28, .width = 28, .channels = 1};
    if (what == "conv") {
      model_ = std::make_unique<ConvClassifier>(Scope(parameters_), sizes, ConvOptions());
    } else {
      check(what == "glimpses", "sight_bench: knows conv and glimpses, not ", what);
      model_ = std::make_unique<GlimpseClassifier>(Scope(parameters_), sizes, GlimpseModelOptions(),
                                                   false);
    }
    optimizer_ = make_optimizer(parameters_, {.kind = "adam", .rate = 1e-3});
    in_.pictures = Tensor({B, 28, 28, 1});
    std::vector<int32_t> labels;
    Random random(1);
    for (float& pixel : in_.pictures.write()) pixel = random.uniform();
    for (int64_t b = 0; b < B; ++b) labels.push_back(static_cast<int32_t>(random.below(10)));
    targets_ = Tensor::of({B}, labels);
  }

  Step step() {
    Random random = Random(1).fork(static_cast<uint64_t>(steps_++));
    Tape tape(random);
    const Tensor loss = model_->loss(in_, targets_, 0);
    optimizer_->step(tape.backward(loss));
    return {loss.item(), targets_.dim(0)};
  }

 private:
  int64_t steps_ = 0;
  Parameters parameters_{1};
  std::unique_ptr<const Scorer> model_;
  std::unique_ptr<Optimizer> optimizer_;
  ModelInputs in_;
  Tensor targets_;
};

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) {
  using namespace fovea::bench;
  if (argc < 3) return std::fprintf(stderr, "sight_bench conv|glimpses BATCH\n"), 2;
  const double before = own_peak_megabytes();
  Training training(argv[1], std::atoll(argv[2]));
  serve(training, before);
  return 0;
}
