// One step of one sequence through a recurrent cell, all gates in one pass, and its gradient.
#pragma once

#include "fovea/kernel/naive/recurrent.h"

namespace fovea::kernel {

using naive::Cell;
using naive::CellStep;
using naive::CellStepGrad;

void cell_step(Cell cell, const CellStep<float>& s, int64_t H);
void cell_step_grad(Cell cell, const CellStepGrad<float>& s, int64_t H);

}  // namespace fovea::kernel
