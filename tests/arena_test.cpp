// Long sequences: generated data, --attention in models, and the arena.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "fovea/data/builtin.h"
#include "fovea/model/table.h"
#include "support/layer.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

// One sentence that has these words, and that exit code.
void expect_refused_with(const std::string& words, int exit, const std::string& part) {
  const Ended loud = run(program + " " + words, true);
  EXPECT_EQ(loud.exit, exit) << words;
  EXPECT_NE(loud.out.find(part), std::string::npos) << loud.out;
  EXPECT_EQ(std::ranges::count(loud.out, '\n'), 1) << loud.out;
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The value of an expression, worked out again in another way: from the inside.
int value_of(std::istringstream& in) {
  std::string token;
  in >> token;
  if (token[0] != '[') return std::stoi(token);
  std::vector<int> values;
  for (;;) {
    const auto at = in.tellg();
    std::string next;
    in >> next;
    if (next == "]") break;
    in.seekg(at);
    values.push_back(value_of(in));
  }
  std::ranges::sort(values);
  const size_t n = values.size();
  EXPECT_GE(n, 2u);
  EXPECT_LE(n, 10u);
  if (token == "[MIN") return values.front();
  if (token == "[MAX") return values.back();
  if (token == "[MED") return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  int sum = 0;
  for (int x : values) sum += x;
  return sum % 10;
}

TEST(ListOps, LabelsAreTheValues) {
  for (const Labelled& one : generate_listops(200, 30, 90, Random(3))) {
    std::istringstream in(one.text);
    EXPECT_EQ(std::to_string(value_of(in)), one.label) << one.text;
    const auto tokens = std::ranges::count(one.text, ' ') + 1;
    EXPECT_GE(tokens, 30);
    EXPECT_LE(tokens, 90);
  }
  EXPECT_THROW(generate_listops(1, 90, 30, Random(3)), Error);
}

// Dots that a path joins: walks over ink, dashes apart by no more than a step.
bool joined(const std::string& picture, int side) {
  std::vector<int> dots, parent(picture.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&](int i) {
    while (parent[static_cast<size_t>(i)] != i) i = parent[static_cast<size_t>(i)];
    return i;
  };
  for (int a = 0; a < side * side; ++a) {
    if (picture[static_cast<size_t>(a)] == '.') continue;
    if (picture[static_cast<size_t>(a)] == 'f') dots.push_back(a);
    for (int dy = 0; dy <= 2; ++dy) {
      for (int dx = -2; dx <= 2; ++dx) {
        const int y = a / side + dy, x = a % side + dx;
        if (y >= side || x < 0 || x >= side) continue;
        const int b = y * side + x;
        if (picture[static_cast<size_t>(b)] != '.') parent[static_cast<size_t>(find(a))] = find(b);
      }
    }
  }
  return find(dots.front()) == find(dots.back());
}

TEST(Pathfinder, LabelsSayWhetherAPathJoinsTheDots) {
  int right = 0, yes = 0;
  constexpr int count = 100, side = 32;
  for (const Labelled& one : generate_pathfinder(count, side, Random(3))) {
    ASSERT_EQ(one.text.size(), static_cast<size_t>(side * side));
    EXPECT_EQ(one.text.find_first_not_of(".123456789abcdef"), one.text.npos);
    right += joined(one.text, side) == (one.label == "yes");
    yes += one.label == "yes";
  }
  EXPECT_GE(right, 95) << "paths may pass closely";
  EXPECT_GT(yes, 30);
  EXPECT_LT(yes, 70);
}

TEST(Documents, AreAboutTheSameOrNot) {
  int same = 0;
  for (const TextPair& one : generate_documents(50, 300, Random(3))) {
    EXPECT_GE(one.first.size(), 300u);
    EXPECT_LT(one.first.size(), 320u);
    same += one.label == "yes";
  }
  EXPECT_GT(same, 10);
  EXPECT_LT(same, 40);
}

TEST(TransformerPair, GradientsAreThoseOfDifferences) {
  Parameters table(3, Dtype::f64);
  const auto model = make_model<Scorer>(
      find_model("transformer", Takes::pair, Gives::label), table,
      {.vocabulary = 7, .labels = 2, .longest = 8},
      {{"width", "4"}, {"heads", "2"}, {"attention", "nystrom"}, {"landmarks", "2"}});
  ModelInputs in;
  in.text = sequences_of(std::vector<std::vector<int32_t>>{{1, 2, 3, 4}, {5}});
  in.second = sequences_of(std::vector<std::vector<int32_t>>{{6, 2}, {1, 1, 4}});
  const Tensor wanted = Tensor::ids({2}, {1, 0});
  const Function f = [&](const std::vector<Tensor>&) { return model->loss(in, wanted, 0); };
  EXPECT_LT(gradient_error(f, {}, table), 1e-5);
}

TEST(Arena, RunsItsTableAndMakesItsPage) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/arena";
  const std::string words = "arena --tasks listops,retrieval --attention full,linear --out " +
                            folder + " --steps 3 --set width=16 --set heads=2 --set layers=1" +
                            " --set batch=8 --set examples=60 --set longest=100 ";
  const Ended ran = run(program + " " + words + "--json");
  ASSERT_EQ(ran.exit, 0) << ran.out;
  const auto all = nlohmann::json::parse(ran.out);
  ASSERT_EQ(all["choices"].size(), 2u);
  for (const auto& choice : all["choices"]) {
    const double a = choice["metrics"]["listops"]["mean"],
                 b = choice["metrics"]["retrieval"]["mean"];
    EXPECT_NEAR(choice["metrics"]["accuracy"]["mean"], (a + b) / 2, 1e-9);
    EXPECT_GT(choice["step_ms"], 0);
    EXPECT_GT(choice["peak_mb"], 0);
  }
  const std::string page = text_of_file(folder + "/report.html");
  EXPECT_NE(page.find("cost_section"), page.npos);
  // The command on it is the whole one.
  EXPECT_NE(all["command"].get<std::string>().find("--steps 3 --set width=16"), std::string::npos);
  EXPECT_EQ(all["budget"], "3 steps or 20m each");
  // Another budget is another table: the one of before is not shown for it.
  const Ended other =
      run(program + " arena --tasks listops --attention full,linear --steps 5 --set " +
              "width=16 --set heads=2 --set layers=1 --set batch=8 --set examples=60 " +
              "--set longest=100 --out " + folder,
          true);
  EXPECT_EQ(other.exit, 1) << other.out;
  EXPECT_NE(other.out.find("other settings"), std::string::npos) << other.out;
  expect_refused_with("arena --tasks lists --out " + folder, 2,
                      "unknown task of the arena 'lists'");
  expect_refused_with("arena --attention ful --out " + folder, 2, "did you mean 'full'?");
  expect_refused_with("arena --dev text=a.tsv --out " + folder, 2, "say --data text=FILE too");
}

TEST(AttentionOption, IsReadWhereAModelHasIt) {
  const std::string train = "train classify --data builtin:sentiment --model transformer ";
  expect_refused_with(train + "--attention window --rank 4", 2, "option 'rank' is not read");
  expect_refused_with(train + "--attention linear --attention-dropout 0.1", 2,
                      "option 'attention_dropout' is not read");
  expect_refused_with(train + "--attention linear --score dot", 2, "option 'score' is not read");
  expect_refused_with(train + "--attention linaer", 2, "did you mean 'linear'?");
  expect_refused_with(train + "--attention linear --position alibi --steps 1", 1,
                      "positions that go by distances");
  const ScratchFolder scratch;
  const std::string text = scratch.write("t.txt", std::string(2000, 'a') + "\n");
  expect_refused_with("train lm --data " + text + " --attention nystrom", 2,
                      "unknown attention 'nystrom'");
  const std::string folder = scratch.path() + "/vary";
  const Ended compared =
      run(program + " compare classify --data builtin:sentiment --model transformer" +
          " --vary attention=full,window,linear --maps 1 --out " + folder + " --json --steps 3" +
          " --width 16 --heads 2 --examples 100");
  ASSERT_EQ(compared.exit, 0) << compared.out;
  const auto page = nlohmann::json::parse(compared.out);
  EXPECT_EQ(page["choices"].size(), 3u);
  EXPECT_EQ(page["examples"][0]["choices"].size(), 3u) << "each shows where it looks";
}

}  // namespace
}  // namespace fovea::test
