// builtin:records. A record of four numbers and a note that speaks of one of them: the label is
// whether that one is high. The note alone does not know the numbers, and the record does not know
// which is meant.
#include <cmath>

#include "fovea/data/builtin.h"
#include "fovea/data/builtin_grammar.h"

namespace fovea {
namespace {

struct Measure {
  const char* name;
  double usual, spread;
  std::initializer_list<const char*> complaints;
};
const Measure measures[] = {
    {"pulse", 75, 12, {"feels her heart race", "has a pounding chest", "asks about the pulse"}},
    {"temperature", 37, 0.8, {"may have a fever", "feels hot and cold", "is shivering"}},
    {"glucose", 100, 20, {"is thirsty all day", "has diabetes in the family", "eats many sweets"}},
    {"pressure",
     125,
     15,
     {"has headaches and nosebleeds", "worries about blood pressure",
      "takes pills against pressure"}},
};

}  // namespace

TextRecords generate_records(int64_t n, Random random) {
  TextRecords all;
  for (const Measure& measure : measures) all.names.push_back(measure.name);
  for (int64_t i = 0; i < n; ++i) {
    TextPair one;
    const uint64_t asked = random.below(std::size(measures));
    for (uint64_t m = 0; m < std::size(measures); ++m) {
      // A gap at the usual value: no number is neither high nor low.
      const bool high = random.below(2) == 1;
      const double away = (0.3 + static_cast<double>(random.below(200)) / 100) * measures[m].spread;
      const double value = measures[m].usual + (high ? away : -away);
      one.numbers.push_back(std::round(value * 10) / 10);
      if (m == asked) one.label = high ? "high" : "low";
    }
    one.first = say("the patient ", one_of(measures[asked].complaints, random), " since ",
                    one_of({"monday", "yesterday", "last week", "march"}, random), " .");
    all.pairs.push_back(std::move(one));
  }
  return all;
}

}  // namespace fovea
