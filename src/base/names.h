// Unknown names are answered with the nearest known one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fovea {

// The known name that takes the fewest edits (letters added, dropped, changed, swapped) to reach,
// or
// "" when none is near enough to be what was meant.
std::string nearest_name(std::string_view wanted, std::span<const std::string> known);

// "unknown task 'regres'; did you mean 'regress'? Known: label, regress"
std::string unknown_name(std::string_view kind, std::string_view wanted,
                         std::span<const std::string> known);

}  // namespace fovea
