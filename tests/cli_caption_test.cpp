// caption and ask as a person meets them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fovea/data/picture_words.h"
#include "fovea/report/picture_map.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

using nlohmann::json;

const std::string tiny = " --stages 2 --channels 4 --width 12 --batch 8 ";

// A few scenes as PNG files, with a table that names them.
std::string scenes_in(const ScratchFolder& folder, int n, const std::string& header,
                      const std::function<std::string(int)>& rest) {
  std::string table = header + "\n";
  for (int i = 0; i < n; ++i) {
    const std::string name = "p" + std::to_string(i) + ".png";
    folder.write(name, encode_png(*picture_called("builtin:scenes#" + std::to_string(i))));
    table += name + "\t" + rest(i) + "\n";
  }
  return folder.write("table.tsv", table);
}

TEST(Caption, LearnsFromFilesAnswersAndShows) {
  const ScratchFolder folder;
  const auto all = generate_scenes(24, builtin_stream("scenes"));
  // Two captions of each picture: both count, and neither is learned from while the other tests.
  std::string table = "image\tcaption\n";
  for (int i = 0; i < 24; ++i) {
    const std::string name = "p" + std::to_string(i) + ".png";
    folder.write(name, encode_png(*all[static_cast<size_t>(i)].pictures[0]));
    table += name + "\t" + all[static_cast<size_t>(i)].caption + "\n" + name + "\tsome things\n";
  }
  const std::string data = folder.write("table.tsv", table), out = folder.path() + "/run";
  const Ended trained =
      run(program + " train caption --data " + data + tiny +
          "--model soft --size 24 --steps 4 --test-part 0.25 --json --out " + out);
  ASSERT_EQ(trained.exit, 0) << trained.out;
  const json test = json::parse(trained.out)["test"];
  for (const char* metric : {"cider_d", "exact_match", "bleu_1", "bleu_2", "bleu_3", "bleu_4"}) {
    EXPECT_TRUE(test.contains(metric)) << test;
  }
  EXPECT_FALSE(test.contains("pointing")) << "nobody knows where the words of a file are";
  const Ended measured = run(program + " eval " + out + " --json");
  ASSERT_EQ(measured.exit, 0);
  EXPECT_EQ(json::parse(measured.out)["metrics"], test);
  const std::string picture = folder.path() + "/p3.png";
  const Ended answered = run("printf '" + picture + "\\nnowhere.png\\nbuiltin:scenes#7\\n' | " +
                             program + " predict " + out + " --beam 2 --json");
  EXPECT_EQ(answered.exit, 1) << "one of three could not be answered";
  std::istringstream lines(answered.out);
  std::vector<json> objects;
  for (std::string line; std::getline(lines, line);) objects.push_back(json::parse(line));
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_TRUE(objects[0].contains("answer")) << objects[0];
  EXPECT_NE(objects[1]["error"].get<std::string>().find("there is no such picture"),
            std::string::npos);
  const Ended shown = run(program + " attend " + out + " " + picture + " --json");
  ASSERT_EQ(shown.exit, 0);
  const json map = json::parse(shown.out)["maps"][0];
  EXPECT_EQ(map["ground"]["rows"], 6);
  EXPECT_EQ(map["ground"]["pictures"][0]["width"], 24);
  EXPECT_EQ(map["keys"].size(), 36u);
  const Ended coloured = run(program + " attend " + out + " " + picture + " --colour");
  EXPECT_NE(coloured.out.find("▀"), std::string::npos);
  EXPECT_EQ(run(program + " info " + out).exit, 0);
}

TEST(Caption, FilmsAreTakenWhereAColumnNamesFrames) {
  const ScratchFolder folder;
  std::string lines;
  for (int i = 0; i < 12; ++i) {
    const Captioned film = film_number(builtin_stream("moving"), i);
    json frames = json::array();
    for (size_t f = 0; f < 3 + (i % 2u);
         ++f) {  // films of other lengths are brought to the first's
      const std::string name = "f" + std::to_string(i) + "_" + std::to_string(f) + ".png";
      folder.write(name, encode_png(*film.pictures[2 * f]));
      frames.push_back(name);
    }
    lines += json{{"frames", frames}, {"caption", film.caption}}.dump() + "\n";
  }
  const std::string data = folder.write("films.jsonl", lines), out = folder.path() + "/run";
  const Ended trained =
      run(program + " train caption --data " + data + tiny + "--steps 3 --json --out " + out, true);
  ASSERT_EQ(trained.exit, 0) << trained.out;
  const std::string film = folder.path() + "/f0_0.png " + folder.path() + "/f0_1.png";
  const Ended shown = run(program + " attend " + out + " '" + film + "' --json");
  ASSERT_EQ(shown.exit, 0);
  EXPECT_EQ(json::parse(shown.out)["maps"][0]["ground"]["pictures"].size(), 3u);
}

TEST(Ask, LearnsFromFilesAnswersAndShows) {
  const ScratchFolder folder;
  const auto all = generate_scene_questions(40, builtin_stream("scenes"));
  const std::string data = scenes_in(folder, 40, "picture\tquestion\tanswer", [&](int i) {
    const auto& q = all[static_cast<size_t>(i)];
    return q.question + "\t" + q.answer;
  });
  const std::string out = folder.path() + "/run";
  const Ended trained =
      run(program + " train ask --data " + data + tiny + "--size 24 --steps 4 --json --out " + out);
  ASSERT_EQ(trained.exit, 0) << trained.out;
  EXPECT_TRUE(json::parse(trained.out)["test"].contains("accuracy"));
  const std::string asked = folder.path() + "/p3.png\\twhat is red ?";
  const Ended answered =
      run("printf '" + asked + "\\n' | " + program + " predict " + out + " --json");
  ASSERT_EQ(answered.exit, 0);
  EXPECT_TRUE(json::parse(answered.out).contains("probabilities")) << answered.out;
  const Ended shown = run(program + " attend " + out + " \"$(printf '" + asked + "')\" --json");
  ASSERT_EQ(shown.exit, 0);
  int over_pictures = 0, over_words = 0;
  const json drawing = json::parse(shown.out);
  for (const json& map : drawing["maps"]) {
    ++(map.contains("ground") ? over_pictures : over_words);
  }
  EXPECT_EQ(over_pictures, 6) << "at each level attention, and the affinity of words and regions";
  EXPECT_EQ(over_words, 3);
  const Ended alone = run("echo p3.png | " + program + " predict " + out, true);
  EXPECT_EQ(alone.exit, 1);
  EXPECT_NE(alone.out.find("ask: needs a picture, a tab and a question, got 'p3.png'"),
            std::string::npos)
      << alone.out;
}

// Every wrong file gets one sentence that names it and the line.
TEST(Caption, BadInputGetsOneSentence) {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& task, const std::string& table,
                           const std::string& says, const std::string& more = "") {
    const std::string data = folder.write("t.tsv", table);
    const Ended ended = run(program + " train " + task + " --data " + data + tiny + more +
                                "--steps 1 --out " + folder.path() + "/x",
                            true);
    EXPECT_NE(ended.exit, 0) << table;
    EXPECT_NE(ended.out.find(says), std::string::npos) << ended.out;
    EXPECT_EQ(ended.out.find("std::"), std::string::npos) << ended.out;
  };
  folder.write("a.png", encode_png(*picture_called("builtin:scenes#0")));
  folder.write("dot.png", encode_png({1, 1, 3, {9, 9, 9}}));
  folder.write("broken.png", encode_png(*picture_called("builtin:scenes#0")).substr(0, 60));
  refused("caption", "picture\tcaption\na.png\tred\nmissing.png\tblue\n", "t.tsv:3: ");
  refused("caption", "picture\tcaption\na.png\tred\nbroken.png\tblue\n", "t.tsv:3: ");
  refused("caption", "picture\tcaption\na.png\tred\na.png\t\n", "t.tsv:3: ");
  refused("ask", "picture\tquestion\tanswer\na.png\tred ?\tyes\n\tblue ?\tno\n", "t.tsv:3: ");
  std::string dots = "picture\tcaption\n";
  for (int i = 0; i < 12; ++i) dots += "dot.png\tred\n";
  refused("caption", dots, "stages: pictures of 1 x 1 pixels can be halved 0 times, not 2");
  refused("caption --model hard --align entmax", "picture\tcaption\na.png\tred\n",
          "option 'align' is not read by the model hard");
}

// The SHAPES set as it is, where it is there.
TEST(Ask, ReadsTheShapesFolder) {
  const std::string shapes = shared_data("shapes_vqa");
  if (shapes.empty()) GTEST_SKIP() << "the SHAPES set is not there";
  const ShapesFolder folder = shapes_folder(shapes);
  EXPECT_TRUE(folder.train.ends_with("train.small"));
  const auto train = read_picture_questions(shapes, {});
  EXPECT_EQ(train.size(), 640u);
  EXPECT_EQ(train[0].question, "is a green shape left of a red shape");
  EXPECT_EQ(train[0].answer, "false");
  EXPECT_EQ(train[0].picture->height, 30);
  EXPECT_EQ(read_picture_questions(folder.test, {}).size(), 1024u);
}

}  // namespace
}  // namespace fovea::test
