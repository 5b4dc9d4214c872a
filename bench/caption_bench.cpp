// Training of the soft captioner: pictures of 64 x 64 in colour, three convolutions of 32, 64 and
// 128 channels with batch norm, 64 regions, LSTM 128, captions of eight words, batches of 32.
//   caption_bench [FOLDER]
// tools/bench_caption_torch.py runs it in turn with PyTorch: FOLDER gets data.safetensors and
// weights.safetensors, which both sides start from; then it serves turns. Without FOLDER: five
// turns of ten steps, and words a second.
#include "fovea/model/sight/captioner.h"
#include "fovea/op/shape.h"
#include "fovea/train/checkpoint.h"
#include "fovea/train/optimizer.h"
#include "turns.h"

namespace fovea::bench {
namespace {

constexpr int64_t words = 25, batch = 32, batches = 8, length = 9, side = 64;
constexpr int32_t begin = 2, end = 3, first_word = 4;

ModelSizes sizes() {
  ModelSizes s;
  s.target_vocabulary = words, s.height = s.width = side, s.channels = 3;
  return s;
}

class Training {
 public:
  explicit Training(const std::string& folder) {
    Random random(1);
    for (float& x : pictures_.write()) x = random.uniform();
    for (int64_t i = 0; i < batches * batch; ++i) {
      for (int64_t t = 0; t < length; ++t) {
        target_.push_back(t == 0 ? begin : wanted_.back());
        wanted_.push_back(
            t + 1 == length ? end
                            : first_word + static_cast<int32_t>(random.below(words - first_word)));
      }
    }
    if (folder.empty()) return;
    const auto ids = [&](const std::vector<int32_t>& list) {
      return Tensor::of({batches, batch, length}, list);
    };
    save_safetensors(
        folder + "/data.safetensors",
        std::vector<NamedTensor>{
            {"pictures", pictures_}, {"target", ids(target_)}, {"wanted", ids(wanted_)}});
    save_parameters(folder + "/weights.safetensors", parameters_);
  }

  Step step() {
    const int64_t at = next_++ % batches, from = at * batch * length;
    std::vector<std::vector<int32_t>> captions;
    for (int64_t b = 0; b < batch; ++b) {
      const auto first = target_.begin() + from + b * length;
      captions.emplace_back(first, first + length);
    }
    const std::vector<int32_t> wanted(wanted_.begin() + from,
                                      wanted_.begin() + from + batch * length);
    ModelInputs in;
    in.pictures = slice(pictures_, 0, at, at + 1).reshaped({batch, side, side, 3});
    Random random(2);
    Tape tape(random);
    const Tensor loss =
        model_.loss(in, sequences_of(captions), Tensor::of({batch * length}, wanted), 0);
    Gradients gradients = tape.backward(loss);
    clip_by_norm(parameters_, gradients, 1);
    optimizer_->step(gradients);
    return {loss.item(), batch * length};
  }

 private:
  Tensor pictures_{{batches, batch, side, side, 3}, Dtype::f32};
  std::vector<int32_t> target_, wanted_;
  int64_t next_ = 0;
  Parameters parameters_{1};
  Captioner model_{Scope(parameters_), sizes(), Looking::soft, {}, {}};
  std::unique_ptr<Optimizer> optimizer_ = make_optimizer(parameters_, {.rate = 1e-3});
};

void measure(Training& training) {
  for (int i = 0; i < 5; ++i) {
    const Turn turn = take(training, 10);
    const auto tokens = static_cast<double>(turn.tokens);
    std::printf("%.0f words/s, %.0f / processor s, loss %.4f, peak %.0f MB\n",
                tokens / turn.seconds, tokens / turn.processor, turn.losses.back(),
                own_peak_megabytes());
  }
}

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "";
  const double before = fovea::bench::own_peak_megabytes();
  fovea::bench::Training training(folder);
  folder.empty() ? fovea::bench::measure(training) : fovea::bench::serve(training, before);
}
