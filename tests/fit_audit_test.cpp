// What fit counts in its data, what it then tries, and what it says in the end.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/task/fit/audit.h"
#include "fovea/task/fit/candidates.h"
#include "fovea/task/fit/inference.h"
#include "fovea/task/fit/report.h"
#include "fovea/task/solver.h"
#include "fovea/train/label_metrics.h"
#include "support/made_rows.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

// Whatever the task, there is something to try.
TEST(FitCandidates, EveryTaskHasSome) {
  Audit audit;
  audit.examples = 1000;
  for (const Task& task : tasks()) {
    const auto found = candidates(audit, {.task = task.name, .vectors = ""});
    EXPECT_FALSE(found.empty()) << task.name;
    for (const Candidate& one : found) {  // all that they say is checked
      EXPECT_EQ(error_of([&] { make_config(task, one.settings); }), "") << task.name << one.name;
    }
  }
}

Audit audit_of(const ScratchFolder& scratch, const std::string& text,
               const std::string& test = "") {
  const FitData data = infer_data({.files = {scratch.write("train.tsv", text)},
                                   .test = test.empty() ? "" : scratch.write("test.tsv", test)});
  return audit_data(make_config(find_task(data.task), data.settings));
}
bool finds(const Audit& audit, const std::string& what) {
  return std::ranges::any_of(audit.findings,
                             [&](const auto& f) { return f.what.find(what) != std::string::npos; });
}

// Plain texts beside each other, of few words that come often.
Audit audit_of_corpus(const ScratchFolder& scratch, const Row& row) {
  const std::string text = rows(row, 300);
  const FitData data =
      infer_data({.files = {scratch.write("c.en", text), scratch.write("c.de", text)}});
  return audit_data(make_config(find_task(data.task), data.settings));
}

TEST(FitCandidates, TranslatorsSuitTheSizeOfTheCorpus) {
  const ScratchFolder scratch;
  const auto tried = [](const Audit& audit) {
    std::string all;
    for (const Candidate& one : candidates(audit, {.task = "translate", .vectors = ""})) {
      all += one.settings.get("model") + " " + one.settings.get("tokens") + "\n";
    }
    return all;
  };
  const Audit small = audit_of_corpus(scratch, [](Random& r, int) {
    static const char* words[] = {"the", "phone", "and", "radio", "cost", "2", "3"};
    std::string line;
    for (int i = 0; i < 7; ++i) line += std::string(i ? " " : "") + words[r.below(7)];
    return line;
  });
  EXPECT_EQ(small.known_words, 7);
  EXPECT_EQ(tried(small), "rnn auto\ntransformer auto\nrnn unigram:500\ntransformer unigram:500\n");
  EXPECT_GE(worth_training(20, small), 2) << "a step on so little text is quick";
  const Audit many_words =
      audit_of_corpus(scratch, [](Random& r, int) { return sentence(r, 6) + "."; });
  EXPECT_EQ(tried(many_words).find("auto"), std::string::npos) << "rare words need pieces";
  Audit large = many_words;
  large.examples = 1'000'000;
  EXPECT_EQ(tried(large), "rnn unigram:8000\ntransformer unigram:8000\nrnn unigram:8000\n");
  EXPECT_EQ(worth_training(20, large), 1);
  large.letters = 6'000;
  EXPECT_NE(tried(large).find("unigram:12000"), std::string::npos) << "letters are pieces too";
}

TEST(FitReport, SharesHaveWilsonsIntervals) {
  const auto expect = [](const Interval& found, double low, double high) {
    EXPECT_NEAR(found.low, low, 5e-5);
    EXPECT_NEAR(found.high, high, 5e-5);
  };
  expect(interval_of("accuracy", 1, 0, 27), 0.8754, 1);
  expect(interval_of("accuracy", 0, 0, 27), 0, 0.1246);
  expect(interval_of("accuracy", 1.0 / 9, std::sqrt(8.0 / 81 / 26), 27), 0.0385, 0.2806);
  expect(interval_of("macro_f1", 0.6, 0.24, 27), 0.1296, 1);
  expect(interval_of("bleu", 98, 4, 30), 90.16, 100);
  expect(interval_of("rmse", 1, 0.8, 20), 0, 2.568);
  expect(interval_of("r2", 0.2, 0.5, 20), -0.78, 1);
}

TEST(FitReport, EquallyGoodIsNotBetter) {
  FitPlan plan;
  SearchResult result;
  for (const char* name : {"one", "two"}) {
    PlannedCandidate planned;
    planned.name = name;
    planned.baseline = true;
    plan.candidates.push_back(planned);
    Tried tried;
    tried.name = name;
    tried.baseline = true;
    tried.validation = Metric{"accuracy", true, 1};
    Evaluation test;
    test.metrics.push_back({"accuracy", {}});
    for (int i = 0; i < 27; ++i) test.metrics[0].tallies.push_back(label_tally(2, i % 2, i % 2));
    tried.test = test;
    result.tried.push_back(tried);
  }
  const FitReport report = report_of(plan, result);
  ASSERT_GE(report.verdict.size(), 2U);
  EXPECT_EQ(report.verdict[0],
            "one: accuracy 1.0000 on the test part, 95 % interval 0.8754 to 1.0000");
  EXPECT_EQ(report.verdict[1], "as good as the next best that was tested, two");
}

TEST(FitAudit, CountsWhatIsDoubtful) {
  const ScratchFolder scratch;
  const std::string good =
      rows([](Random& r, int i) { return label(i) + "\t" + sentence(r); }, 200);
  EXPECT_TRUE(audit_of(scratch, good).findings.empty());
  EXPECT_TRUE(finds(audit_of(scratch, good + "Sport\tx y z\nSport\tx y w\nSport\tx y v\n"),
                    "written in several ways"));
  EXPECT_TRUE(finds(audit_of(scratch, good + good), "repeat"));
  EXPECT_TRUE(finds(audit_of(scratch, good, good), "test part are learned from too"));
  const std::string other =
      rows([](Random& r, int i) { return label(i + 1) + "\t" + sentence(r); }, 200);
  EXPECT_TRUE(finds(audit_of(scratch, good + other), "another answer"));
  EXPECT_TRUE(finds(audit_of(scratch, good + "rare\tone of\nrare\tits own\nrare\tkind only\n"),
                    "fewer than 5"));
  Random random(5);
  EXPECT_TRUE(finds(
      audit_of(scratch, good + "news\t" + sentence(random, 4000) + "\nnews\t" +
                            sentence(random, 4000) + "\nnews\t" + sentence(random, 4000) + "\n"),
      "enormous"));
  EXPECT_TRUE(finds(
      audit_of(scratch,
               rows([](Random& r, int i) { return label(i) + "\t" + sentence(r) + " " + label(i); },
                    200)),
      "own label"));
  const std::string wrong = "a\tO\nb\tI-PER\nc\tO\n\n";
  const std::string tags = rows([](Random& r, int i) { return conll(r, i, "\t"); });
  EXPECT_FALSE(finds(audit_of(scratch, tags), "I- without B-"));
  EXPECT_TRUE(
      finds(audit_of(scratch, tags + wrong + wrong + wrong + wrong + tags), "I- without B-"));
}

TEST(FitAudit, TextIsCutAsALanguageModelCutsIt) {
  const ScratchFolder scratch;
  const Audit audit =
      audit_of(scratch, rows([](Random& r, int) { return sentence(r, 12) + "."; }, 60));
  EXPECT_EQ(audit.facts[0], "48 lines to learn from, 6 to validate on, 6 to test on");
  Random random(3);
  const std::string refused = error_of([&] { audit_of(scratch, sentence(random, 400) + "\n"); });
  EXPECT_NE(refused.find("one line"), std::string::npos) << refused;
  EXPECT_NE(refused.find("break it into lines"), std::string::npos) << refused;
}

TEST(FitAudit, RefusesWhatCannotBeLearned) {
  const ScratchFolder scratch;
  const auto refused = [&](const std::string& text) {
    return error_of([&] { audit_of(scratch, text); });
  };
  EXPECT_NE(refused(rows([](Random& r, int) { return "same\t" + sentence(r); })), "");
  EXPECT_NE(refused("a\tx\n"), "");
  EXPECT_NE(
      refused(rows([](Random& r, int i) { return std::to_string(i) + "x\t" + sentence(r); }, 3000)),
      "");
}

}  // namespace
}  // namespace fovea::test
