// From a file of examples to a trained, measured, visible model, by the program alone.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "fovea/base/random.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int64_t lines_in(const std::string& text) { return std::ranges::count(text, '\n'); }

// As small as the model that the words name can be.
std::string small_of(const std::string& words) {
  const auto has = [&](const char* part) { return words.find(part) != std::string::npos; };
  if (has("regress")) return " ";
  if (has("qa ") || has("algorithm ") || has("ask ") || has("links ") || has("image "))
    return " --width 12 ";
  if (has("transformer") || has("lm ") || has("score scaled")) {
    return has("transformer") || has("lm ") ? " --width 12 " : " --embed 8 --width 12 ";
  }
  return has("label") ? " --embed 8 --width 12 " : " --embed 8 --width 12 --score-width 8 ";
}
const std::string small = small_of("");
const std::string reverse = " train translate --data builtin:reverse --examples 200" + small;

// A translate model that has hardly learned, made once.
const std::string& model() {
  static const ScratchFolder folder;
  static const std::string path = [] {
    const std::string to = folder.path() + "/model";
    EXPECT_EQ(run(program + reverse + "--steps 30 --out " + to).exit, 0);
    return to;
  }();
  return path;
}

TEST(Train, EveryTaskLearnsIsMeasuredAnswersAndShows) {
  const ScratchFolder scratch;
  const std::vector<std::array<std::string, 3>> tasks{
      {"translate --data builtin:dates", "March 5, 1998", "exact_match"},
      {"label --data builtin:tags --score scaled", "the old man can watch", "token_accuracy"},
      {"classify --data builtin:sentiment", "not a bad film", "accuracy"},
      {"translate --data builtin:reverse --model transformer --heads 2", "a b c", "bleu"},
      {"label --data builtin:tags --model transformer --heads 2", "the old man", "token_accuracy"},
      {"classify --data builtin:sentiment --model transformer --heads 2", "bad", "accuracy"},
      {"classify --data builtin:sentiment --model hierarchical", "bad . and good .", "accuracy"},
      {"lm --data builtin:dates --heads 2 --context 24 --length 9", "May", "perplexity"},
      {"mlm --data builtin:tags --heads 2", "the [MASK] can", "token_accuracy"},
      {"regress --data builtin:sine", "2.5", "rmse"},
      {"qa --data builtin:stories --model memn2n", "Mary went home. Where is Mary?",
       "right_answers@2"},
      {"qa --data builtin:stories --model entnet --slots 3", "Where is Mary?", "right_answers"},
      {"pair --data builtin:documents --letters-of-text 60 --model transformer --heads 2",
       "the cat\tthe dog", "accuracy"},
      {"links --data builtin:communities --model gat", "n1 n2", "auc"},
      {"algorithm --data builtin:copy --slots 6 --lengths 1-3 --test-lengths 2,4",
       "01010101 11110000", "wrong_bits@4"},
      {"algorithm --data builtin:anbn --model stack_rnn --lengths 1-3 --test-lengths 2,4", "aabb",
       "sequences@4"},
      {"image --data builtin:digits --model patches --heads 2 --patch 14", "builtin:digits#1",
       "accuracy"},
      {"algorithm --data builtin:ram-access --model nram --machine-steps 2 --lengths 5 "
       "--test-lengths 5,6",
       "1 2 3 4 0", "sequences@6"},
      {"caption --data builtin:scenes --channels 4", "builtin:scenes#5", "pointing"},
      {"caption --data builtin:scenes --channels 4 --model hard", "builtin:scenes#5", "cider_d"},
      {"caption --data builtin:moving --channels 4", "builtin:moving#5", "pointing"},
      {"ask --data builtin:scenes --channels 4 --model alternating",
       "builtin:scenes#5\twhat is red ?", "accuracy"}};
  for (const auto& [words, input, metric] : tasks) {
    SCOPED_TRACE(words);
    const std::string folder = scratch.path() + "/" + std::to_string(hash_name(words));
    const Ended trained = run(program + " train " + words + " --examples 120" + small_of(words) +
                              "--steps 12 --json --out " + folder);
    ASSERT_EQ(trained.exit, 0);
    const auto summary = nlohmann::json::parse(trained.out);
    EXPECT_TRUE(summary["test"].contains(metric)) << trained.out;
    const Ended measured = run(program + " eval " + folder + " --json");
    ASSERT_EQ(measured.exit, 0);
    EXPECT_GT(nlohmann::json::parse(measured.out)["timed_examples"], 0) << measured.out;
    EXPECT_EQ(nlohmann::json::parse(measured.out)["metrics"][metric], summary["test"][metric]);
    const Ended answers = run("printf '" + input + "\\n\\n" + input + "\\n' | " + program +
                              " predict " + folder + " --scores");
    EXPECT_EQ(answers.exit, 0);
    EXPECT_EQ(lines_in(answers.out), 3);
    EXPECT_NE(answers.out.find("\n\n"), std::string::npos) << "a blank line stays blank";
    const Ended shown = run(program + " attend " + folder + " '" + input + "' --json");
    ASSERT_EQ(shown.exit, 0);
    const auto maps = nlohmann::json::parse(shown.out)["maps"];
    ASSERT_FALSE(maps.empty());
    EXPECT_FALSE(maps[0]["weights"].empty());
  }
}

TEST(Train, AnEncoderStartsAnother) {
  const ScratchFolder s;
  const std::string same = " --heads 2 --layers 1 --model transformer --width 12 --steps 6 --out ";
  ASSERT_EQ(
      run(program + " train mlm --data builtin:tags --examples 100" + same + s.path() + "/mlm")
          .exit,
      0);
  ASSERT_EQ(run(program + " train label --data builtin:tags --examples 100 --init " + s.path() +
                "/mlm" + same + s.path() + "/label")
                .exit,
            0);
  ASSERT_EQ(run(program + " train classify --data builtin:sentiment --examples 100 --init " +
                s.path() + "/mlm" + same + s.path() + "/classify")
                .exit,
            0);
  const Ended other = run(program + " train classify --data builtin:sentiment --init " + s.path() +
                              "/mlm --width 16 --model transformer --heads 2 --steps 1",
                          true);
  EXPECT_EQ(other.exit, 1);
  EXPECT_NE(other.out.find("the model needs"), std::string::npos) << other.out;
}

// Of every task and model, the same bits with other threads and after a kill.
TEST(Train, EveryTaskResumesToTheSameBits) {
  const ScratchFolder s;
  int number = 0;
  for (const std::string words :
       {"translate --data builtin:reverse",
        "translate --data builtin:reverse --model transformer --heads 2",
        "label --data builtin:tags", "label --data builtin:tags --model transformer --heads 2",
        "classify --data builtin:sentiment --align hard_reinforce",
        "classify --data builtin:sentiment --model transformer --heads 2 --position alibi",
        "lm --data builtin:dates --heads 2 --context 24", "mlm --data builtin:tags --heads 2",
        "regress --data builtin:sine", "qa --data builtin:stories --model memn2n --linear-start 1",
        "qa --data builtin:stories --model memnn --batch 8",
        "qa --data builtin:stories --model memnn --batch 8 --response lstm",
        "algorithm --data builtin:copy --slots 6 --lengths 1-3 --test-lengths 2",
        "algorithm --data builtin:reverse --model deque --symbols 4 --lengths 1-3 --test-lengths 2",
        "algorithm --data builtin:ram-swap --model nram --machine-steps 2 --lengths 5 "
        "--test-lengths 5",
        "caption --data builtin:scenes --channels 4 --model hard --batch 8",
        "ask --data builtin:scenes --channels 4 --batch 8"}) {
    SCOPED_TRACE(words);
    const std::string base = s.path() + "/" + std::to_string(++number),
                      rest = " --examples 100 --validate-examples 5" + small_of(words) +
                             (words.starts_with("regress") || words.starts_with("qa") ||
                                      words.starts_with("algorithm")
                                  ? ""
                                  : "--dropout 0.1 ");
    ASSERT_EQ(
        run("FOVEA_THREADS=1 " + program + " train " + words + rest + "--steps 9 --out " + base)
            .exit,
        0);
    ASSERT_EQ(run("FOVEA_THREADS=4 " + program + " train " + words + rest + "--steps 9 --out " +
                  base + "b")
                  .exit,
              0);
    EXPECT_TRUE(bytes_of(base + "/model.safetensors") == bytes_of(base + "b/model.safetensors"));
    const std::string cut = base + "c";
    run("timeout -s KILL 0.15 " + program + " train " + words + rest +
        "--save-every 0 --steps 9 --out " + cut);
    ASSERT_EQ(run(program + " train " + words + rest + "--resume --steps 9 --out " + cut).exit, 0);
    EXPECT_TRUE(bytes_of(base + "/model.safetensors") == bytes_of(cut + "/model.safetensors"));
    // Killed before the first state was saved: all but the vocabularies and the config is lost.
    for (const char* lost : {"state.safetensors", "model.safetensors", "metrics.jsonl"}) {
      fs::remove(cut + "/" + lost);
    }
    ASSERT_EQ(run(program + " train " + words + rest + "--resume --steps 9 --out " + cut).exit, 0);
    EXPECT_TRUE(bytes_of(base + "/model.safetensors") == bytes_of(cut + "/model.safetensors"));
  }
}

TEST(Train, TheSameBitsWithAnyNumberOfThreads) {
  const ScratchFolder scratch;
  for (const char* threads : {"1", "2", "4"}) {
    const Ended ended = run(say("FOVEA_THREADS=", threads, " ", program, reverse,
                                "--dropout 0.2 --steps 20 --out ", scratch.path(), "/", threads));
    ASSERT_EQ(ended.exit, 0);
  }
  const std::string one = bytes_of(scratch.path() + "/1/model.safetensors");
  EXPECT_FALSE(one.empty());
  EXPECT_TRUE(one == bytes_of(scratch.path() + "/2/model.safetensors"));
  EXPECT_TRUE(one == bytes_of(scratch.path() + "/4/model.safetensors"));
  EXPECT_EQ(run(program + reverse + "--dropout 0.2 --seed 1 --steps 20 --out " + scratch.path() +
                "/other")
                .exit,
            0);
  EXPECT_FALSE(one == bytes_of(scratch.path() + "/other/model.safetensors"));
}

// Starts the program and kills it so many milliseconds after `file` exists (after the start if
// it is empty); false if it had ended by then.
bool kill_after(const std::vector<std::string>& words, const std::string& file,
                int64_t milliseconds) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(126);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  const auto wait_until = [child](const auto& seen) {  // false: the program ended
    for (; !seen(); std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      if (waitpid(child, nullptr, WNOHANG) == child) return false;
    }
    return true;
  };
  using Clock = std::chrono::steady_clock;
  if (!wait_until([&] { return file.empty() || fs::exists(file); })) return false;
  const auto moment = Clock::now() + std::chrono::milliseconds(milliseconds);
  if (!wait_until([&] { return Clock::now() >= moment; })) return false;
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

// Nothing here may hang on the clock: the machine can be many times slower for one run than for
// the next. So every second run is killed after its first state, and one that ended before it
// was killed is started again and given half the time.
TEST(Train, KilledTwentyTimesItEndsInTheSameBits) {
  const ScratchFolder scratch;
  const std::string words = reverse + "--steps 120 --dropout 0.1 --save-every 0 ";
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(run(program + words + "--out " + scratch.path() + "/whole").exit, 0);
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::steady_clock::now() - start)
                         .count();
  const std::string expected = bytes_of(scratch.path() + "/whole/model.safetensors");
  Random random(static_cast<uint64_t>(whole));
  for (int i = 0; i < 20; ++i) {
    const std::string folder = scratch.path() + "/" + std::to_string(i),
                      state = folder + (i % 2 ? "/state.safetensors" : "/config.json");
    std::vector<std::string> list{program};
    std::istringstream in(words + "--out " + folder);
    for (std::string word; in >> word;) list.push_back(word);
    int64_t moment = static_cast<int64_t>(random.below(whole));
    for (int tries = 0; !kill_after(list, state, moment); moment /= 2) {
      ASSERT_LT(++tries, 30) << "it ends by itself, whenever it is killed";
      fs::remove_all(folder);
    }
    EXPECT_TRUE(fs::exists(state)) << i;  // it had begun, and what it had is still there
    const Ended resumed =
        run(say("FOVEA_THREADS=", 1 + i % 3, " ", program, words, "--resume --out ", folder), true);
    ASSERT_EQ(resumed.exit, 0) << resumed.out;
    EXPECT_TRUE(expected == bytes_of(folder + "/model.safetensors")) << i;
  }
}

// Signalled twice in a row, as timeout(1) does: that is still one wish to stop.
TEST(Train, CtrlCSavesAndSaysHowToGoOn) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/run";
  const std::string start = program + reverse + "--steps 1000000 --out " + folder + " & ";
  const std::string under_way = "until [ -s " + folder + "/metrics.jsonl ]; do sleep 0.1; done;";
  const Ended ended =
      run("(" + start + under_way + " for i in 1 2 3; do kill -INT $!; sleep 0.001; done; wait $!)",
          true);
  EXPECT_EQ(ended.exit, 130);
  EXPECT_NE(ended.out.find("to go on: fovea train translate --out " + folder + " --resume"),
            std::string::npos)
      << ended.out;
  EXPECT_TRUE(fs::exists(folder + "/state.safetensors"));
}

TEST(Predict, ManyLinesComeBackInOrder) {
  const ScratchFolder scratch;
  std::string text;
  for (int i = 0; i < 600; ++i) {
    for (int j = 0; j < 1 + i % 9; ++j)
      text += static_cast<char>('a' + (i * 7 + j) % 20), text += ' ';
    text += "\n";
  }
  const std::string file = scratch.write("lines.txt", text);
  const Ended all = run(program + " predict " + model() + " < " + file);
  EXPECT_EQ(all.exit, 0);
  ASSERT_EQ(lines_in(all.out), 600);
  const Ended few = run("sed -n '501,505p' " + file + " | " + program + " predict " + model());
  std::istringstream whole(all.out), part(few.out);
  std::string a, b;
  for (int i = 0; i < 500; ++i) std::getline(whole, a);
  while (std::getline(part, b)) {
    std::getline(whole, a);
    EXPECT_EQ(a, b);
  }
}

TEST(Predict, GivesTheBestAnswersWithTheirScores) {
  const Ended answers =
      run("echo 'a b c' | " + program + " predict " + model() + " --nbest 3 --scores");
  EXPECT_EQ(std::ranges::count(answers.out, '\t'), 5) << answers.out;
}

TEST(Attend, DrawsEveryKindOfPicture) {
  const ScratchFolder scratch;
  const std::string base = scratch.path() + "/map";
  const Ended ended = run(say(program, " attend ", model(), " 'a b c' --out ", base, ".svg --out ",
                              base, ".png --out ", base, ".html --out ", base, ".json"));
  EXPECT_EQ(ended.exit, 0);
  EXPECT_TRUE(bytes_of(base + ".svg").find("<svg") != std::string::npos);
  EXPECT_TRUE(bytes_of(base + ".png").starts_with("\x89PNG"));
  EXPECT_TRUE(bytes_of(base + ".html").find("<html") != std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(bytes_of(base + ".json")).contains("maps"));
  expect_refused("attend " + model() + " 'a b' --out map.gif", 2,
                 "attend: writes .svg, .png, .html, .json, .npz or .safetensors, not 'map.gif'; "
                 "give --out such a name");
}

TEST(Compare, RunsEveryChoiceAndGoesOnWhereItWas) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/compared";
  const std::string words =
      " compare translate --data builtin:reverse --examples 150"
      " --embed 8 --width 12 --steps 15 --maps 2 --seeds 2 --out " +
      folder;
  const Ended first = run(program + words + " --vary score=none,dot");
  ASSERT_EQ(first.exit, 0) << first.out;
  for (const char* part : {"score=none", "score=dot", "best", "Report: "}) {
    EXPECT_NE(first.out.find(part), std::string::npos) << first.out;
  }
  const auto made = fs::last_write_time(folder + "/runs/score=dot/seed-1/summary.json");
  const Ended second = run(program + words + " --choice score=dot,align=entmax --json");
  ASSERT_EQ(second.exit, 0);
  const auto result = nlohmann::json::parse(second.out);
  EXPECT_EQ(result["choices"].size(), 3u);
  EXPECT_EQ(result["seeds"].size(), 2u);
  EXPECT_EQ(result["examples"].size(), 2u);
  EXPECT_EQ(fs::last_write_time(folder + "/runs/score=dot/seed-1/summary.json"), made);
  EXPECT_NE(bytes_of(folder + "/report.html").find("</html>"), std::string::npos);
  EXPECT_EQ(run(program + words + " --vary score=dot --rate 0.1").exit, 1) << "other settings";
}

TEST(Compare, SaysWhatFailed) {
  const ScratchFolder scratch;
  const Ended ended =
      run(program +
          " compare translate --data builtin:reverse --examples 60"
          " --embed 8 --width 12 --steps 3 --longest-keys 2 --vary score=dot,location --out " +
          scratch.path() + "/c");
  EXPECT_EQ(ended.exit, 1);
  EXPECT_NE(ended.out.find("failed: location score: made for at most 2 keys"), std::string::npos)
      << ended.out;
}

TEST(BadInput, IsOneSentenceAndAnExitCode) {
  const ScratchFolder s;
  const std::string train = "train translate --steps 1 --data ";
  const std::string empty = s.write("empty.tsv", ""), one = s.write("one.tsv", "a\tb\nc\n"),
                    tabs = s.write("tabs.tsv", "a\tb\nc\td\te\n"),
                    line = s.write("line.tsv", "a\tb\n" + std::string(9 << 20, 'x') + "\ty\n"),
                    binary = s.write("binary.tsv", std::string("\x7f\x45\x4c\x46\0\1\2\3", 8)),
                    broken = s.write("broken.tsv", "é\tb\nü\tb\ncaf\xe9\tc\n");
  for (const auto& [file, where] :
       std::vector<std::pair<std::string, std::string>>{{empty, empty},
                                                        {one, one + ":2"},
                                                        {tabs, tabs + ":2"},
                                                        {line, line + ":2"},
                                                        {binary, binary + ":1"},
                                                        {broken, broken + ":3"},
                                                        {s.path() + "/none", s.path() + "/none"}}) {
    const Ended ended = run(program + " " + train + file, true);
    EXPECT_EQ(ended.exit, 1) << file;
    EXPECT_TRUE(ended.out.starts_with("fovea: " + where)) << ended.out;
    EXPECT_EQ(lines_in(ended.out), 1) << ended.out;
  }
  expect_refused("train translate --data builtin:dates --score aditive", 2,
                 "unknown score 'aditive'; did you mean 'additive'?");
  expect_refused("train translate --data builtin:dates --align softmx", 2,
                 "unknown alignment 'softmx'; did you mean 'softmax'?");
  expect_refused("train translate --data builtin:dates --set widht=3", 2,
                 "unknown option 'widht'; did you mean 'width'?");
  expect_refused("train translate --data builtin:dates --width many", 2,
                 "option 'width' needs a whole number, got 'many'");
  expect_refused("train translate --preset pos", 2,
                 "preset 'pos' is for the task label, not translate");
  expect_refused("train translate", 1, "translate: needs data: a file, or builtin:dates");
}

// A story is told line by line; what is asked is answered from all of it, and a blank line begins
// another.
TEST(Predict, KeepsTheStory) {
  const ScratchFolder s;
  const std::string folder = s.path() + "/stories";
  ASSERT_EQ(
      run(program + " train qa --data builtin:stories --examples 600 --model memnn --hops 1 " +
          "--tasks 1 --epochs 40 --out " + folder)
          .exit,
      0);
  const Ended told =
      run("printf 'Mary went to the garden.\\nWhere is Mary?\\nMary moved to the "
          "office.\\nWhere is Mary?\\n\\nMary went to the bedroom.\\nWhere is "
          "Mary?\\n' | " +
          program + " predict " + folder);
  EXPECT_EQ(told.out, "\ngarden\n\noffice\n\n\nbedroom\n");
  const Ended lines = run("(echo 'Mary went to the garden.'; sleep 0.3; echo 'Where is Mary?') | " +
                          program + " predict " + folder);
  EXPECT_EQ(lines.out, "\ngarden\n") << "what comes later than the story is about it too";
}

TEST(BadInput, StoriesAndAlgorithms) {
  const ScratchFolder s;
  const std::string train = "train qa --epochs 1 --data ", story = "1 Ann left.\n";
  const std::string none = s.write("none.txt", story);
  expect_refused(train + none, 1,
                 none + ": holds no question; one ends with ? and has its answer behind a tab");
  const std::string fact = s.write("fact.txt", story + "2 Who left?\tann\t5\n");
  expect_refused(
      train + fact, 1,
      fact + ":2: supporting fact 5 is not a sentence of this story before the question");
  expect_refused("train algorithm --data mine.txt", 1,
                 "algorithm: draws its own problems; data must be builtin:NAME, got 'mine.txt'");
  expect_refused("train algorithm --data builtin:copy --lengths 9-3", 1,
                 "lengths: needs lengths such as 1-20 or 8,16,32, got '9-3'");
  expect_refused("train algorithm --data builtin:copy --model nram --steps 1", 1,
                 "random-access machine: works on memory cells; data must be one of ram-access, "
                 "ram-increment, ram-copy, ram-reverse and ram-swap");
}

// An answer that training never saw counts as wrong; a memory smaller than a story keeps the newest
// sentences.
TEST(Eval, AnAnswerNeverSeenIsWrongAndASmallMemoryIsEnoughToAsk) {
  const ScratchFolder s;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "Ann left.\nBob is here.\nWho is here?\tbob\n\n";
  const std::string data = s.write("data.txt", text), folder = s.path() + "/model";
  ASSERT_EQ(
      run(program + " train qa --data " + data + " --memory 1 --epochs 3 --out " + folder).exit, 0);
  const std::string other = s.write("other.txt", "Ann left.\nBob is here.\nWho is here?\tcarol\n");
  const Ended measured = run(program + " eval " + folder + " --json --data " + other);
  ASSERT_EQ(measured.exit, 0) << measured.out;
  EXPECT_EQ(nlohmann::json::parse(measured.out)["metrics"]["right_answers"], 0);
}

TEST(BadInput, AModelFolderThatIsNone) {
  const ScratchFolder s;
  expect_refused("eval " + s.path(), 1,
                 s.path() + ": is not the folder of a trained model: it has no config.json");
  const Ended other =
      run(program + " train label --resume --data builtin:tags --out " + model(), true);
  EXPECT_EQ(other.exit, 1);
  EXPECT_EQ(other.out, "fovea: " + model() + ": holds a model of the task translate, not label\n");
  const Ended again = run(program + reverse + "--steps 5 --out " + model(), true);
  EXPECT_EQ(again.exit, 1);
  EXPECT_NE(again.out.find("already holds a model"), std::string::npos);
}

TEST(BadInput, ATruncatedCheckpoint) {
  const ScratchFolder s;
  for (const char* name :
       {"model.safetensors", "state.safetensors", "source.json", "config.json"}) {
    SCOPED_TRACE(name);
    const std::string copy = s.path() + "/copy";
    fs::remove_all(copy);
    fs::copy(model(), copy, fs::copy_options::recursive);
    fs::resize_file(copy + "/" + name, fs::file_size(copy + "/" + name) / 2);
    const bool state = std::string(name) == "state.safetensors";
    const Ended ended =
        run("echo a | " + program +
                (state ? " train translate --resume --steps 60 --out " + copy : " predict " + copy),
            true);
    EXPECT_EQ(ended.exit, 1) << ended.out;
    EXPECT_NE(ended.out.find("fovea: " + copy), std::string::npos) << ended.out;
  }
}

TEST(BadInput, AFullDiskLosesNothing) {
  const ScratchFolder s;
  const std::string copy = s.path() + "/copy";
  fs::copy(model(), copy, fs::copy_options::recursive);
  const std::string before = bytes_of(copy + "/state.safetensors");
  // No file may grow above 4 KiB: every write of weights fails as on a full disk.
  const Ended ended = run("bash -c \"trap '' XFSZ; ulimit -f 4; exec " + program +
                              " train translate --resume --steps 60 --out " + copy + "\"",
                          true);
  EXPECT_EQ(ended.exit, 1) << ended.out;
  EXPECT_NE(ended.out.find("File too large"), std::string::npos) << ended.out;
  EXPECT_EQ(before, bytes_of(copy + "/state.safetensors"));
  EXPECT_EQ(run("echo a | " + program + " predict " + copy).exit, 0);
}

}  // namespace
}  // namespace fovea::test
