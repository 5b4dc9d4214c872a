// Training steps of memories, in turn with tools/bench_machines_torch.py:
//   machines_bench ntm|stack|memn2n BATCH
// ntm: copy of 20 vectors of 8 bits, memory 128 x 20, LSTM of 100; stack: reversal of 32 of 32
// symbols, LSTM of 64, values of 64; memn2n: 20 sentences of 7 words, 3 hops of 50 features.
#include <cstdlib>

#include "fovea/data/algorithms.h"
#include "fovea/model/machine/stack_machine.h"
#include "fovea/model/machine/turing_machine.h"
#include "fovea/model/memory/end_to_end.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/train/optimizer.h"
#include "turns.h"

namespace fovea::bench {
namespace {

// Any of them: a model, and a batch that is drawn anew at each step.
class Training {
 public:
  Training(const std::string& what, int64_t B) : what_(what), B_(B) {
    const Scope s = parameters_;
    AttentionOptions attention;
    if (what == "ntm") {
      attention.score = turing_score;
      model_ = std::make_unique<TuringMachine>(s, ModelSizes{.inputs = 9, .outputs = 8},
                                               TuringOptions(), attention);
    } else if (what == "stack") {
      StackMachineOptions o;
      o.width = 64;
      model_ = std::make_unique<StackMachine>(s, ModelSizes{.inputs = 33, .outputs = 33},
                                              StackKind::stack, o);
    } else {
      check(what == "memn2n", "machines_bench: knows ntm, stack and memn2n, not ", what);
      attention.score = "dot";
      model_ = std::make_unique<EndToEndMemory>(
          s, ModelSizes{.vocabulary = words, .longest = 50, .longest_sentence = 7},
          EndToEndOptions(), attention);
    }
    optimizer_ = make_optimizer(parameters_, {.kind = "rmsprop", .rate = 1e-4});
  }

  Step step() {
    Random random = Random(1).fork(static_cast<uint64_t>(steps_++));
    Tape tape(random);
    const auto [loss, rows] = what_ == "memn2n" ? story(random) : sequence(random);
    optimizer_->step(tape.backward(loss));
    return {loss.item(), rows};
  }

 private:
  static constexpr int64_t words = 180, sentences = 20, sentence = 7;

  std::pair<Tensor, int64_t> sequence(Random& random) const {
    const Algorithm& of = find_algorithm(what_ == "ntm" ? "copy" : "reverse");
    const int64_t length = what_ == "ntm" ? 20 : 32;
    std::vector<std::string> lines;
    for (int64_t b = 0; b < B_; ++b)
      lines.push_back(of.draw({}, length, random, random.fork(static_cast<uint64_t>(b))));
    const StepBatch b = batch_of(of, {}, lines);
    ModelInputs in;
    in.steps = b.steps;
    in.rows = b.asked;
    const int64_t rows = b.steps.dim(0) * B_;
    if (!of.in_bits) return {model_->loss(in, b.symbols, 0), rows};
    const Tensor scores = (*model_)(in).scores;
    return {mean(softplus(scores) - scores * b.bits), rows};
  }
  std::pair<Tensor, int64_t> story(Random& random) const {
    const auto draw = [&](int64_t n) {
      std::vector<int32_t> ids;
      for (int64_t i = 0; i < n; ++i) ids.push_back(static_cast<int32_t>(random.below(words)));
      return ids;
    };
    std::vector<std::vector<std::vector<int32_t>>> stories;
    std::vector<std::vector<int32_t>> questions;
    for (int64_t b = 0; b < B_; ++b) {
      stories.emplace_back();
      for (int64_t i = 0; i < sentences; ++i) stories.back().push_back(draw(sentence));
      questions.push_back(draw(4));
    }
    ModelInputs in;
    in.story = nested_sequences_of(stories);
    in.question = sequences_of(questions);
    std::vector<int32_t> candidates;
    for (int32_t i = 0; i < words; ++i) candidates.push_back(i);
    in.candidates = Tensor::of({words}, candidates);
    in.epoch = 0;
    return {model_->loss(in, Tensor::of({B_}, draw(B_)), 0), B_};
  }

  std::string what_;
  int64_t B_, steps_ = 0;
  Parameters parameters_{1};
  std::unique_ptr<const Scorer> model_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) {
  using namespace fovea::bench;
  if (argc < 3) return std::fprintf(stderr, "machines_bench ntm|stack|memn2n BATCH\n"), 2;
  const double before = own_peak_megabytes();
  Training training(argv[1], std::atoll(argv[2]));
  serve(training, before);
  return 0;
}
