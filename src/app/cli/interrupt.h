// Ctrl-C, and a polite kill: the work under way is saved before the program ends.
#pragma once

#include <atomic>

namespace fovea::cli {

// From now on SIGINT and SIGTERM set the flag that this returns; a second one, half a second or
// more after the first, ends the program at once.
const std::atomic<bool>& watch_for_interrupt();

}  // namespace fovea::cli
