// builtin:cloze. Who did what to whom, in sentences of either voice; the question says one of them
// again, in either voice, with a blank. Names are numbers that mean something else in each story,
// so that only reading tells.
#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/builtin_grammar.h"
#include "fovea/data/passages.h"

namespace fovea {
namespace {

constexpr int64_t names = 12;  // that a story draws from

struct Deed {
  const char *active, *passive;  // X did it to Y; Y had it done by X
};
constexpr Deed deeds[] = {{"visited", "was visited by"},   {"called", "was called by"},
                          {"helped", "was helped by"},     {"thanked", "was thanked by"},
                          {"sued", "was sued by"},         {"praised", "was praised by"},
                          {"followed", "was followed by"}, {"invited", "was invited by"}};
constexpr const char* before[] = {"today", "yesterday", "last week", "in spring"};

struct Fact {
  uint64_t deed;
  int64_t who, whom;
};

std::string sentence(const Fact& fact, const std::string& who, const std::string& whom,
                     Random& random) {
  const Deed& deed = deeds[fact.deed];
  return chance(50, random) ? say(who, " ", deed.active, " ", whom)
                            : say(whom, " ", deed.passive, " ", who);
}

std::string entity(int64_t number) { return say("@entity", number); }

// Facts of which no two agree in the deed and in one of the two: each says who, and to whom.
std::vector<Fact> story_of(int64_t n, int64_t people, Random& random) {
  std::vector<Fact> facts;
  while (static_cast<int64_t>(facts.size()) < n) {
    const Fact one{random.below(std::size(deeds)),
                   static_cast<int64_t>(random.below(static_cast<uint64_t>(people))),
                   static_cast<int64_t>(random.below(static_cast<uint64_t>(people)))};
    const bool clear = std::ranges::none_of(facts, [&](const Fact& other) {
      return other.deed == one.deed && (other.who == one.who || other.whom == one.whom);
    });
    if (one.who != one.whom && clear) facts.push_back(one);
  }
  return facts;
}

}  // namespace

std::vector<PassageQuestion> generate_clozes(int64_t n, Random random) {
  std::vector<PassageQuestion> all;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t> called(names);
    std::iota(called.begin(), called.end(), 0);
    for (size_t k = called.size(); k > 1; --k) std::swap(called[k - 1], called[random.below(k)]);
    const auto people = static_cast<int64_t>(4 + random.below(3));
    const auto facts = story_of(static_cast<int64_t>(4 + random.below(4)), people, random);
    const auto name = [&](int64_t person) { return entity(called[static_cast<size_t>(person)]); };
    std::string passage;
    for (const Fact& fact : facts) {
      if (!passage.empty()) passage += ' ';
      if (chance(30, random)) passage += one_of(before, random) + " ";
      passage += sentence(fact, name(fact.who), name(fact.whom), random) + " .";
    }
    const Fact& asked = facts[random.below(facts.size())];
    const bool who = chance(50, random);
    PassageQuestion q;
    q.question = sentence(asked, who ? "@placeholder" : name(asked.who),
                          who ? name(asked.whom) : "@placeholder", random) +
                 " .";
    q.answers = {{name(who ? asked.who : asked.whom)}};
    q.candidates = candidates_in(passage);
    q.passage = std::make_shared<const std::string>(std::move(passage));
    all.push_back(std::move(q));
  }
  return all;
}

}  // namespace fovea
