// Where the sentences of a text are.
#pragma once

#include <string_view>
#include <vector>

namespace fovea {

// At which byte each sentence ends, rising to the text's size: by Unicode's rules (UAX #29, as ICU
// has them), at line breaks, and behind a full stop that stands between spaces.
std::vector<size_t> sentence_ends(std::string_view text);

}  // namespace fovea
