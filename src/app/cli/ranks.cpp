#include "fovea/app/cli/ranks.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include "fovea/app/cli/jobs.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/base/random.h"
#include "fovea/mpi/module.h"

namespace fovea::cli {
namespace {

namespace fs = std::filesystem;

std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return {};
  return std::atoi(text);
}

// As OpenMPI, PMIx (Slurm) and PMI (MPICH, Slurm) say them.
std::optional<int> environment_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const auto rank = number_in(name)) return rank;
  }
  return {};
}

std::optional<int> environment_size() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (const auto size = number_in(name)) return size;
  }
  return {};
}

// What ranks know of each other.
struct Peer {
  uint64_t host;
  int64_t pid;
  cpu_set_t cpus;
};

struct Joined {
  const MpiModule* module = nullptr;
  Communicator* ranks = nullptr;
  std::vector<Peer> peers;
  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  std::string when_lost;
  bool leaving = false;
  bool outlives = false;      // lost ranks but the first
  std::vector<uint8_t> lost;  // by rank
  // From each other rank one byte, sent when it leaves or has said why all end: it is not missed.
  std::vector<std::byte> notes;
  std::vector<std::unique_ptr<Transfer>> noted;
  std::thread watch;
};
Joined& joined() {
  static auto* one = new Joined;  // the watching thread may outlive main
  return *one;
}

std::atomic<bool> said{false};  // a rank tells people one thing at its end

// The module lies beside the program, or where it is installed.
const MpiModule& load_module() {
  const fs::path here = fs::path(own_path()).parent_path();
  std::string found;
  for (const char* folder : {".", "../lib/fovea", "../lib64/fovea", FOVEA_MODULE_DIR}) {
    const fs::path path = here / folder / mpi_module_file;
    if (fs::exists(path)) {
      found = path.string();
      break;
    }
  }
  check(!found.empty(), "this fovea was built without MPI, or ", mpi_module_file,
        " is not beside it, so that it cannot work as one of several processes; start it without ",
        "mpirun, or build it where MPI is installed (libopenmpi-dev)");
  // MPI finds its own plugins through what is global.
  void* library = dlopen(found.c_str(), RTLD_NOW | RTLD_GLOBAL);
  check(library != nullptr, "cannot load ", found, ": ", library ? "" : dlerror());
  const auto* module = static_cast<const MpiModule*>(dlsym(library, mpi_module_symbol));
  check(module && module->version == mpi_module_version, found,
        ": belongs to another version of fovea");
  return *module;
}

Peer self() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  Peer peer{hash_name(name.data()), getpid(), {}};
  sched_getaffinity(0, sizeof peer.cpus, &peer.cpus);
  return peer;
}

// Ranks that may run on the same cores share them.
void share_cores(const std::vector<Peer>& peers, const Peer& me) {
  if (std::getenv("FOVEA_THREADS")) return;
  int sharing = 0;
  for (const Peer& peer : peers) {
    sharing += peer.host == me.host && CPU_EQUAL(&peer.cpus, &me.cpus);
  }
  set_threads(std::max(1, CPU_COUNT(&me.cpus) / std::max(1, sharing)));
}

// Whether a process of this machine is there and not a zombie.
bool is_alive(int64_t pid) {
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return false;
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return true;  // no /proc: the signal has told
  const size_t name_end = text.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= text.size() || text[name_end + 2] != 'Z';
}

bool has_said(const Joined& all, size_t rank) {
  try {
    return all.noted[rank] && all.noted[rank]->done();
  } catch (const Error&) {
    return false;
  }
}

// Tells the others that this rank goes, and not without a word.
void send_notes(Joined& all, double seconds) {
  std::vector<std::unique_ptr<Transfer>> sent;
  static constexpr std::byte note{1};
  for (int r = 0; r < all.ranks->size(); ++r) {
    if (r != all.ranks->rank() && !all.lost[static_cast<size_t>(r)]) {
      sent.push_back(all.ranks->start_send(r, tag_leave, {&note, 1}));
    }
  }
  for (const auto& one : sent) one->done(seconds);
}

// Notes which ranks of this machine are gone. The first that this one cannot outlive, or -1.
int lost_peer(Joined& all) {
  const auto me = static_cast<size_t>(all.ranks->rank());
  for (size_t r = 0; r < all.peers.size(); ++r) {
    if (r == me || all.peers[r].host != all.peers[me].host) continue;
    if (!all.lost[r] && is_alive(all.peers[r].pid)) continue;
    all.lost[r] = 1;
    if (!all.outlives || r == 0) return static_cast<int>(r);
  }
  return -1;
}

// Whether it is this rank that tells people: the first of those that live on rank 0's machine.
bool speaks(const Joined& all) {
  const auto me = static_cast<size_t>(all.ranks->rank());
  if (all.peers[me].host != all.peers[0].host) return false;
  for (size_t r = 0; r < me; ++r) {
    if (all.peers[r].host == all.peers[me].host && is_alive(all.peers[r].pid)) return false;
  }
  return true;
}

// A launcher ends the others when a rank dies, but says so in its own words, and not every one
// does; so ranks look after those of their own machine. Over a network MPI itself notices.
void watch(Joined& all) {
  std::unique_lock lock(all.mutex);
  while (!all.changed.wait_for(lock, std::chrono::milliseconds(200), [&] { return all.leaving; })) {
    const int lost = lost_peer(all);
    if (lost < 0) continue;
    if (has_said(all, static_cast<size_t>(lost))) {
      said = true;
    } else if (speaks(all) && !said.exchange(true)) {
      std::fprintf(stderr, "fovea: rank %d of %d is gone%s\n", lost, all.ranks->size(),
                   all.when_lost.c_str());
    }
    lock.unlock();
    // Time for the one who speaks, before all are ended.
    std::this_thread::sleep_for(std::chrono::milliseconds(speaks(all) ? 0 : 500));
    all.module->abort(1);
  }
}

}  // namespace

bool started_as_rank() {
  return environment_rank().has_value() && environment_size().value_or(2) > 1;
}

bool is_quiet_rank() { return started_as_rank() && environment_rank().value_or(0) != 0; }

Communicator* join_ranks() {
  Joined& all = joined();
  if (all.ranks || !started_as_rank()) return all.ranks;
  all.module = &load_module();
  all.ranks = all.module->start();
  const Peer me = self();
  all.peers = all_gather_value(*all.ranks, me);
  all.lost.resize(all.peers.size());
  all.notes.resize(all.peers.size());
  all.noted.resize(all.peers.size());
  for (int r = 0; r < all.ranks->size(); ++r) {
    const auto at = static_cast<size_t>(r);
    if (r == all.ranks->rank()) continue;
    all.noted[at] = all.ranks->start_receive(r, tag_leave, {&all.notes[at], 1});
  }
  share_cores(all.peers, me);
  all.watch = std::thread([&all] { watch(all); });
  return all.ranks;
}

void say_when_lost(std::string sentence) {
  const std::lock_guard lock(joined().mutex);
  joined().when_lost = std::move(sentence);
}

void outlive_lost_ranks() {
  const std::lock_guard lock(joined().mutex);
  joined().outlives = true;
}

bool is_lost(int rank) {
  const std::lock_guard lock(joined().mutex);
  return joined().lost[static_cast<size_t>(rank)] != 0;
}

void note_lost(int rank) {
  const std::lock_guard lock(joined().mutex);
  joined().lost[static_cast<size_t>(rank)] = 1;
}

int leave_ranks(int code, const std::string& message) {
  Joined& all = joined();
  const bool failed = !message.empty();
  if (!all.ranks) {
    // What is wrong with the words is the same for all ranks; the first one says it.
    if (failed && !is_quiet_rank()) std::fprintf(stderr, "fovea: %s\n", message.c_str());
    return code;
  }
  if (failed) {
    // What went wrong here mostly went wrong on the first rank too, which says it and ends all.
    if (is_quiet_rank()) std::this_thread::sleep_for(std::chrono::seconds(2));
    if (!said.exchange(true)) {
      const std::string who = is_quiet_rank() ? say("rank ", all.ranks->rank(), ": ") : "";
      std::fprintf(stderr, "fovea: %s%s\n", who.c_str(), message.c_str());
    }
    std::fflush(nullptr);
    try {
      send_notes(all, 0.5);
    } catch (const std::exception&) {
      // They find out by themselves.
    }
    all.module->abort(code);
  }
  {
    // MPI waits for every rank to leave; where one never will, nobody waits.
    const std::lock_guard lock(all.mutex);
    if (std::ranges::find(all.lost, 1) != all.lost.end()) {
      std::fflush(nullptr);
      std::_Exit(code);
    }
  }
  barrier(*all.ranks);  // where the others wait for the first, and watch
  {
    const std::lock_guard lock(all.mutex);
    all.leaving = true;
    all.changed.notify_all();
  }
  all.watch.join();
  send_notes(all, 60);  // now that nobody watches, anyone may go
  for (const auto& one : all.noted) {
    if (one) finish(one);
  }
  all.noted.clear();
  all.module->finish();
  return code;
}

bool belongs_to_ranks(const char* variable) {
  for (const char* prefix : {"OMPI_", "PMIX_", "PMI_", "ORTE_"}) {
    if (std::strncmp(variable, prefix, std::strlen(prefix)) == 0) return true;
  }
  return false;
}

}  // namespace fovea::cli
