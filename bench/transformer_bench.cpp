// Training of a Transformer that says the next token (pre-norm, GELU, learned positions, embedding
// tied to the output, 256 tokens, Adam): a whole step as a ratio to dnnl_sgemm, and in turn with
// PyTorch.
//   transformer_bench [seconds per case] [only names containing this]
//   transformer_bench serve LAYERS WIDTH LENGTH BATCH DROPOUT FOLDER
// Counted are 6 x the weights of matrices x tokens (the tied output layer is one, the embedding and
// positions are not), and attention's own products where the pattern allows them: 3.5 x forward.
// tools/bench_transformer_torch.py asks for turns: FOLDER gets data.safetensors and
// weights.safetensors, which both sides start from.
#include "fovea/model/transformer/language_model.h"
#include "fovea/op/tape.h"
#include "fovea/train/checkpoint.h"
#include "fovea/train/optimizer.h"
#include "turns.h"

namespace fovea::bench {
namespace {

constexpr int64_t tokens = 256, batches = 20;

struct Sizes {
  int64_t layers, width, length, batch;
  double dropout = 0.1;

  TransformerOptions options() const {
    return {.layers = layers,
            .width = width,
            .heads = width / 64,
            .dropout = dropout,
            .attention_dropout = dropout,
            .position = "learned",
            .longest = length,
            .scale_embedding = false};
  }
  double flops() const {
    const auto rows = static_cast<double>(batch * length), C = static_cast<double>(width);
    const double weights = static_cast<double>(layers) * 12 * C * C + tokens * C;
    const double pairs = static_cast<double>(batch * layers * length * (length + 1)) / 2;
    return 6 * weights * rows + 3.5 * 4 * pairs * C;
  }
};

// Windows of length + 1 from a text in which each token leans on the one before.
Tensor make_data(const Sizes& s) {
  Tensor data({batches * s.batch, s.length + 1}, Dtype::i32);
  Random random(5);
  int32_t last = 0;
  for (int32_t& id : data.write<int32_t>()) {
    const bool follows = random.uniform() < 0.7F;
    id = last = static_cast<int32_t>(follows ? (last * 7 + 3) % tokens : random.below(tokens));
  }
  return data;
}

class Training {
 public:
  explicit Training(const Sizes& s, const std::string& folder = "")
      : sizes_(s),
        data_(make_data(s)),
        model_(parameters_, {.vocabulary = tokens}, s.options()),
        optimizer_(make_optimizer(parameters_, {.rate = 1e-3})) {
    if (folder.empty()) return;
    save_safetensors(folder + "/data.safetensors", std::vector<NamedTensor>{{"ids", data_}});
    save_parameters(folder + "/weights.safetensors", parameters_);
  }

  Step step() {
    const int64_t T = sizes_.length, from = next_++ % batches * sizes_.batch;
    const auto all = data_.read<int32_t>();
    std::vector<std::vector<int32_t>> given;
    std::vector<int32_t> wanted;
    for (int64_t i = from; i < from + sizes_.batch; ++i) {
      const int32_t* row = all.data() + i * (T + 1);
      given.emplace_back(row, row + T);
      wanted.insert(wanted.end(), row + 1, row + T + 1);
    }
    const auto n = static_cast<int64_t>(wanted.size());
    Tape tape(random_);
    const Tensor scores = model_.scores(sequences_of(given));
    const Tensor loss = classification_loss(scores, Tensor::of({n}, wanted), 0, {});
    Gradients gradients = tape.backward(loss);
    clip_by_norm(parameters_, gradients, 1);
    optimizer_->step(gradients);
    return {loss.item(), n};
  }

 private:
  Sizes sizes_;
  Tensor data_;
  int64_t next_ = 0;
  Random random_{7};
  Parameters parameters_{1};
  TransformerLanguageModel model_;
  std::unique_ptr<Optimizer> optimizer_;
};

void measure(Race& race, const Sizes& s) {
  const std::string name = say("step of ", s.layers, " x ", s.width, ", n ", s.length, ", batch ",
                               s.batch, s.dropout > 0 ? "" : ", no dropout");
  if (!race.wants(name)) return;
  Training training(s);
  race.against_gemm(name, s.flops(), [&] { training.step(); });
}

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) {
  using namespace fovea::bench;
  if (argc == 8 && std::string(argv[1]) == "serve") {
    const double before = own_peak_megabytes();
    Training training({std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4]),
                       std::atoll(argv[5]), std::atof(argv[6])},
                      argv[7]);
    serve(training, before);
    return 0;
  }
  Race race(argc, argv);
  for (double dropout : {0.1, 0.0}) {
    measure(race, {6, 512, 128, 8, dropout});
    measure(race, {4, 256, 128, 16, dropout});
    measure(race, {2, 128, 64, 32, dropout});
  }
}
