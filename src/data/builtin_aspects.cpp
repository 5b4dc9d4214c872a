// builtin:aspects. Every sentence praises one thing and blames another, so that the sentence alone
// does not tell: only what is said of the phrase does.
#include "fovea/base/error.h"
#include "fovea/data/builtin.h"
#include "fovea/data/builtin_grammar.h"

namespace fovea {
namespace {

constexpr const char* good[] = {"great", "lovely",    "superb", "friendly",
                                "fresh", "excellent", "warm",   "perfect"};
constexpr const char* bad[] = {"awful", "slow",     "stale", "rude",
                               "dull",  "dreadful", "cold",  "poor"};
constexpr const char* plain[] = {"Italian",        "on the left",        "as usual",
                                 "from the north", "on the first floor", "from last year"};
constexpr const char* things[] = {"food",        "service", "waiter",   "music",  "wine list",
                                  "fish soup",   "staff",   "dessert",  "garden", "front desk",
                                  "roast beef",  "bread",   "coffee",   "view",   "seafood salad",
                                  "cheese cake", "price",   "bar stool"};

constexpr const char* labels[] = {"negative", "neutral", "positive"};

std::string opinion(uint64_t label, Random& random) {
  if (label == 1) return one_of(plain, random);
  if (chance(30, random)) {
    return say(one_of({"not", "hardly", "never"}, random), " ",
               label == 2 ? one_of(bad, random) : one_of(good, random));
  }
  return label == 2 ? one_of(good, random) : one_of(bad, random);
}

}  // namespace

std::vector<Aspect> generate_aspects(int64_t n, Random random) {
  std::vector<Aspect> all;
  while (static_cast<int64_t>(all.size()) < n) {
    const std::string one = one_of(things, random);
    std::string other = one;
    while (other == one) other = one_of(things, random);
    const uint64_t first = random.below(3), second = (first + 1 + random.below(2)) % 3;
    const std::string verb = one_of({"is", "was", "seems"}, random);
    std::string text = say("the ", one, " ", verb, " ", opinion(first, random));
    text += one_of({" , but", " , while", " , and"}, random);
    text += say(" the ", other, " ", verb, " ", opinion(second, random), " .");
    const bool asks_first = chance(50, random);
    const std::string& phrase = asks_first ? one : other;
    const size_t begin = asks_first ? 4 : text.rfind("the " + other) + 4;
    all.push_back({text, begin, begin + phrase.size(), labels[asks_first ? first : second]});
  }
  return all;
}

}  // namespace fovea
