// How near a predicted text is to the true one, by characters: exact match and character error
// rate.
#pragma once

#include <cstdint>
#include <string_view>

#include "fovea/train/metric.h"

namespace fovea {

// {1 if equal, 1}
Tally exact_match_tally(std::string_view predicted, std::string_view truth);
// {edits, length of the truth}, both in code points; the edits are insertions, deletions and
// substitutions. The rate is above 1 when the prediction is much longer than the truth.
Tally cer_tally(std::string_view predicted, std::string_view truth);

// Fewest insertions, deletions and substitutions that turn one text into the other (Levenshtein
// 1966).
int64_t edit_distance(std::u32string_view a, std::u32string_view b);

}  // namespace fovea
