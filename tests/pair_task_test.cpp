// Pairs of texts, and texts with records, as their task numbers, measures and keeps them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fovea/base/utf8.h"
#include "fovea/task/solver.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

// Learned for a step in a folder; small.
std::string trained(const ScratchFolder& scratch, const std::string& name, Settings settings,
                    const std::string& task = "pair") {
  for (const auto& [option, text] : Settings{{"embed", "6"}, {"width", "6"}, {"steps", "2"}}) {
    const bool by_vectors = option == "embed" && settings.has("vectors");
    if (!settings.has(option) && !by_vectors) settings.set(option, text);
  }
  const std::string folder = scratch.path() + "/" + name;
  const auto solver = begin_run(make_config(find_task(task), settings), folder, false);
  TrainCall call;
  call.options = solver->config();
  call.folder = folder;
  train(*solver, call);
  return folder;
}

const Settings answers{{"data", "builtin:answers"}, {"examples", "60"}};

// What a text that is cut keeps, with its marks: the beginning and the end.
TEST(PairTask, MarksStayWithTheirTokensWhereATextIsCut) {
  const ScratchFolder scratch;
  Settings settings = answers;
  settings.set("longest", "4");
  const auto solver = open_solver(trained(scratch, "cut", settings));
  ASSERT_EQ(solver->config().settings.get("match"), "true");
  const std::string with_middle = "where does in may in may anna live",
                    without = "where does anna live";
  for (const auto& other :
       {std::pair<std::string, std::string>{"", "anna live"}, {"anna live", ""}}) {
    const auto score = [&](const std::string& text) {
      const auto& [first, second] = other;
      const std::string line = first.empty() ? text + "\t" + second : first + "\t" + text;
      return solver->predict({line})[0][0].score;
    };
    EXPECT_EQ(score(with_middle), score(without)) << "the same tokens, of which two are shared";
  }
}

// Models that were saved before there was `match` read no marks.
TEST(PairTask, AFolderFromBeforeThereWereMarksOpens) {
  const ScratchFolder scratch;
  for (const char* model : {"interactive", "siamese", "wide"}) {
    Settings settings = answers;
    settings.set("model", model);
    if (std::string(model) != "siamese") settings.set("match", "false");
    const std::string folder = trained(scratch, model, settings), path = folder + "/config.json";
    const std::vector<std::string> line{"where does anna live ?\tanna lives in rome ."};
    const double before = open_solver(folder)->predict(line)[0][0].score;
    std::ifstream file(path);
    auto json = nlohmann::json::parse(file);
    json["options"].erase("match");
    scratch.write(std::string(model) + "/config.json", json.dump());
    const auto opened = open_solver(folder);
    EXPECT_NE(opened->config().settings.get("match"), "true");
    EXPECT_EQ(opened->predict(line)[0][0].score, before);
  }
}

// Rows of a note with its record; every third is without an age.
std::string notes(int from, int to, const std::string& more = "") {
  std::string text = "age,pulse,label,note\n" + more;
  for (int i = from; i < to; ++i) {
    text += say(i % 3 ? std::to_string(20 + i) : "", ",", 60 + i, ",", i % 2 ? "ill" : "well",
                ",came in for ", i, " days with a cough\n");
  }
  return text;
}

TEST(PairTask, TheFirstFileTellsWhatTheOthersAre) {
  const ScratchFolder scratch;
  std::string pairs = "label,one,two\n", dev = pairs;
  for (int i = 0; i < 30; ++i) {
    const std::string first = say(i % 2 ? "yes," : "no,", "go to ", i, ",");
    pairs += first + say("come from ", i, "\n");
    dev += first + say(i * 7, "\n");  // by itself it would be taken for texts with numbers
  }
  const Settings settings{{"data", scratch.write("pairs.csv", pairs)},
                          {"dev", scratch.write("dev.csv", dev)}};
  EXPECT_NO_THROW(trained(scratch, "run", settings));
  // A few rows alone would not be told from pairs.
  const Settings records{{"data", scratch.write("notes.csv", notes(0, 40))},
                         {"dev", scratch.write("few.csv", notes(0, 4))}};
  EXPECT_NO_THROW(trained(scratch, "records", records));
}

TEST(PairTask, NumbersAreScaledByWhatIsLearnedFrom) {
  const ScratchFolder scratch;
  const auto scale_of = [&](const std::string& name, const std::string& dev) {
    const Settings settings{{"data", scratch.write("notes.csv", notes(0, 40))},
                            {"dev", scratch.write("dev.csv", dev)},
                            {"test_part", "0.5"}};
    std::ifstream file(trained(scratch, name, settings) + "/record.json");
    return nlohmann::json::parse(file);
  };
  const auto one = scale_of("one", notes(0, 10)), other = scale_of("other", notes(5'000, 5'010));
  EXPECT_EQ(one, other);
  const double of_all = 60 + 39 / 2.0;
  EXPECT_NE(one["center"][1].get<double>(), of_all) << "half of them are tested on";
}

TEST(PairTask, NumbersThatCannotBeScaledAreNamed) {
  const ScratchFolder scratch;
  const Settings settings{
      {"data", scratch.write("notes.csv", notes(0, 40, "1e308,70,ill,came in today\n"))},
      {"dev", scratch.write("dev.csv", notes(0, 10))},
      {"test", scratch.path() + "/dev.csv"}};
  const std::string said = error_of([&] {
    trained(scratch, "run", settings);
    open_solver(scratch.path() + "/run");
  });
  EXPECT_NE(said.find("numbers of 'age' are too large to be scaled"), std::string::npos) << said;
}

TEST(PairTask, CandidatesAreRankedHoweverTheLabelIsWritten) {
  const ScratchFolder scratch;
  for (const auto& [yes, no] :
       {std::pair<std::string, std::string>{"True", "False"}, {"YES", "NO"}, {"1", "0"}}) {
    std::string text = "label\ta\tb\n";
    for (int i = 0; i < 60; ++i) {
      text += say(i % 3 ? no : yes, "\twhere is ", i / 3, " ?\tit is at ", i, " .\n");
    }
    const Settings settings{{"data", scratch.write("qa.tsv", text)}};
    const auto metrics =
        open_solver(trained(scratch, "run_" + yes, settings))->evaluate("test").values();
    EXPECT_TRUE(std::ranges::any_of(metrics, [](const auto& m) { return m.name == "map"; })) << yes;
  }
}

TEST(PairTask, WithoutTokensThereIsNothingToShow) {
  const ScratchFolder scratch;
  const auto solver = open_solver(trained(scratch, "run", answers));
  const auto refusal = [&](const std::string& line) {
    return error_of([&] { solver->attend(line); });
  };
  EXPECT_EQ(refusal("\tfoo bar"), "attend: the first text has no tokens");
  EXPECT_EQ(refusal("foo\t "), "attend: the second text has no tokens");
  EXPECT_EQ(refusal("foo\tbar"), "");
}

const Settings phrases{{"data", "builtin:aspects"}, {"examples", "60"}};

TEST(AspectTask, WhatHasNoTokensIsRefused) {
  const ScratchFolder scratch;
  for (const char* model : {"interactive", "rotatory"}) {
    Settings settings = phrases;
    settings.set("model", model);
    const auto solver = open_solver(trained(scratch, model, settings, "aspect"));
    const std::string wide = "\xE3\x80\x80";
    for (const std::string& line : {wide + "\t" + wide, "good" + wide + "\t" + wide}) {
      for (const std::string& said :
           {error_of([&] { solver->attend(line); }), error_of([&] { solver->predict({line}); })}) {
        EXPECT_NE(said.find("the phrase is blank"), std::string::npos) << said;
      }
    }
    const std::string sign = "\x01";  // not blank, and yet no token
    EXPECT_NO_THROW(solver->predict({sign + "\t" + sign}));
    const std::string said = error_of([&] { solver->attend(sign + "\t" + sign); });
    EXPECT_TRUE(said.empty() || said == "attend: the input has no tokens") << said;
  }
}

// Two sets of vectors of these words.
std::string two_sets(const ScratchFolder& scratch, const std::string& words) {
  std::string one, other;
  for (const std::string_view word : split_at_spaces(words)) {
    one += say(word, " 0.1 0.2 0.3\n"), other += say(word, " 0.4 0.5\n");
  }
  return scratch.write("one.txt", one) + "," + scratch.write("other.txt", other);
}

TEST(AspectTask, SharesOfVectorsAreOfWhatStandsThere) {
  const ScratchFolder scratch;
  Settings settings = phrases;
  settings.set({{"model", "rotatory"},
                {"whole", "false"},
                {"vectors", two_sets(scratch, "the food is good")}});
  const std::string folder = trained(scratch, "run", settings, "aspect");
  const Drawing drawing = open_solver(folder)->attend("food is good\tfood");
  std::vector<std::vector<std::string>> keys;
  for (const AttentionMap& map : drawing.maps) {
    if (map.name.starts_with("vectors")) keys.push_back(map.keys);
  }
  EXPECT_EQ(keys, (std::vector<std::vector<std::string>>{{"food"}, {"is", "good"}}));
}

TEST(VectorTask, AWordMayBeCalledAsWhatIsNoWord) {
  const ScratchFolder scratch;
  for (const char* word : {"<unk>", "<pad>"}) {
    const std::string path = scratch.write("v.txt", say("good 1 2\n", word, " 3 4\nfilm 5 6\n"));
    EXPECT_NO_THROW(trained(
        scratch, say("run", word[1]),
        {{"data", "builtin:sentiment"}, {"examples", "60"}, {"embed", "2"}, {"vectors", path}},
        "classify"));
  }
}

TEST(DocumentTask, ALongDocumentIsShownToo) {
  const ScratchFolder scratch;
  const auto solver = open_solver(trained(scratch, "run",
                                          {{"data", "builtin:sentiment"},
                                           {"examples", "60"},
                                           {"model", "hierarchical"},
                                           {"longest", "4000"}},
                                          "classify"));
  std::string text;
  for (int i = 0; i < 600; ++i) text += "The film is good. ";
  EXPECT_EQ(solver->attend(text).maps.size(), 2U);
}

}  // namespace
}  // namespace fovea::test
