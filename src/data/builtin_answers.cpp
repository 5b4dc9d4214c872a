// builtin:answers. A question about one thing, and sentences that may tell it: some name the thing
// and say something else of it, some say the right kind of thing of another. Only both texts
// together tell.
#include "fovea/base/error.h"
#include "fovea/data/builtin.h"
#include "fovea/data/builtin_grammar.h"

namespace fovea {
namespace {

constexpr const char* people[] = {"anna",  "boris", "clara", "david", "emma",  "felix",
                                  "grace", "henry", "irene", "jacob", "karin", "leon"};

struct Relation {
  const char *question, *statement;  // with the person in front, or between
  std::initializer_list<const char*> answers;
};
const Relation relations[] = {
    {"where does X live", "X lives in", {"paris", "rome", "oslo", "lima", "cairo"}},
    {"when was X born", "X was born in", {"may", "june", "1980", "1975", "march"}},
    {"what does X eat", "X likes to eat", {"bread", "fish", "rice", "soup", "apples"}},
    {"which animal does X have", "X owns a", {"dog", "cat", "horse", "parrot", "goat"}},
};

std::string about(std::string pattern, const std::string& person) {
  return pattern.replace(pattern.find('X'), 1, person);
}

std::string statement(const Relation& relation, const std::string& person, Random& random) {
  return say(about(relation.statement, person), " ", one_of(relation.answers, random));
}

}  // namespace

std::vector<TextPair> generate_answers(int64_t n, Random random) {
  std::vector<TextPair> all;
  constexpr int64_t candidates = 4;  // to each question, one of which answers it
  while (static_cast<int64_t>(all.size()) < n) {
    const uint64_t asked = random.below(std::size(relations));
    const std::string person = one_of(people, random);
    const std::string question = about(relations[asked].question, person) + " ?";
    const auto right = static_cast<int64_t>(random.below(candidates));
    for (int64_t i = 0; i < candidates && static_cast<int64_t>(all.size()) < n; ++i) {
      uint64_t relation = asked, step = 0;
      std::string who = person;
      if (i != right) {
        step = random.below(3);
        if (step > 0) relation = (asked + 1 + random.below(std::size(relations) - 1)) % 4;
        while (step != 1 && who == person) who = one_of(people, random);
      }
      std::string text = statement(relations[relation], who, random);
      // Beside it stands something of somebody else, so that names alone do not tell.
      std::string other = person;
      while (other == person || other == who) other = one_of(people, random);
      const uint64_t more = random.below(std::size(relations));
      const std::string beside = statement(relations[more], other, random);
      text = chance(50, random) ? say(text, " and ", beside) : say(beside, " and ", text);
      all.push_back({question, text + " .", i == right ? "yes" : "no"});
    }
  }
  return all;
}

}  // namespace fovea
