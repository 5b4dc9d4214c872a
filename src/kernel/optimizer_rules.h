// One step of an optimiser on one parameter.
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/optimizer_rules.h"

namespace fovea::kernel {

using naive::Rule;
using naive::rule_arrays;
using naive::RuleStep;

// w [n] and the rule's arrays a[0], a[1] [n] are updated in place by the gradient g.
void update(Rule rule, const RuleStep& step, float* w, float* const* a, const float* g, int64_t n);
inline void update(Rule rule, const RuleStep& step, double* w, double* const* a, const double* g,
                   int64_t n) {
  naive::update(rule, step, w, a, g, n);
}

}  // namespace fovea::kernel
