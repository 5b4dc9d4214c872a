// Training steps of attention over several inputs, in turn with tools/bench_pairs_torch.py:
//   pairs_bench parallel|document
// parallel: parallel co-attention of 32 pairs of 60 words each, 128 features; document: 16
// documents of 20 sentences of 25 words under hierarchical attention, GRUs of 64 in both
// directions.
#include "fovea/attention/feature/parallel.h"
#include "fovea/model/document/hierarchical_classifier.h"
#include "fovea/op/reduce.h"
#include "fovea/train/optimizer.h"
#include "turns.h"

namespace fovea::bench {
namespace {

class ParallelTraining {
 public:
  static constexpr int64_t B = 32, T = 60, D = 128;

  ParallelTraining()
      : layer_(Scope(parameters_), D, D), output_(Scope(parameters_) / "output", 2 * D, 2) {
    optimizer_ = make_optimizer(parameters_, {.kind = "adam", .rate = 1e-3});
    Random random(1);
    const Init normal = init::normal(1);
    for (Features& f : in_) {
      Parameters drawn(random.below(1000));
      f.rows = Scope(drawn).param("x", {B, T, D}, normal).value();
      f.lengths = Tensor::full({B}, T).to(Dtype::i32);
    }
  }

  Step step() {
    Random random = Random(1).fork(static_cast<uint64_t>(steps_++));
    Tape tape(random);
    std::vector<int32_t> labels;
    for (int64_t b = 0; b < B; ++b) labels.push_back(static_cast<int32_t>(random.below(2)));
    // Gradients reach the rows too, as they would an encoder.
    const Parameter x_1 = parameter(in_[0].rows), x_2 = parameter(in_[1].rows);
    const FeatureOutput out = layer_({x_1, in_[0].lengths}, {x_2, in_[1].lengths});
    const Tensor loss = classification_loss(output_(out.joined()), Tensor::of({B}, labels), 0);
    optimizer_->step(tape.backward(loss));
    return {loss.item(), 2 * B * T};
  }

 private:
  Parameters parameters_{1};
  ParallelCoAttention layer_;
  Linear output_;
  std::unique_ptr<Optimizer> optimizer_;
  Features in_[2];
  int64_t steps_ = 0;
};

class DocumentTraining {
 public:
  static constexpr int64_t B = 16, S = 20, T = 25, words = 20'000;

  DocumentTraining()
      : model_(Scope(parameters_), {.vocabulary = words, .labels = 2}, options(), attention()) {
    optimizer_ = make_optimizer(parameters_, {.kind = "adam", .rate = 1e-3});
  }

  Step step() {
    Random random = Random(1).fork(static_cast<uint64_t>(steps_++));
    std::vector<std::vector<std::vector<int32_t>>> documents;
    std::vector<int32_t> labels;
    for (int64_t b = 0; b < B; ++b) {
      labels.push_back(static_cast<int32_t>(random.below(2)));
      documents.emplace_back(S, std::vector<int32_t>(T));
      for (auto& sentence : documents.back()) {
        for (int32_t& word : sentence) word = static_cast<int32_t>(random.below(words));
      }
    }
    ModelInputs in;
    in.document = nested_sequences_of(documents);
    Tape tape(random);
    const Tensor loss = model_.loss(in, Tensor::of({B}, labels), 0);
    optimizer_->step(tape.backward(loss));
    return {loss.item(), B * S * T};
  }

 private:
  static TextEncoderOptions options() {
    TextEncoderOptions o;
    o.embed = 100, o.width = 64;
    return o;
  }
  static AttentionOptions attention() {
    AttentionOptions o;
    o.score = "self_attentive";
    o.score_width = 128;
    return o;
  }

  Parameters parameters_{1};
  HierarchicalClassifier model_;
  std::unique_ptr<Optimizer> optimizer_;
  int64_t steps_ = 0;
};

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) {
  using namespace fovea::bench;
  const std::string what = argc > 1 ? argv[1] : "";
  const double before = own_peak_megabytes();
  if (what == "parallel") {
    ParallelTraining training;
    serve(training, before);
  } else if (what == "document") {
    DocumentTraining training;
    serve(training, before);
  } else {
    return std::fprintf(stderr, "pairs_bench parallel|document\n"), 2;
  }
  return 0;
}
