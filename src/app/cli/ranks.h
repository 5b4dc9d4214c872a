// This program as one of several ranks: started under mpirun, or srun --mpi=pmix.
#pragma once

#include <string>

#include "fovea/base/communicator.h"

namespace fovea::cli {

// Whether this was started as one of several processes, by what the launcher leaves in the
// environment.
bool started_as_rank();
// Whether it is another rank than the first, which alone talks to people.
bool is_quiet_rank();

// Joins the others, once: null when this process is alone. Loads MPI; an Error in one sentence when
// this program has none. Shares the cores of a machine between its ranks.
Communicator* join_ranks();

// What a person is to be told when a rank is lost.
void say_when_lost(std::string sentence);

// From now on another rank may be lost without ending this one: for work that others can do again.
// A rank but the first still ends with the first.
void outlive_lost_ranks();
// Whether a rank is known to be lost: this machine's processes tell, and note_lost() what else was
// noticed.
bool is_lost(int rank);
void note_lost(int rank);

// The program ends with `code`, for which `message` is the reason, or "": says it, waits for the
// others where all is well, and else ends them too. The code to exit with.
int leave_ranks(int code, const std::string& message);

// The environment without what makes a child of this process believe that it is a rank itself.
bool belongs_to_ranks(const char* variable);

}  // namespace fovea::cli
