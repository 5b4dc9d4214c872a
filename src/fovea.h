// Everything a program that uses Fovea needs, in one include: fovea/core.h, and what the library
// fovea::fovea has on top of it, from files and tokens to whole tasks and pictures.
#pragma once

#include "fovea/core.h"
#include "fovea/data/examples.h"
#include "fovea/data/tokenizer.h"
#include "fovea/data/vocabulary.h"
#include "fovea/report/heat_map.h"
#include "fovea/task/model.h"
#include "fovea/task/solver.h"
#include "fovea/train/metric.h"
