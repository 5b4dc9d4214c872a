// Pairs of texts, and texts with records, as their task numbers, measures and keeps them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fovea/task/solver.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

// Learned for a step in a folder; small.
std::string trained(const ScratchFolder& scratch, const std::string& name, Settings settings,
                    const std::string& task = "pair") {
  for (const auto& [option, text] : Settings{{"embed", "6"}, {"width", "6"}, {"steps", "2"}}) {
    if (!settings.has(option)) settings.set(option, text);
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
  for (const auto& [first, second] :
       {std::pair<std::string, std::string>{"", "anna live"}, {"anna live", ""}}) {
    const auto score = [&](const std::string& text) {
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

}  // namespace
}  // namespace fovea::test
