#include "fovea/base/names.h"

#include <algorithm>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Damerau-Levenshtein, neighbouring letters only.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const size_t change = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string nearest_name(std::string_view wanted, std::span<const std::string> known) {
  std::string best;
  size_t least = std::max<size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& name : known) {
    const size_t cost = edits(wanted, name);
    if (cost < least) {
      least = cost;
      best = name;
    }
  }
  return best;
}

std::string unknown_name(std::string_view kind, std::string_view wanted,
                         std::span<const std::string> known) {
  std::string text = say("unknown ", kind, " '", wanted, "'");
  const std::string near = nearest_name(wanted, known);
  if (!near.empty()) return text + say("; did you mean '", near, "'?");
  text += "; known: ";
  for (size_t i = 0; i < known.size(); ++i) text += (i ? ", " : "") + known[i];
  return text;
}

}  // namespace fovea
