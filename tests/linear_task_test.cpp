// Baselines of pairs, phrases and numbers from texts, as their tasks make features of them.
#include <gtest/gtest.h>

#include "fovea/task/solver.h"
#include "support/made_rows.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

// Fitted in a folder, and what of the first metric it reaches on the test part.
struct FittedRun {
  std::unique_ptr<Solver> solver;
  std::string folder;
  double reached;
  TrainResult trained{};
};
FittedRun fitted(const ScratchFolder& scratch, const std::string& task, const std::string& model,
                 Settings settings) {
  settings.set("model", model);
  FittedRun run{nullptr, scratch.path() + "/" + task + "-" + model, 0};
  run.solver = begin_run(make_config(find_task(task), settings), run.folder, false);
  TrainCall call;
  call.options = run.solver->config();
  call.folder = run.folder;
  run.trained = train(*run.solver, call);
  EXPECT_EQ(run.trained.stopped, "fitted");
  run.reached = run.solver->evaluate("test").values()[0].value;
  return run;
}

// The folder alone answers the same.
void expect_kept(const FittedRun& run, const std::vector<std::string>& lines) {
  const auto opened = open_solver(run.folder);
  EXPECT_EQ(opened->evaluate("test").values()[0].value, run.reached);
  const auto one = run.solver->predict(lines), other = opened->predict(lines);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(one[i][0].text, other[i][0].text) << lines[i];
    EXPECT_EQ(one[i][0].score, other[i][0].score) << lines[i];
  }
}

// Its maps: names, and whether each has a weight for every key, of sum 1 or, where nothing speaks,
// 0.
std::string maps_of(const Drawing& drawing) {
  std::string names;
  for (const AttentionMap& map : drawing.maps) {
    names += (names.empty() ? "" : " ") + map.name;
    EXPECT_EQ(map.weights.size(), map.keys.size()) << map.name;
    double sum = 0;
    for (float weight : map.weights) sum += static_cast<double>(weight);
    EXPECT_TRUE(std::abs(sum - 1) < 1e-4 || sum == 0) << map.name << " " << sum;
  }
  return names;
}

// No word tells: only how many words both texts have.
std::string overlaps() {
  std::vector<std::string> words;
  for (int i = 10; i < 70; ++i) words.push_back("word" + std::to_string(i));
  return rows(
      [&](Random& random, int i) {
        for (size_t w = words.size(); w > 1; --w) std::swap(words[w - 1], words[random.below(w)]);
        const size_t shared = i % 2 ? 5 : random.below(3);
        std::string row = i % 2 ? "same\t" : "other\t";
        for (size_t w = 0; w < 8; ++w) row += words[w] + " ";
        row += "\t";
        for (size_t w = 8 - shared; w < 14 - shared; ++w) row += words[w] + " ";
        return row;
      },
      500, "label\ta\tb");
}

TEST(LinearPairs, LearnThatTextsShareTheirWords) {
  const ScratchFolder scratch;
  const Settings data{{"data", scratch.write("overlap.tsv", overlaps())}};
  const FittedRun linear = fitted(scratch, "pair", "linear", data),
                  frequent = fitted(scratch, "pair", "most_frequent", data);
  EXPECT_GT(linear.reached, 0.95);
  EXPECT_LT(frequent.reached, 0.75);
  const std::string first = "word10 word11 word12 word13 word14 word15 word16 word17\t";
  const std::vector<std::string> lines{first + "word15 word16 word17 word13 word14 word40",
                                       first + "word40 word41 word42 word43 word44 word45",
                                       "never\tseen", "\t"};
  expect_kept(linear, lines);
  expect_kept(frequent, lines);
  EXPECT_EQ(linear.solver->predict(lines)[0][0].text, "same");
  EXPECT_EQ(linear.solver->predict(lines)[1][0].text, "other");
  EXPECT_EQ(maps_of(linear.solver->attend(lines[0])),
            "for/first against/first for/second against/second");
  EXPECT_TRUE(frequent.solver->attend(lines[0]).maps.empty());
}

TEST(LinearPairs, ReadTheNumbersOfARecord) {
  const ScratchFolder scratch;
  const std::string table = rows(
      [](Random& random, int) {
        const double pulse = 80 + 20 * random.normal();
        const bool known = random.below(10) > 0;
        const std::string note = sentence(random, 4);
        return say(pulse > 80 ? "ill" : "well", ",", note, ",", 20 + random.below(60), ",",
                   known ? std::to_string(pulse) : "");
      },
      400, "outcome,note,age,pulse");
  const FittedRun linear = fitted(scratch, "pair", "linear",
                                  {{"data", scratch.write("notes.csv", table)},
                                   {"columns", "label=outcome,a=note,numbers=age+pulse"}});
  EXPECT_GT(linear.reached, 0.7);
  expect_kept(linear, {"a cough\t30,120", "a headache\t?,40"});
  const Drawing drawing = linear.solver->attend("a cough\t30,120");
  EXPECT_EQ(maps_of(drawing), "for/first against/first for/second against/second");
  EXPECT_EQ(drawing.maps[2].keys, (std::vector<std::string>{"age", "pulse"}));
}

TEST(LinearPhrases, LearnWhatIsSaidRoundThePhrase) {
  const ScratchFolder scratch;
  const Settings data{{"data", "builtin:aspects"}, {"examples", "900"}};
  const FittedRun linear = fitted(scratch, "aspect", "linear", data),
                  frequent = fitted(scratch, "aspect", "most_frequent", data);
  EXPECT_GT(linear.reached, 0.8);
  EXPECT_GT(linear.reached, frequent.reached + 0.25);
  const std::vector<std::string> lines{"the food is great , but the service is slow .\tservice",
                                       "the food is great , but the service is slow .\tfood",
                                       "food\tfood"};
  expect_kept(linear, lines);
  expect_kept(frequent, lines);
  EXPECT_EQ(linear.solver->predict(lines)[0][0].text, "negative");
  EXPECT_EQ(linear.solver->predict(lines)[1][0].text, "positive");
  EXPECT_EQ(maps_of(linear.solver->attend(lines[0])), "for against");
  EXPECT_TRUE(frequent.solver->attend(lines[0]).maps.empty());
}

// What only validation examples tell is known once these are learned from.
TEST(FittedAgain, LearnsFromTheValidationExamplesToo) {
  const ScratchFolder scratch;
  std::string train, dev;
  for (int i = 0; i < 40; ++i) {
    train += i % 2 ? "good\tlovely thing rare\n" : "bad\tdull thing rare\n";
    dev += i % 2 ? "good\tlovely thing\n" : "bad\tdull thing rare\n";
  }
  const Settings data{{"data", scratch.write("train.tsv", train)},
                      {"dev", scratch.write("dev.tsv", dev)},
                      {"test", scratch.write("test.tsv", dev)}};
  const FittedRun linear = fitted(scratch, "classify", "linear", data);
  const auto bad = [&] {
    const auto all = linear.solver->predict({"rare"}, {.nbest = 2})[0];
    return all[all[0].text == "bad" ? 0 : 1].score;
  };
  const double before = bad();
  const FitChoice choice = linear.trained.fitted;
  ASSERT_EQ(choice.chosen.size(), 2U);  // a cost, and how sure the scores are
  ASSERT_TRUE(linear.solver->refit(choice));
  EXPECT_GT(bad(), before + 0.01);
  // Without a choice there is nothing to fit again with.
  EXPECT_FALSE(linear.solver->refit({}));
}

TEST(LinearNumbers, LearnWhatWordsAreWorth) {
  const ScratchFolder scratch;
  const std::string table = rows(
      [](Random& random, int) {
        const auto good = static_cast<double>(random.below(3)),
                   bad = static_cast<double>(random.below(3));
        std::string text = sentence(random, 4);
        for (int i = 0; i < good; ++i) text += " fine";
        for (int i = 0; i < bad; ++i) text += " dull";
        return say(50 + 10 * (good - bad) + random.normal(), ",", text);
      },
      500, "stars,review");
  // Said by a column: `mean` is of numbers too.
  const Settings data{{"data", scratch.write("rated.csv", table)},
                      {"columns", "target=stars,text=review"}};
  const FittedRun linear = fitted(scratch, "regress", "linear", data),
                  mean = fitted(scratch, "regress", "mean", data);
  EXPECT_LT(linear.reached, 0.6 * mean.reached) << "root mean squared errors";
  const std::vector<std::string> lines{"river fine fine", "river dull dull", "never heard of it"};
  expect_kept(linear, lines);
  expect_kept(mean, lines);
  const auto answers = linear.solver->predict(lines);
  EXPECT_GT(*answers[0][0].number, *answers[1][0].number + 10);
  EXPECT_EQ(mean.solver->predict(lines)[0][0].text, mean.solver->predict(lines)[1][0].text);
  EXPECT_EQ(maps_of(linear.solver->attend(lines[0])), "raises lowers");
  EXPECT_TRUE(mean.solver->attend(lines[0]).maps.empty());
}

}  // namespace
}  // namespace fovea::test
