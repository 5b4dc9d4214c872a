// The program as one of several processes. What needs mpirun is skipped where there is none.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_ranks() {
  static const bool yes = fs::exists(fs::path(program).parent_path() / "libfovea_mpi.so") &&
                          run("command -v mpirun").exit == 0;
  return yes;
}
#define NEEDS_MPIRUN() \
  if (!has_ranks()) GTEST_SKIP() << "mpirun, or the module for it, is not there"

// Ranks of this machine, also where a build runs as root and has fewer cores.
std::string mpirun(int ranks) {
  return no_leak_check +
         "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 FOVEA_THREADS=1 exec mpirun "
         "--oversubscribe --bind-to none -n " +
         std::to_string(ranks) + " " + program + " ";
}

TEST(Mpi, IsNotLinkedAndWithoutItAllIsAsBefore) {
  const Ended needed = run("readelf -d " + program);
  ASSERT_EQ(needed.exit, 0);
  EXPECT_EQ(needed.out.find("mpi"), std::string::npos);
  EXPECT_NE(needed.out.find("NEEDED"), std::string::npos);
  // A build without the module, started under mpirun, says so in one sentence.
  const ScratchFolder folder;
  const std::string alone = folder.path() + "/fovea";
  fs::copy_file(program, alone);
  const std::string as_rank = "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=";
  const std::string words = " train classify --data builtin:sentiment --steps 1";
  const Ended first = run(as_rank + "0 " + alone + words, true);
  EXPECT_EQ(first.exit, 1);
  EXPECT_EQ(
      first.out,
      "fovea: this fovea was built without MPI, or libfovea_mpi.so is not beside it, so that "
      "it cannot work as one of several processes; start it without mpirun, or build it where "
      "MPI is installed (libopenmpi-dev)\n");
  const Ended second = run(as_rank + "1 " + alone + words, true);
  EXPECT_EQ(second.exit, 1);
  EXPECT_EQ(second.out, "");  // the first rank has said it
  const Ended one_verb = run(as_rank + "0 " + alone + " list", true);
  EXPECT_EQ(one_verb.exit, 2);
  EXPECT_EQ(one_verb.out, "fovea: list is done by one process: start it without mpirun or srun\n");
}

const std::string tiny =
    " --set shards=4 --steps 4 --set validate_every=2 --batch 10 --set validate_examples=8 "
    "--examples 60 --width 16 ";

struct TinyRun {
  const char* name;
  std::string words;
};
const TinyRun tiny_runs[] = {
    {"translate", "train translate --data builtin:reverse --embed 8 --score-width 8" + tiny},
    {"lm", "train lm --data builtin:dates --heads 2 --context 16 --dropout 0.1" + tiny},
    {"classify",
     "train classify --data builtin:sentiment --model transformer --layers 1 --heads 2" + tiny},
};

TEST(Mpi, SameBitsForAnyNumberOfRanks) {
  NEEDS_MPIRUN();
  for (const TinyRun& one : tiny_runs) {
    const ScratchFolder alone;
    const Ended whole = run(program + " " + one.words + " --out " + alone.path() + "/m", true);
    ASSERT_EQ(whole.exit, 0) << whole.out;
    for (int ranks : {2, 3}) {
      const ScratchFolder folder;
      const Ended shared = run(mpirun(ranks) + one.words + " --out " + folder.path() + "/m", true);
      ASSERT_EQ(shared.exit, 0) << shared.out;
      EXPECT_EQ(bytes_of(folder.path() + "/m/model.safetensors"),
                bytes_of(alone.path() + "/m/model.safetensors"))
          << one.name << " on " << ranks;
      EXPECT_EQ(bytes_of(folder.path() + "/m/config.json"),
                bytes_of(alone.path() + "/m/config.json"));
    }
  }
}

// The process of a rank whose command line names this folder; 0: there is none.
pid_t process_of(int rank, const std::string& folder) {
  const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (bytes_of(entry.path() / "cmdline").find(folder) == std::string::npos) continue;
    if (bytes_of(entry.path() / "environ").find(wanted) != std::string::npos)
      return std::stoi(name);
  }
  return 0;
}

TEST(Mpi, AKilledRankEndsAllAndAnotherNumberGoesOn) {
  NEEDS_MPIRUN();
  const std::string words =
      "train classify --data builtin:sentiment --model transformer --layers 1 --heads 2 --width 16 "
      "--examples 60 --batch 10 --set shards=4 --set validate_every=1000 --set save_every=0 --out ";
  const ScratchFolder folder;
  const std::string out = folder.path() + "/m";
  Ended ended;
  std::thread killer([&] {
    for (int i = 0; i < 600 && !fs::exists(out + "/state.safetensors"); ++i) usleep(50'000);
    if (const pid_t rank = process_of(1, out)) kill(rank, SIGKILL);
  });
  const auto start = std::chrono::steady_clock::now();
  ended = run(mpirun(3) + words + out + " --steps 100000", true);
  killer.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_NE(ended.exit, 0);
  EXPECT_NE(ended.out.find("rank 1 of 3 is gone; the last good state is in " + out),
            std::string::npos)
      << ended.out;
  // On another number of ranks, to a few steps behind where it was: as one that was never stopped.
  const std::string state = bytes_of(out + "/state.safetensors");
  const size_t at = state.find("\\\"step\\\":");
  ASSERT_NE(at, std::string::npos);
  const int64_t steps = std::stoll(state.substr(at + 9)) + 3;
  const std::string budget = " --steps " + std::to_string(steps);
  const Ended rest = run(mpirun(2) + words + out + budget + " --resume", true);
  ASSERT_EQ(rest.exit, 0) << rest.out;
  const std::string whole = folder.path() + "/whole";
  ASSERT_EQ(run(program + " " + words + whole + budget, true).exit, 0);
  EXPECT_EQ(bytes_of(out + "/model.safetensors"), bytes_of(whole + "/model.safetensors"));
}

TEST(Mpi, WholeRunsGoToRanks) {
  NEEDS_MPIRUN();
  const ScratchFolder folder;
  const Ended compared =
      run(mpirun(2) + "compare classify --data builtin:sentiment --vary score=dot,additive " +
              "--examples 60 --steps 3 --embed 8 --width 8 --maps 0 --out " + folder.path() + "/c",
          true);
  EXPECT_EQ(compared.exit, 0) << compared.out;
  EXPECT_NE(compared.out.find("2 runs, 2 at a time"), std::string::npos) << compared.out;
  EXPECT_TRUE(fs::exists(folder.path() + "/c/report.html"));
}

TEST(Mpi, RanksShareEverySequence) {
  NEEDS_MPIRUN();
  const std::string words =
      "train lm --data builtin:dates --examples 100 --width 16 --heads 2 --context 32 --batch 4 "
      "--steps 3 --set attention_dropout=0 --set validate_examples=2 --json ";
  const Ended shared = run(mpirun(2) + words + "--sequence-parallel"),
              alone = run(program + " " + words);
  ASSERT_EQ(shared.exit, 0);
  ASSERT_EQ(alone.exit, 0);
  const double one = nlohmann::json::parse(alone.out)["test"]["loss"];
  EXPECT_NEAR(nlohmann::json::parse(shared.out)["test"]["loss"].get<double>(), one, 1e-5 * one);
  const Ended recurrent = run(mpirun(2) + "train classify --data builtin:sentiment --examples 60 " +
                                  "--embed 8 --width 8 --steps 1 --sequence-parallel",
                              true);
  EXPECT_NE(recurrent.exit, 0);
  EXPECT_NE(recurrent.out.find("sequence_parallel: needs --model transformer"), std::string::npos);
}

}  // namespace
}  // namespace fovea::test
