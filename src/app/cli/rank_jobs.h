// Whole runs on other ranks: the first rank hands them out, the others run them as processes of
// their own.
#pragma once

#include <memory>
#include <vector>

#include "fovea/app/cli/jobs.h"
#include "fovea/base/communicator.h"

namespace fovea::cli {

// One place for each rank but the first, which alone calls this. They end, and their ranks with
// them, when the program does: see end_rank_jobs().
void add_rank_places(Communicator& ranks, std::vector<std::unique_ptr<JobPlace>>& places);

// What every other rank does instead: runs what it is told, until it is told to end. The exit code.
int serve_jobs(Communicator& ranks);

// Tells the others that there is no more to do; on the first rank, before it leaves.
void end_rank_jobs(Communicator& ranks);

}  // namespace fovea::cli
