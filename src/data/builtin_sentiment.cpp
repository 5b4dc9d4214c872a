// builtin:sentiment. A negation turns what it negates around, and of two clauses the one that is
// put forward (after "but", or the main clause beside "although") decides; words of both kinds are
// equally likely under both labels.
#include "fovea/base/error.h"
#include "fovea/data/builtin.h"
#include "fovea/data/builtin_grammar.h"

namespace fovea {
namespace {

constexpr const char* good[] = {"good",     "great",    "wonderful", "funny", "clever", "moving",
                                "gripping", "charming", "beautiful", "fresh", "superb", "warm"};
constexpr const char* bad[] = {"bad",  "dull",  "terrible", "boring", "clumsy", "slow",
                               "weak", "awful", "shallow",  "stale",  "silly",  "ugly"};
constexpr const char* things[] = {"the film",       "the plot",     "the acting", "the music",
                                  "the story",      "the ending",   "the script", "the cast",
                                  "the first half", "the dialogue", "this book",  "the show"};
constexpr const char* fillers[] = {"i saw it on monday .",    "my sister came along .",
                                   "it runs for two hours .", "we sat in the third row .",
                                   "it was made last year .", "the director is from the north ."};

std::string word(bool positive, Random& random) {
  return positive ? one_of(good, random) : one_of(bad, random);
}

// A clause that finds something good or bad, as asked; half of them say so by negation.
std::string clause(bool positive, Random& random) {
  const std::string thing = one_of(things, random);
  const std::string verb = one_of({"is", "was", "seemed"}, random);
  if (chance(50, random)) {
    if (chance(15, random)) {
      return say(thing, " ", verb, " both ", word(positive, random), " and ",
                 word(positive, random));
    }
    const std::string how =
        chance(40, random) ? one_of({"very ", "really ", "truly ", "quite ", "so "}, random) : "";
    return say(thing, " ", verb, " ", how, word(positive, random));
  }
  const bool said = !positive;
  if (chance(15, random)) {
    return say(thing, " ", verb, " neither ", word(said, random), " nor ", word(said, random));
  }
  if (chance(20, random)) {
    return say("nobody can call ", thing, " ", word(said, random));
  }
  const std::string not_so = one_of(
      {"not", "never", "not very", "far from", "not at all", "hardly", "anything but"}, random);
  return say(thing, " ", verb, " ", not_so, " ", word(said, random));
}

std::string opinion(bool positive, Random& random) {
  const uint64_t kind = random.below(100);
  const std::string main = clause(positive, random);
  if (kind < 50) return say(main, " .");
  if (kind < 70) return say(clause(!positive, random), " , but ", main, " .");
  if (kind < 80) return say("although ", clause(!positive, random), " , ", main, " .");
  if (kind < 90) return say(main, " , although ", clause(!positive, random), " .");
  return say(main, " and ", clause(positive, random), " .");
}

}  // namespace

std::vector<Labelled> generate_sentiment(int64_t n, Random random) {
  std::vector<Labelled> examples;
  for (int64_t i = 0; i < n; ++i) {
    const bool positive = random.below(2) == 0;
    std::string text = opinion(positive, random);
    if (chance(20, random)) text = say(one_of(fillers, random), " ", text);
    if (chance(20, random)) text = say(text, " ", one_of(fillers, random));
    examples.push_back({std::move(text), positive ? "positive" : "negative"});
  }
  return examples;
}

}  // namespace fovea
