// Checks for code built on the library: numeric gradients, without a test framework.
#pragma once

#include "fovea/check/gradient.h"
