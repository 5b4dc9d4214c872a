// What the program and the module that knows MPI agree on. The module is a library of its own, so
// that the program neither needs nor links MPI: it is loaded when there is something to say to
// other ranks.
#pragma once

#include "fovea/base/communicator.h"

namespace fovea {

// What the module offers, under the name `fovea_mpi_module`.
struct MpiModule {
  int version;                // mpi_module_version of its headers
  Communicator* (*start)();   // joins the others; an Error if MPI cannot. Once, from any thread.
  void (*finish)();           // leaves them; all ranks do so
  void (*abort)(int status);  // ends every rank at once; does not come back
};
// Changes with MpiModule.
constexpr int mpi_module_version = 1;
// Where to find it.
constexpr const char* mpi_module_symbol = "fovea_mpi_module";
// The file that holds it.
constexpr const char* mpi_module_file = "libfovea_mpi.so";

}  // namespace fovea
