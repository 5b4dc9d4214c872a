// Looking further than one answer: what a model makes of given texts, what its heads do over many
// examples and over long ones, how fast any mechanism is; and what is said where nothing can be
// written.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fovea/attention/catalog.h"
#include "fovea/base/utf8.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

using nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A translator of dates with two heads, which has learned that they end; made once.
const std::string& dates() {
  static const ScratchFolder scratch;
  static const std::string folder = [] {
    const std::string to = scratch.path() + "/dates";
    const Ended made = run(program +
                               " train translate --data builtin:dates --model transformer --layers "
                               "1 --heads 2 --width 16 --examples 100 --steps 80 --out " +
                               to,
                           true);
    EXPECT_EQ(made.exit, 0) << made.out;
    return to;
  }();
  return folder;
}

TEST(Score, IsWhatTheModelGivesItsOwnAnswer) {
  const ScratchFolder s;
  const Ended told = run("echo '3 May 1998' | " + program + " predict " + dates() +
                         " --scores --length-penalty 0");
  const auto tab = told.out.find('\t');
  ASSERT_NE(tab, std::string::npos) << told.out;
  const std::string answer = told.out.substr(0, tab);
  const double likely = std::stod(told.out.substr(tab + 1));
  const std::string file = s.write("pairs.tsv", "3 May 1998\t" + answer + "\n");
  const json one = json::parse(run(program + " score " + dates() + " " + file + " --json").out);
  EXPECT_NEAR(one["log_probability"].get<double>(), likely, 1e-3);
  double sum = 0;
  for (const json& token : one["tokens"]) sum += token["log_probability"].get<double>();
  EXPECT_NEAR(sum, likely, 1e-3);
  EXPECT_NEAR(one["perplexity"].get<double>(),
              std::exp(-sum / static_cast<double>(one["tokens"].size())), 1e-3);
  const auto tokens = lines_of(run(program + " score " + dates() + " " + file + " --tokens").out);
  EXPECT_EQ(tokens.size(), one["tokens"].size());
}

TEST(Score, ABadLineCostsNoOtherItsScore) {
  const ScratchFolder s;
  const std::string good = "3 May 1998\t1998-05-03\n",
                    file = s.write("pairs.tsv", good + "no answer to this\n" + good);
  const std::string words = program + " score " + dates() + " " + file;
  const auto lines = lines_of(run(words).out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], lines[1]);
  const Ended loud = run(words, true);
  EXPECT_EQ(loud.exit, 1);
  EXPECT_NE(loud.out.find("fovea: " + file + ":2: score: needs a source, a tab"), std::string::npos)
      << loud.out;
  EXPECT_NE(loud.out.find("fovea: 1 line could not be scored\n"), std::string::npos) << loud.out;
}

// Of the line of JSON that scoring this one line prints: of its tokens the sum.
double sum_of(const json& scored) {
  double sum = 0;
  for (const json& token : scored["tokens"]) sum += token["log_probability"].get<double>();
  return sum;
}

TEST(Score, OfALanguageModelIsWhatEvalMeasures) {
  const ScratchFolder s;
  // An empty line before it: a line is scored as one that stands behind another.
  const std::string text = "May 3 = 1998", line = s.write("line", text + "\n"),
                    file = s.write("file", "\n" + text + "\n");
  for (const auto& [kind, last] : {std::pair{"chars", "\n"}, {"words", "(end)"}}) {
    const std::string to = s.path() + "/" + kind;
    ASSERT_EQ(run(program + " train lm --data builtin:dates --examples 100 --width 16 --heads 2 " +
                  "--context 4 --steps 5 --tokens " + kind + " --out " + to)
                  .exit,
              0);
    const std::string words = program + " score " + to + " " + line;
    const json scored = json::parse(run(words + " --json").out);
    const auto n = static_cast<double>(scored["tokens"].size());
    EXPECT_EQ(n, kind == std::string("chars") ? 13 : 5) << "and the end: " << scored;
    EXPECT_EQ(scored["tokens"].back()["token"], last);
    for (const json& token : scored["tokens"]) EXPECT_LT(token["log_probability"], 0);
    EXPECT_NEAR(scored["log_probability"].get<double>(), sum_of(scored), 1e-6);
    EXPECT_NEAR(scored["perplexity"].get<double>(), std::exp(-sum_of(scored) / n), 1e-6);
    const json measured =
        json::parse(run(program + " eval " + to + " --data " + file + " --json").out)["metrics"];
    EXPECT_NEAR(measured["perplexity"].get<double>() / scored["perplexity"].get<double>(), 1, 1e-5);
    const auto lines = lines_of(run(words + " --tokens").out);
    ASSERT_EQ(static_cast<double>(lines.size()), n);
    const std::string first = scored["tokens"][0]["token"];
    EXPECT_TRUE(lines[0].starts_with("1\t" + first + "\t-")) << lines[0];
    const std::string whole = run(words).out;  // log-probability, tokens, perplexity
    EXPECT_NE(whole.find("\t" + std::to_string(scored["tokens"].size()) + "\t"), whole.npos);
    EXPECT_NEAR(std::stod(whole), sum_of(scored), 1e-3);
  }
}

TEST(Score, OfAMaskedModelHidesEveryTokenInTurn) {
  const ScratchFolder s;
  const std::string to = s.path() + "/mlm";
  ASSERT_EQ(run(program + " train mlm --data builtin:tags --examples 100 --width 16 --heads 2 " +
                "--steps 5 --out " + to)
                .exit,
            0);
  // What the model itself would put there.
  const json filled = json::parse(
      run("echo 'the old [MASK] can watch' | " + program + " predict " + to + " --json").out);
  const std::string answer = filled["answer"];
  const std::string line = s.write("line", answer + "\n"),
                    words = program + " score " + to + " " + line;
  const json scored = json::parse(run(words + " --json").out);
  ASSERT_EQ(scored["tokens"].size(), 5u) << scored;
  EXPECT_EQ(scored["tokens"][2]["token"], filled["tokens"][0]["text"]);
  EXPECT_NEAR(scored["tokens"][2]["log_probability"].get<double>(),
              filled["tokens"][0]["log_probability"].get<double>(), 1e-4);
  for (const json& token : scored["tokens"]) EXPECT_LT(token["log_probability"], 0);
  EXPECT_NEAR(scored["log_probability"].get<double>(), sum_of(scored), 1e-6);
  EXPECT_NEAR(scored["perplexity"].get<double>(), std::exp(-sum_of(scored) / 5), 1e-6);
  EXPECT_EQ(lines_of(run(words + " --tokens").out).size(), 5u);
}

TEST(AttendOver, IsATableJsonAndAPage) {
  const ScratchFolder s;
  const std::string file = s.write("some.tsv", "3 May 1998\t1998-05-03\n4 June 1999\t1999-06-04\n"),
                    links = s.write("links", "0-9 2-6\n0-9\n"),
                    words = program + " attend " + dates() + " --over " + file;
  const Ended table = run(words + " --alignment " + links);
  ASSERT_EQ(table.exit, 0) << table.out;
  for (const char* part : {"entropy", "distance", "first", "same", "next", "special", "agrees",
                           "encoder/1/self head 2", "decoder/1/cross head 1"}) {
    EXPECT_NE(table.out.find(part), std::string::npos) << part << "\n" << table.out;
  }
  for (const std::string& line : lines_of(table.out)) {
    EXPECT_LE(count_code_points(line), 80) << line;
  }
  const json seen = json::parse(run(words + " --json").out);
  EXPECT_EQ(seen["examples"], 2);
  ASSERT_EQ(seen["heads"].size(), 6u);
  for (const json& head : seen["heads"]) {
    EXPECT_GE(head["entropy"].get<double>(), 0);
    EXPECT_LE(head["first"].get<double>(), 1);
  }
  const std::string page = s.path() + "/page.html", same = s.path() + "/same.json";
  ASSERT_EQ(run(words + " --out " + page + " --out " + same).exit, 0);
  EXPECT_EQ(json::parse(std::ifstream(same)), seen);
  std::ifstream html(page);
  const std::string text((std::istreambuf_iterator<char>(html)), {});
  EXPECT_NE(text.find("decoder/1/cross head 2"), std::string::npos);
}

TEST(Attend, LongTextsAreSummarised) {
  const ScratchFolder s;
  const std::string to = s.path() + "/long";
  ASSERT_EQ(
      run(program + " train classify --data builtin:sentiment --model transformer --layers 1" +
          " --heads 1 --width 8 --longest 4000 --examples 60 --steps 1 --out " + to)
          .exit,
      0);
  const auto map = [&](int words) {
    std::string text;
    for (int i = 0; i < words; ++i) text += "good ";
    const Ended ended = run(program + " attend " + to + " '" + text + "' --json");
    EXPECT_EQ(ended.exit, 0) << ended.out;
    return json::parse(ended.out)["maps"][0]["weights"];
  };
  EXPECT_EQ(map(30).size(), 30u);
  EXPECT_EQ(map(2001).size(), 64u) << "of blocks of queries and keys";
}

TEST(Bench, MeasuresEveryEntryOfTheCatalogue) {
  for (const Entry& entry : catalog()) {
    const std::string option = entry.kind == Entry::Kind::score       ? "--score "
                               : entry.kind == Entry::Kind::efficient ? "--attention "
                               : entry.kind == Entry::Kind::alignment ? "--align "
                               : entry.kind == Entry::Kind::position  ? "--position "
                               : entry.kind == Entry::Kind::query     ? "--query "
                                                                      : "--feature ";
    // What asks once for each input has no heads, but capsules are as many.
    const bool heads = !entry.features || entry.name == "capsules";
    const Ended ended = run(no_leak_check + program +
                                " bench attention --json --seconds 0.001 --keys 8 --features 8 " +
                                (heads ? "--heads 2 " : "") + option + entry.name,
                            true);
    ASSERT_EQ(ended.exit, 0) << entry.name << "\n" << ended.out;
    const json rows = json::parse(ended.out);
    ASSERT_EQ(rows.size(), 2u) << ended.out;  // forward, and with backward
    EXPECT_GT(rows[1]["ratio"].get<double>(), 0) << entry.name;
  }
}

TEST(Bench, MeasuresAsTheReadmeSays) {
  const Ended ended = run(no_leak_check + program +
                          " bench attention --score additive --align entmax --keys 512 --heads 4 "
                          "--causal --json --seconds 0.001");
  ASSERT_EQ(ended.exit, 0) << ended.out;
  const json rows = json::parse(ended.out);
  ASSERT_EQ(rows.size(), 2u) << ended.out;
  EXPECT_EQ(rows[0]["name"], "forward, additive entmax");
  EXPECT_EQ(rows[1]["name"], "forward+backward, additive entmax");
  for (const json& row : rows) EXPECT_GT(row["ratio"].get<double>(), 0);
}

TEST(Bench, SaysThatNoCaseIsCalledSo) {
  expect_refused("bench attention --only nosuch --seconds 0.001", 2,
                 "bench: no case has 'nosuch' in its name");
}

TEST(Bench, RefusesWhatIsNotRead) {
  const auto refused = [](const std::string& words, const std::string& option,
                          const std::string& read) {
    expect_refused("bench " + words + " --seconds 0.001", 2,
                   "bench: option '" + option +
                       "' is not read by what is measured; it reads: " + read + "seconds, json");
  };
  const std::string scale = "size, ranks, network, ",
                    sizes = "keys, features, batch, heads, queries, causal, only, ",
                    of_pooling = "keys, features, batch, only, ";
  refused("scale --score additive --keys 7", "score", scale);
  refused("scale --keys 7", "keys", scale);
  refused("scale --causal", "causal", scale);
  refused("scale --only forward", "only", scale);
  refused("attention --ranks 3", "ranks", "only, ");
  refused("attention --network 1gbit,1ms", "network", "only, ");
  refused("attention --size 2x8 --keys 7", "size", "score, align, query, position, " + sizes);
  refused("attention --align softmax --alpha 1.3", "alpha",
          "score, align, query, position, " + sizes);
  refused("attention --attention window --landmarks 3", "landmarks",
          "window, global_tokens, attention, keys, features, batch, heads, causal, only, ");
  refused("attention --feature parallel --hops 3", "hops",
          "score, align, pooled, feature, " + of_pooling);
  refused("attention --feature alternating --heads 3", "heads",
          "score, align, feature, " + of_pooling);
  refused("attention --position memory --heads 3", "heads", "position, " + of_pooling);
  refused("attention --position memory --score dot", "score", "position, " + of_pooling);
  refused("attention --query capsules --position rotary", "position",
          "align, query, heads, " + of_pooling);
  expect_refused("bench attention --attention nystrom --causal", 2,
                 "bench: 'nystrom' has no causal form");
  expect_refused("bench attention --position alibi --query multi_head", 2,
                 "bench: 'alibi' goes by distances, which the query 'multi_head' does not read; "
                 "give sinusoidal, learned or rotary");
}

TEST(FullDisk, EndsEveryAnswerWithASentence) {
  const ScratchFolder s;
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "3 May 1998\n";
  const std::string file = s.write("lines", text);
  const std::string full = "fovea: stdout: cannot be written: No space left on device\n";
  for (const std::string& words : {"predict " + dates() + " < " + file, std::string("list"),
                                   std::string("list --json"), "attend " + dates() + " 3 --json"}) {
    const Ended ended = run("sh -c '" + program + " " + words + " > /dev/full'", true);
    EXPECT_EQ(ended.exit, 1) << words;
    EXPECT_EQ(ended.out, full) << words;
  }
}

TEST(Folders, ThatCannotBeMadeAreOneSentence) {
  const ScratchFolder s;
  const std::string file = s.write("file", "x");
  const std::string train =
                        "train classify --data builtin:sentiment --examples 60 --steps 1 --out ",
                    compare =
                        "compare classify --data builtin:sentiment --vary score=none,dot --steps 1 "
                        "--out ";
  for (const std::string& words : {train + file + "/x", compare + file + "/x"}) {
    const Ended ended = run(program + " " + words, true);
    EXPECT_EQ(ended.exit, 1) << words;
    EXPECT_NE(ended.out.find("fovea: cannot make the folder '" + file + "/x': Not a directory\n"),
              std::string::npos)
        << ended.out;
  }
}

}  // namespace
}  // namespace fovea::test
