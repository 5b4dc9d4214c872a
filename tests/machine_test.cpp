// Machines with memories, step by step, and the problems they are tried on.
#include <gtest/gtest.h>

#include <set>

#include "fovea/attention/recorder.h"
#include "fovea/data/algorithms.h"
#include "fovea/memory/fuzzy_numbers.h"
#include "fovea/model/machine/random_access.h"
#include "fovea/model/machine/stack_machine.h"
#include "fovea/model/machine/stack_rnn.h"
#include "fovea/model/machine/step_baselines.h"
#include "fovea/model/machine/turing_machine.h"
#include "fovea/model/table.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"
#include "support/layer.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

constexpr int64_t T = 5, B = 2, in_width = 3, out_width = 2;
const ModelSizes sizes{.longest = 20, .inputs = in_width, .outputs = out_width};

ModelInputs steps(Dtype dtype = Dtype::f64) {
  ModelInputs in;
  in.steps = random_tensor({T, B, in_width}, 1).to(dtype);
  in.rows = Tensor::ids({4}, {4, 5, 8, 9});
  return in;
}

AttentionOptions by(const std::string& score, const std::string& align = "softmax") {
  AttentionOptions o;
  o.score = score;
  o.align = align;
  return o;
}
TuringOptions small_turing(const std::string& controller) {
  TuringOptions o;
  o.controller = controller;
  o.width = 4;
  o.slots = 6;
  o.slot_width = 3;
  o.read_heads = 2;
  o.write_heads = 2;
  return o;
}

using Maker = std::function<std::unique_ptr<const Scorer>(Scope)>;
std::vector<std::pair<std::string, Maker>> machines() {
  std::vector<std::pair<std::string, Maker>> all;
  const auto add = [&](const std::string& name, Maker make) { all.emplace_back(name, make); };
  for (const char* controller : {"lstm", "gru", "feedforward"}) {
    add(std::string("ntm ") + controller, [=](Scope s) {
      return std::make_unique<TuringMachine>(s, sizes, small_turing(controller), by("cosine"));
    });
  }
  add("ntm learned memory", [=](Scope s) {
    TuringOptions o = small_turing("feedforward");
    o.first_memory = "learned";
    o.strength = 3;
    return std::make_unique<TuringMachine>(s, sizes, o, by("cosine"));
  });
  for (const AttentionOptions& named : {by("dot", "softmax"), by("cosine", "sigmoid")}) {
    add("ntm " + named.score + " " + named.align, [=](Scope s) {
      return std::make_unique<TuringMachine>(s, sizes, small_turing("feedforward"), named);
    });
  }
  for (const StackKind kind : {StackKind::stack, StackKind::queue, StackKind::deque}) {
    add("stack", [=](Scope s) {
      StackMachineOptions o;
      o.width = 4;
      o.slot_width = 3;
      return std::make_unique<StackMachine>(s, sizes, kind, o);
    });
  }
  for (const bool recurrent : {false, true}) {
    add("stack rnn", [=](Scope s) {
      return std::make_unique<StackRnn>(
          s, sizes, StackRnnOptions{.width = 4, .stacks = 2, .depth = 3, .recurrent = recurrent});
    });
  }
  add("rnn", [](Scope s) {
    return std::make_unique<StepRecurrent>(s, sizes, StepRecurrentOptions{.width = 4});
  });
  add("transformer", [](Scope s) {
    TransformerOptions o;
    o.layers = 1, o.width = 4, o.heads = 2, o.dropout = o.attention_dropout = 0;
    return std::make_unique<StepTransformer>(s, sizes, o);
  });
  return all;
}

TEST(Machine, Gradients) {
  for (const auto& [name, make] : machines()) {
    SCOPED_TRACE(name);
    Parameters table(3, Dtype::f64);
    const auto model = make(table);
    const Function f = [&](const std::vector<Tensor>&) { return (*model)(steps()).scores; };
    EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 1e-5);
  }
}

TEST(Machine, ASequenceDoesNotDependOnItsNeighbour) {
  for (const auto& [name, make] : machines()) {
    SCOPED_TRACE(name);
    Parameters table(4);
    const auto model = make(table);
    ModelInputs both = steps(Dtype::f32), alone = both;
    alone.steps = slice(both.steps, 1, 1, 2);
    alone.rows = Tensor::ids({2}, {2, 4});
    const Tensor together = (*model)(both).scores, one = (*model)(alone).scores;
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t c = 0; c < out_width; ++c) {
        EXPECT_NEAR(one.read()[i * out_width + c], together.read()[(2 * i + 1) * out_width + c],
                    1e-5);
      }
    }
  }
}

// What is asked at a step does not depend on later ones: steps one at a time are the whole.
TEST(Machine, StepsAreThoseOfTheWhole) {
  for (const auto& [name, make] : machines()) {
    SCOPED_TRACE(name);
    Parameters table(5);
    const auto model = make(table);
    ModelInputs whole = steps(Dtype::f32);
    whole.rows = {};
    const Tensor all = (*model)(whole).scores;
    for (int64_t t = 1; t <= T; ++t) {
      ModelInputs part = whole;
      part.steps = slice(whole.steps, 0, 0, t);
      const Tensor now = (*model)(part).scores;
      for (int64_t i = (t - 1) * B * out_width; i < t * B * out_width; ++i)
        ASSERT_NEAR(now.read()[i], all.read()[i], 1e-5);
    }
  }
}

TEST(Machine, RefusesAlignmentsThatLearnFromAReward) {
  Parameters table(1);
  EXPECT_THROW(TuringMachine(table, sizes, small_turing("lstm"), by("cosine", "hard_reinforce")),
               Error);
}

TEST(Machine, ARecorderSeesHeadsAndContents) {
  Parameters table(6);
  const TuringMachine model(table, sizes, small_turing("lstm"), by("cosine"));
  Recorder recorder;
  model(steps(Dtype::f32));
  for (const char* name : {"write", "read", "contents", "read#5"})
    EXPECT_EQ(recorder[name].rows.dim(3), 6) << name;
  const auto rows = recorder["read"].rows.read();
  for (int64_t head = 0; head < 2 * B; ++head) {
    float sum = 0;
    for (int64_t i = 0; i < 6; ++i) sum += rows[head * 6 + i];
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

// The slots are the same for all sequences, and content tells them apart before anything is
// written.
TEST(Machine, ALearnedFirstMemoryHasSlotsThatDiffer) {
  Parameters table(6);
  TuringOptions o = small_turing("lstm");
  o.first_memory = "learned";
  const TuringMachine model(table, sizes, o, by("cosine"));
  const Tensor memory = model.start(B, Dtype::f32).memory;  // [B, D, N]
  ASSERT_EQ(memory.shape(), (Shape{B, o.slot_width, o.slots}));
  const auto read = memory.read();
  EXPECT_NE(read[0], read[1]);
  const auto half = static_cast<size_t>(memory.elements() / B);
  EXPECT_TRUE(std::ranges::equal(read.first(half), read.last(half)));
}

TEST(Machine, TheFirstStrengthIsWhatWasAskedFor) {
  for (const double strength : {0.01, 5.0, 1000.0}) {
    Parameters table(6);
    TuringOptions o = small_turing("lstm");
    o.strength = strength;
    const TuringMachine model(table, sizes, o, by("cosine"));
    const auto bias = table["heads/bias"].read();
    EXPECT_NEAR(
        std::log1p(std::exp(-std::abs(bias[o.slot_width]))) + std::max(bias[o.slot_width], 0.0f),
        strength, 1e-4 * strength);
  }
}

TEST(Machine, ADequesEndsAreSeenApart) {
  for (const StackKind kind : {StackKind::queue, StackKind::deque}) {
    Parameters table(6);
    const StackMachine model(table, sizes, kind, {});
    Recorder recorder;
    model(steps(Dtype::f32));
    const int64_t ends = kind == StackKind::deque ? 2 : 1;
    EXPECT_EQ(recorder["held"].rows.shape(), (Shape{B, ends, 1, 1}));
    EXPECT_EQ(recorder.maps().back().weights.rows.shape(), (Shape{B, ends, 1, T}));
  }
}

TEST(FuzzyNumbers, CertainOnesAreArithmeticAndOthersAreMixtures) {
  constexpr int64_t M = 5;
  const auto one_hot = [](int64_t n) {
    Tensor x = Tensor::zeros({1, M});
    x.write()[n] = 1;
    return x;
  };
  for (const FuzzyOp f : {FuzzyOp::add, FuzzyOp::subtract, FuzzyOp::less, FuzzyOp::less_equal,
                          FuzzyOp::equal, FuzzyOp::minimum, FuzzyOp::maximum}) {
    for (int64_t a = 0; a < M; ++a) {
      for (int64_t b = 0; b < M; ++b) {
        const Tensor y = fuzzy(f, one_hot(a), one_hot(b));
        EXPECT_EQ(argmax(y, 1).read<int32_t>()[0], certain(f, a, b, M));
      }
    }
    const Function mixed = [&](const std::vector<Tensor>& in) {
      return fuzzy(f, softmax(in[0]), softmax(in[1]));
    };
    EXPECT_LT(gradient_error(mixed, {random_tensor({2, M}, 1), random_tensor({2, M}, 2)}), 1e-5);
    EXPECT_NEAR(sum(mixed({random_tensor({2, M}, 1), random_tensor({2, M}, 2)})).item(), 2, 1e-9);
  }
  EXPECT_EQ(argmax(fuzzy_shifted(one_hot(4), 1), 1).read<int32_t>()[0], 0);
  EXPECT_EQ(argmax(fuzzy_shifted(one_hot(0), -1), 1).read<int32_t>()[0], 4);
}

TEST(RandomAccess, GradientsAndDistributions) {
  const Algorithm& access = find_algorithm("ram-access");
  const AlgorithmOptions o{.symbols = 6};
  const std::vector<std::string> lines{"1 2 3 4 0", "0 3 1 2 0"};
  const StepBatch batch = batch_of(access, o, lines);
  Parameters table(7, Dtype::f64);
  const RandomAccessMachine model(
      table, {.inputs = 7, .outputs = 6},
      {.registers = 2, .width = 3, .machine_steps = 2, .noise = 0, .entropy = 0.1});
  ModelInputs in;
  in.steps = batch.steps.to(Dtype::f64);
  in.rows = batch.asked;
  in.epoch = 1;
  const Function f = [&](const std::vector<Tensor>&) { return model.loss(in, batch.symbols, 0); };
  EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 1e-5);
  const Tensor p = softmax(model(in).scores);
  for (double x : p.read<double>()) EXPECT_GE(x, 0);
  EXPECT_EQ(model(in).scores.dim(1), 6);
  Parameters other(1);
  EXPECT_THROW(RandomAccessMachine(other, {.inputs = 9, .outputs = 8 + 4}, {}), Error);
}

TEST(Algorithms, AnswersAreThoseOfThePrograms) {
  const AlgorithmOptions o{.bits = 2, .symbols = 9, .most = 4};
  const auto answer = [&](const char* name, const std::string& line) {
    const Algorithm& of = find_algorithm(name);
    const StepSequence s = of.lay(o, line);
    const int64_t out = of.outputs(o);
    std::string text;
    for (size_t i = 0; i < s.asked.size(); ++i) {
      if (i > 0) text += ' ';
      text += of.in_bits ? text_of_bits(std::span(s.bits).subspan(i * out, out))
                         : std::to_string(s.symbols[i]);
    }
    return text;
  };
  EXPECT_EQ(answer("copy", "01 11 00"), "01 11 00");
  EXPECT_EQ(answer("repeat-copy", "01 11 x2"), "010 110 010 110 001");
  EXPECT_EQ(answer("recall", "00 01 10 | 11 11 00 | 10 10 10 ? 11 11 00"), "10 10 10");
  EXPECT_EQ(answer("sort", "01:0.5 11:-0.25 00:0.75 10:0.6 11:0.1"), "00 10 01 11");
  EXPECT_EQ(answer("symbol-copy", "4 1 8"), "4 1 8 9");
  EXPECT_EQ(answer("reverse", "4 1 8"), "8 1 4 9");
  EXPECT_EQ(answer("bigram-flip", "4 1 8 2 5"), "1 4 2 8 5 9");
  EXPECT_EQ(answer("anbn", "aaabbb"), "1 1 2");
  EXPECT_EQ(answer("anbncn", "aabbcc"), "1 2 2 3");
  EXPECT_EQ(answer("anbmcnm", "aabccc"), "2 2 3");
  EXPECT_EQ(answer("ram-access", "2 5 6 7 0 0 0 0"), "7");
  EXPECT_EQ(answer("ram-increment", "3 1 4 0 0"), "4 2 0");
  EXPECT_EQ(answer("ram-copy", "4 5 6 0 0 0 0"), "5 6");
  EXPECT_EQ(answer("ram-reverse", "4 5 6 0 0 0 0"), "6 5");
  EXPECT_EQ(answer("ram-swap", "0 2 5 6 7 1 2 0"), "7 6 5 1 2");
}

TEST(Algorithms, EveryOneDrawsWhatItCanLayOut) {
  for (const Algorithm& of : algorithms()) {
    SCOPED_TRACE(of.name);
    const AlgorithmOptions o{.bits = 6, .symbols = 40};
    for (int64_t length : lengths_of("lengths", of.lengths)) {
      std::vector<std::string> lines;
      const Random random(static_cast<uint64_t>(length));
      for (uint64_t i = 0; i < 3; ++i)
        lines.push_back(of.draw(o, length, random.fork("shape"), random.fork(i)));
      const StepBatch b = batch_of(of, o, lines);
      EXPECT_EQ(b.steps.dim(2), of.inputs(o));
      EXPECT_EQ(b.asked.elements() % 3, 0);
      if (of.in_bits) {
        EXPECT_EQ(b.bits.dim(1), of.outputs(o));
      }
    }
  }
}

// Few numbers as often as many, to be copied anywhere, or backwards from behind the last.
TEST(Algorithms, NumbersToBeMovedAreFewAndManyAndAnswersLieWherePointersSay) {
  const AlgorithmOptions o{.symbols = 10};
  const Algorithm &copy = find_algorithm("ram-copy"), &reverse = find_algorithm("ram-reverse");
  std::set<size_t> counts;
  for (uint64_t i = 0; i < 50; ++i) {
    counts.insert(copy.lay(o, copy.draw(o, 10, Random(i), Random(1))).asked.size());
    const StepSequence s = reverse.lay(o, reverse.draw(o, 10, Random(i), Random(i)));
    EXPECT_EQ(s.asked.front(), 10 + 1 + std::ssize(s.asked) + 1);
  }
  EXPECT_EQ(counts, (std::set<size_t>{1, 2, 3, 4}));

  uint64_t few = 0;  // a shape with room to choose from
  const auto count = [&] { return copy.lay(o, copy.draw(o, 10, Random(few), Random(1))).asked; };
  while (count().size() > 2) ++few;
  std::vector<std::string> lines;
  for (uint64_t i = 0; i < 8; ++i) lines.push_back(copy.draw(o, 10, Random(few), Random(i)));
  const StepBatch b = batch_of(copy, o, lines);
  std::set<int64_t> first_cells;
  for (int64_t i = 0; i < 8; ++i) {
    const StepSequence alone = copy.lay(o, lines[i]);
    for (int64_t k = 0; k < std::ssize(alone.asked); ++k) {
      EXPECT_EQ(b.asked.read<int32_t>()[k * 8 + i], alone.asked[k] * 8 + i);
      EXPECT_EQ(b.symbols.read<int32_t>()[k * 8 + i], alone.symbols[k]);
    }
    first_cells.insert(alone.asked[0]);
  }
  EXPECT_GT(first_cells.size(), 1U);
}

TEST(Algorithms, ALineThatIsNoProblemIsRefused) {
  const AlgorithmOptions o;
  for (const auto& [name, line] :
       std::vector<std::pair<std::string, std::string>>{{"copy", "012"},
                                                        {"copy", ""},
                                                        {"repeat-copy", "10101010"},
                                                        {"recall", "111111 ? 111111"},
                                                        {"n-gram", "012"},
                                                        {"sort", "10101010"},
                                                        {"sort", "10101010:nan"},
                                                        {"sort", "10101010:1e39"},
                                                        {"reverse", "4 99"},
                                                        {"anbn", "aab"},
                                                        {"ram-access", "7 1 2 3"},
                                                        {"ram-copy", "1 2 3 0 0 0"}}) {
    EXPECT_THROW(find_algorithm(name).lay(o, line), Error) << name << ": " << line;
  }
  EXPECT_THROW(lengths_of("lengths", "9-3"), Error);
  EXPECT_THROW(lengths_of("lengths", "many"), Error);
  EXPECT_EQ(lengths_of("lengths", "8,1-3,2").size(), 4u);
}

// Too short to be a problem, which laying out says: drawing must not write beyond what there is.
TEST(Algorithms, TheShortestThatAreDrawnAreAsLongAsAskedFor) {
  for (const Algorithm& of : algorithms()) {
    if (!of.name.starts_with("ram-")) continue;
    for (int64_t length = 1; length < 4; ++length) {
      const std::string line = of.draw({}, length, Random(1), Random(2));
      EXPECT_EQ(std::ssize(algorithm::words_of(line)), length) << of.name << ": " << line;
    }
  }
}

// The best estimator of n-grams: what it gives is a probability, and it does better than a coin.
TEST(Algorithms, TheBestEstimatorOfNGramsIsBetterThanACoin) {
  const Algorithm& of = find_algorithm("n-gram");
  double bits = 0, n = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    const StepSequence s = of.lay({}, of.draw({}, 200, Random(1), Random(i)));
    for (size_t k = 0; k < s.known.size(); ++k, ++n)
      bits -= std::log2(s.bits[k] > 0 ? s.known[k] : 1 - s.known[k]);
  }
  EXPECT_LT(bits / n, 0.85);
  EXPECT_GT(bits / n, 0.4);
}

// Lengths that nobody asked for are left out where there are too few symbols for them, and what
// was asked for is refused before anything is learned.
TEST(Algorithm, LengthsThatNobodySaidSuitTheSymbols) {
  const std::string words = "train algorithm --steps 3 --batch 4 --validate-every 2 --examples 2 ",
                    ram = words + "--data builtin:ram-access --model nram --machine-steps 2 ";
  const Ended fits = run(program + " " + ram + "--lengths 5-8 --symbols 12", true);
  EXPECT_EQ(fits.exit, 0) << fits.out;
  const Ended refused =
      run(program + " " + ram + "--lengths 5-6 --symbols 12 --test-lengths 16", true);
  EXPECT_EQ(refused.exit, 1);
  EXPECT_EQ(refused.out.find("fovea: ram-access: needs"), 0U) << "before a step: " << refused.out;
  const Ended repeats =
      run(program + " " + words + "--data builtin:repeat-copy --model " +
              "transformer --position learned --bits 4 --layers 1 --width 16 " + "--heads 2",
          true);
  EXPECT_EQ(repeats.exit, 0) << repeats.out;
}

TEST(Algorithm, OptionsThatMeanNothingForTheDataAreRefused) {
  const std::string train = "train algorithm --steps 1 --data builtin:";
  for (const char* words : {"copy --set symbols=9", "copy --set repeats=3", "anbn --set bits=4",
                            "anbncndn --set symbols=2", "copy --set smoothing=0.1"}) {
    const Ended refused = run(program + " " + train + words, true);
    EXPECT_EQ(refused.exit, 2) << words;
    EXPECT_NE(refused.out.find("' means nothing for builtin:"), std::string::npos) << refused.out;
  }
}

TEST(Algorithm, AFileThatIsMeasuredOnSaysWhereItIsWrong) {
  const ScratchFolder s;
  const std::string folder = s.path() + "/model";
  ASSERT_EQ(run(program + " train algorithm --data builtin:anbn --model stack_rnn --lengths 1-2 " +
                "--test-lengths 2 --steps 1 --out " + folder)
                .exit,
            0);
  for (const char* second : {"aab", ""}) {
    const std::string file = s.write("lines.txt", std::string("aabb\n") + second + "\nab\n");
    expect_refused("eval " + folder + " --data " + file, 1,
                   say(file, ":2: anbn: '", second, "' is no word of the language"));
  }
}

}  // namespace
}  // namespace fovea::test
