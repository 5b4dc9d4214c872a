// Passages and questions: reading them from files, and how answers are measured.
#include "fovea/data/passages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/task/answer_spans.h"
#include "fovea/train/answer_metrics.h"
#include "support/paths.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

const char* const squad_1 = R"({"data": [{"title": "T", "paragraphs": [
  {"context": "Zoë lives in Oslo. Oslo is cold.", "qas": [
    {"answers": [{"answer_start": 19, "text": "Oslo"}, {"answer_start": 13, "text": "Oslo"}],
     "question": "Where does Zoë live?", "id": "q1"},
    {"answers": [{"answer_start": 0, "text": "Zoë"}], "question": "Who?", "id": "q2"}]}]}],
  "version": "1.1"})";

const char* const squad_2 = R"({"version": "v2.0", "data": [{"title": "T", "paragraphs": [{"qas": [
    {"question": "Who?", "id": "a", "answers": [{"text": "Ann", "answer_start": 0}],
     "is_impossible": false},
    {"question": "When?", "id": "b", "plausible_answers": [{"text": "now", "answer_start": 10}],
     "answers": [], "is_impossible": true}], "context": "Ann sings now."}]}]})";

TEST(Passages, ReadsSquad) {
  const ScratchFolder s;
  ReadSummary summary;
  const auto all = read_passages(s.write("a.json", squad_1), {}, &summary);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, "q1");
  EXPECT_EQ(all[0].question, "Where does Zoë live?");
  ASSERT_EQ(all[0].answers.size(), 2u);
  EXPECT_EQ(all[0].answers[0].begin, 20) << "code points become bytes";
  EXPECT_EQ(all[0].answers[1].begin, 14);
  EXPECT_EQ(all[0].passage, all[1].passage) << "one passage for all its questions";
  EXPECT_FALSE(all[0].may_be_unanswered);
  EXPECT_EQ(summary.rows, 2);
  EXPECT_NE(summary.sentence().find("SQuAD"), std::string::npos);
}

TEST(Passages, ReadsSquad2WithQuestionsThatHaveNoAnswer) {
  const ScratchFolder s;
  const auto all = read_passages(s.write("a.json", squad_2), {});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].answers.at(0).text, "Ann");
  EXPECT_TRUE(all[1].answers.empty()) << "plausible answers are none";
  EXPECT_TRUE(all[0].may_be_unanswered && all[1].may_be_unanswered);
}

TEST(Passages, AnOffsetThatIsNotQuiteRightIsMended) {
  const ScratchFolder s;
  std::string text = squad_1;
  text.replace(text.find("19"), 2, "17");
  EXPECT_EQ(read_passages(s.write("a.json", text), {})[0].answers[0].begin, 20);
}

TEST(Passages, ReadsTables) {
  const ScratchFolder s;
  const auto tsv = read_passages(s.write("a.tsv",
                                         "context\tquestion\tanswer\nAnn is here\tWho is?\tAnn\n"
                                         "Bob is there\tWhere?\tthere|is there\n"),
                                 {});
  ASSERT_EQ(tsv.size(), 2u);
  EXPECT_EQ(tsv[1].answers.size(), 2u);
  EXPECT_EQ(tsv[1].answers[0].begin, 7);
  // Without a place an answer is a word of its own where there is one.
  const auto words = read_passages(s.write("w.tsv",
                                           "passage\tquestion\tanswer\n"
                                           "Miss Annabelson called Ann\tWhom?\tAnn\n"
                                           "Annabelson came\tWho?\tAnn\n"),
                                   {});
  EXPECT_EQ(words[0].answers[0].begin, 23);
  EXPECT_EQ(words[1].answers[0].begin, 0);
  const auto bare =
      read_passages(s.write("b.tsv", "Who is?\tAnn is here\tAnn\nWhere?\tBob is there\tthere\n"),
                    {.columns = "passage=2,question=1,answer=3"});
  EXPECT_EQ(*bare[0].passage, "Ann is here");
  const auto lines = read_passages(
      s.write(
          "c.jsonl",
          R"({"id":"1","context":"Ann is | here","question":"Who?","answers":{"text":["Ann"],"answer_start":[0]}})"
          "\n"
          R"({"id":"2","context":"Ann is | here","question":"Why?","answers":{"text":[],"answer_start":[]}})"
          "\n"
          R"({"id":"3","context":"a b a b","question":"b?","answers":{"text":["b"],"answer_start":[6]}})"
          "\n"),
      {});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[1].answers.empty() && lines[1].may_be_unanswered);
  EXPECT_EQ(lines[2].answers[0].begin, 6);
  EXPECT_EQ(lines[0].passage, lines[1].passage);
}

TEST(Passages, ReadsClozes) {
  const ScratchFolder s;
  const std::string cbt = s.write("cbt.txt",
                                  "1 The king saw Tom .\n2 Tom ran .\n"
                                  "3 XXXXX saw the king .\tTom\t\tTom|king|ran\n\n"
                                  "1 A dog .\n2 The XXXXX .\tdog\t\tdog|A\n");
  EXPECT_TRUE(holds_cloze(cbt, {}));
  const auto all = read_clozes(cbt, {});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(*all[0].passage, "The king saw Tom .\nTom ran .");
  EXPECT_EQ(all[0].candidates, (std::vector<std::string>{"Tom", "king", "ran"}));
  EXPECT_EQ(*all[1].passage, "A dog .");

  std::filesystem::create_directory(s.path() + "/cnn");
  s.write("cnn/1.question",
          "http://x\n\n@entity2 met @entity5 in @entity2 town\n\n@placeholder met @entity2\n\n"
          "@entity5\n\n@entity2:Ann\n@entity5:Bob\n");
  EXPECT_TRUE(holds_cloze(s.path() + "/cnn", {}));
  const auto cnn = read_clozes(s.path() + "/cnn", {});
  ASSERT_EQ(cnn.size(), 1u);
  EXPECT_EQ(cnn[0].candidates, (std::vector<std::string>{"@entity2", "@entity5"}));

  const std::string tsv = s.write("c.tsv",
                                  "passage\tquestion\tanswer\tcandidates\n"
                                  "Ann saw Bob\t___ saw Bob\tann\tAnn|Bob\n"
                                  "Ann saw Tim\tAnn saw ___\tTim\tAnn|Tim\n");
  EXPECT_TRUE(holds_cloze(tsv, {}));
  EXPECT_EQ(read_clozes(tsv, {})[0].answers[0].text, "Ann") << "as the candidate is written";
  const auto words =
      read_clozes(s.write("d.tsv", "passage\tquestion\tanswer\nAnn saw Bob.\tWho? ___\tBob\n"), {});
  EXPECT_EQ(words[0].candidates, (std::vector<std::string>{"Ann", "saw", "Bob"}));
  EXPECT_FALSE(holds_cloze(s.write("e.json", squad_1), {}));
}

// What each wrong file says, which is one sentence with the file and the place.
TEST(Passages, BadFilesAreOneSentence) {
  const ScratchFolder s;
  const auto said = [&](const std::string& name, const std::string& text, bool cloze = false,
                        ReadOptions options = {}) -> std::string {
    try {
      const std::string path = s.write(name, text);
      cloze ? read_clozes(path, options) : read_passages(path, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const std::string whole = squad_1;
  for (size_t cut : {whole.size() - 1, whole.size() / 2, size_t{70}}) {
    has(said("cut.json", whole.substr(0, cut)),
        "cut.json: is cut off or damaged: not JSON at byte");
  }
  std::string absent = whole;
  absent.replace(absent.find("\"text\": \"Zoë\""), 14, "\"text\": \"Bob\"");
  has(said("absent.json", absent),
      "question 2 (id q2): the answer 'Bob' is not in its passage 'Zoë lives in Oslo. Oslo is");
  std::string twice = whole;
  twice.replace(twice.find("q2"), 2, "q1");
  has(said("twice.json", twice), "the id 'q1' came before");
  std::string none = squad_2;
  none.replace(none.find("true"), 4, "false");
  has(said("none.json", none), "(id b): has no answer, and does not say that it is_impossible");
  has(said("empty.json", R"({"version": "1.1", "data": []})"), "holds no question");
  has(said("blank.json", R"({"data": [{"paragraphs": [{"context": " ", "qas": [{"id": "1",
      "question": "a?", "answers": [{"text": "a", "answer_start": 0}]}]}]}]})"),
      "the passage is empty");
  has(said("a.tsv", "passage\tquestion\tanswer\na b\tc?\tb\na b\tc?\tz\n"),
      "a.tsv:3: the answer 'z' is not in its passage 'a b'");
  has(said("b.tsv", "passage\tquestion\ta third\tanother\na b\tc?\tb\td\n"),
      "b.tsv: which column is the answer cannot be told");
  has(said("c.tsv", "passage\tquestion\tanswer\na b\tc?\t\n"), "c.tsv:2: the answer is empty");
  has(said("id.tsv", "id\tpassage\tquestion\tanswer\n7\ta b\tc?\tb\n7\ta b\td?\tb\n"),
      "id.tsv:3: the id '7' came before");
  has(said("d.tsv", "passage\tquestion\tanswer\tcandidates\na b\t___?\tz\ta|b\n", true),
      "d.tsv:2: the answer 'z' is none of its 2 candidates");
  has(said("e.txt", "1 A b .\n2 c XXXXX\n3 no blank\tb\t\ta|b\n", true),
      "e.txt:3: needs a question with a blank");
  has(said("f.json", squad_1, true), "a model that gives a span reads it");
  has(said("g.txt", "1 A b .\n2 XXXXX b\tA\t\tA|b\n"), "a model that chooses reads it");
  ReadOptions skip;
  skip.skip_bad = true;
  EXPECT_EQ(read_passages(s.write("h.json", twice), skip).size(), 1u);
  has(said("i.tsv", "passage\tquestion\tanswer\na b\tc?\tz\n", false, skip),
      "all 1 questions are bad");
}

TEST(Builtin, ClozesHaveOneAnswerThatCountingDoesNotTell) {
  const auto all = generate_clozes(1000, Random(1));
  ASSERT_EQ(all.size(), 1000u);
  int frequent = 0;
  for (const PassageQuestion& q : all) {
    EXPECT_TRUE(has_blank(q.question));
    EXPECT_NE(std::ranges::find(q.candidates, q.answers[0].text), q.candidates.end());
    EXPECT_EQ(q.question.find(q.answers[0].text + " "), std::string::npos);
    // The entity that is named most often, of which the question does not speak.
    std::string best;
    size_t most = 0;
    for (const std::string& one : q.candidates) {
      size_t count = 0;
      const std::string padded = " " + *q.passage + " ";
      for (size_t at = padded.find(" " + one + " "); at != std::string::npos;
           at = padded.find(" " + one + " ", at + 1)) {
        ++count;
      }
      if (count > most) most = count, best = one;
    }
    frequent += best == q.answers[0].text;
  }
  EXPECT_LT(frequent, 500);
}

TEST(Builtin, FactsStandWhereTheySay) {
  std::set<size_t> lengths;
  for (const PassageQuestion& q : generate_facts(300, Random(1))) {
    const auto& [text, at] = q.answers.at(0);
    EXPECT_EQ(q.passage->substr(static_cast<size_t>(at), text.size()), text);
    lengths.insert(static_cast<size_t>(std::ranges::count(text, ' ')));
  }
  EXPECT_GE(lengths.size(), 3u) << "answers of one word and of several";
}

// --- Metrics. ---

TEST(AnswerMetrics, AgreeWithTheOfficialScripts) {
  std::ifstream file(golden_path("squad_answers.json"));
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GE(cases.size(), 200u);
  for (const auto& one : cases) {
    SCOPED_TRACE(one.dump());
    const auto answer = one[0].get<std::string>();
    const auto truths = one[1].get<std::vector<std::string>>();
    const AnswerRules rules = one[2].get<bool>() ? AnswerRules::squad_2 : AnswerRules::squad_1;
    EXPECT_EQ(answer_em_tally(answer, truths, rules)[0], one[3][0].get<double>());
    EXPECT_EQ(answer_f1_tally(answer, truths, rules)[0], one[3][1].get<double>());
  }
}

// With FOVEA_SQUAD_ANSWERS, the lines that tools/make_squad_golden.py FILE OUT wrote.
TEST(AnswerMetrics, AgreeOnAWholeFile) {
  const char* path = std::getenv("FOVEA_SQUAD_ANSWERS");
  if (!path) GTEST_SKIP() << "FOVEA_SQUAD_ANSWERS names no file";
  std::ifstream file(path);
  int64_t n = 0;
  for (std::string line; std::getline(file, line); ++n) {
    const auto one = nlohmann::json::parse(line);
    const auto answer = one[0].get<std::string>();
    const auto truths = one[1].get<std::vector<std::string>>();
    const AnswerRules rules = one[2].get<bool>() ? AnswerRules::squad_2 : AnswerRules::squad_1;
    ASSERT_EQ(answer_em_tally(answer, truths, rules)[0], one[3][0].get<double>()) << line;
    ASSERT_EQ(answer_f1_tally(answer, truths, rules)[0], one[3][1].get<double>()) << line;
  }
  std::printf("%ld answers agree\n", static_cast<long>(n));
}

TEST(AnswerMetrics, Normalise) {
  EXPECT_EQ(normalised_answer("The  U.S. and an Apple, a pear"), "us and apple pear");
  EXPECT_EQ(normalised_answer("other theatre"), "other theatre") << "articles are whole words";
  EXPECT_EQ(normalised_answer("a\u2019s"), "\u2019s");
}

// --- Spans. ---

constexpr float inf = std::numeric_limits<float>::infinity();

TEST(AnswerSpans, TheBestEndsBehindItsBeginning) {
  // The best end, word 0, lies before the best beginning, word 2.
  const std::vector<ScoredWindow> one{{0, {-inf, 0, 1, 3, 0}, {-inf, 5, 0, 1, 2}}};
  const auto found = best_spans(one, {.nbest = 3});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].first, 0) << "0 + 5 and 3 + 2 are equal: the first";
  EXPECT_EQ(found[1].first, 2);
  EXPECT_EQ(found[1].last, 3);
  EXPECT_EQ(best_spans(one, {.longest = 1, .nbest = 2})[1].last, 2) << "at most one word";
  double sum = 0;
  for (int64_t first = 0; first < 4; ++first) {
    for (int64_t last = 0; last < 4; ++last) {
      sum += std::exp(span_log_probability(one, first, last));
    }
  }
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(AnswerSpans, NoAnswer) {
  const std::vector<ScoredWindow> one{{0, {2, 0, 1}, {2, 0, 1}}};
  EXPECT_EQ(best_spans(one, {})[0].first, -1);
  EXPECT_EQ(best_spans(one, {.no_answer = -3})[0].first, 1);
  EXPECT_EQ(best_spans(one, {.no_answer = -3, .nbest = 9}).size(), 4u);
  // One window that has the answer is enough.
  const std::vector<ScoredWindow> two{{0, {2, 0, 1}, {2, 0, 1}}, {1, {-5, 1, 4}, {-5, 1, 4}}};
  const FoundSpan best = best_spans(two, {})[0];
  EXPECT_EQ(best.first, 2);
  EXPECT_GT(best.log_probability, std::log(0.8));
}

TEST(AnswerSpans, WindowsThatOverlapGiveEachSpanOnce) {
  const std::vector<ScoredWindow> two{{0, {-inf, 0, 1, 5}, {-inf, 0, 1, 5}},
                                      {1, {-inf, 1, 6, 0}, {-inf, 1, 6, 0}}};
  const auto found = best_spans(two, {.nbest = 20});
  std::set<std::pair<int64_t, int64_t>> seen;
  for (const FoundSpan& one : found) EXPECT_TRUE(seen.insert({one.first, one.last}).second);
  EXPECT_EQ(found[0].first, 2);
  EXPECT_EQ(found.size(), 9u) << "all spans but the one from 0 to 3, which no window holds";
  const auto inside = inside_answer(two, 4, 30);
  EXPECT_GT(inside[2], 0.9);
  EXPECT_LT(inside[0], 0.1);
  EXPECT_EQ(span_log_probability(two, 0, 3), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace fovea::test
