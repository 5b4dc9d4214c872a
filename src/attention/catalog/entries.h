// The catalogue's parts, one file for each kind.
#pragma once

#include "fovea/attention/catalog.h"

namespace fovea {

// All mechanisms of one kind, in the order of catalog().
std::vector<Entry> score_entries();
std::vector<Entry> alignment_entries();
std::vector<Entry> position_entries();
std::vector<Entry> query_entries();
std::vector<Entry> feature_entries();
std::vector<Entry> efficient_entries();

// Laws of a soft alignment over keys that have no order of their own.
inline const std::vector<Law> set_laws{Law::rows_sum_to_one, Law::causal,
                                       Law::permutation,     Law::padding,
                                       Law::nothing_is_zero, Law::steps_equal_whole};
// The same where a key's place counts, and a step alone does not know its own.
inline const std::vector<Law> place_laws{Law::rows_sum_to_one, Law::causal, Law::padding,
                                         Law::nothing_is_zero};

}  // namespace fovea
