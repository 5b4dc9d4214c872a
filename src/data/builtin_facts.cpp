// builtin:facts. A few sentences about two or three people, and a question whose answer is a part
// of one of them.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/builtin_grammar.h"
#include "fovea/data/passages.h"

namespace fovea {
namespace {

constexpr const char* first_names[] = {"Anna",  "Boris", "Clara", "David", "Emma",  "Felix",
                                       "Grace", "Henry", "Irene", "Jacob", "Karin", "Leon"};
constexpr const char* last_names[] = {"Silva",  "Novak", "Meyer", "Rossi",  "Okoye",
                                      "Tanaka", "Berg",  "Costa", "Dubois", "Ivanov"};
constexpr const char* cities[] = {"Lisbon", "Oslo",  "Cairo",     "Lima",           "Rome",
                                  "Kyoto",  "Porto", "New Delhi", "Rio de Janeiro", "Cape Town"};
constexpr const char* jobs[] = {"nurse",       "baker",        "school teacher", "painter",
                                "sea captain", "train driver", "carpenter",      "chemist"};
constexpr const char* things[] = {"a grey horse",  "two small dogs", "an old piano",
                                  "a red bicycle", "three parrots",  "a fishing boat"};
constexpr const char* months[] = {"January", "March", "May", "June", "August", "October"};

struct Relation {
  const char* statements[2];  // X is the person, V what is said of them
  const char* questions[2];
};
constexpr Relation relations[] = {
    {{"X was born in V .", "The birthplace of X is V ."},
     {"Where was X born ?", "What is the birthplace of X ?"}},
    {{"X was born on V .", "The birthday of X is V ."},
     {"When was X born ?", "What is the birthday of X ?"}},
    {{"X works as a V .", "By trade X is a V ."},
     {"What does X work as ?", "What is the trade of X ?"}},
    {{"X lives in V now .", "Today X has a house in V ."},
     {"Where does X live ?", "Where does X have a house ?"}},
    {{"X owns V .", "Among what X has is V ."}, {"What does X own ?", "What does X have ?"}}};

std::string value_of(size_t relation, Random& random) {
  switch (relation) {
    case 1:
      return say(1 + random.below(28), " ", one_of(months, random), " ", 1920 + random.below(90));
    case 2:
      return one_of(jobs, random);
    case 4:
      return one_of(things, random);
    default:
      return one_of(cities, random);
  }
}

// The pattern with X and V filled in, and where V begins in it.
std::string filled(std::string_view pattern, const std::string& person, const std::string& value,
                   int64_t* at = nullptr) {
  std::string text;
  for (const char c : pattern) {
    if (c == 'X') {
      text += person;
    } else if (c == 'V') {
      if (at) *at = static_cast<int64_t>(text.size());
      text += value;
    } else {
      text += c;
    }
  }
  return text;
}

struct Fact {
  size_t relation;
  std::string person, value;
  int64_t begin;  // of the value in the passage
};

}  // namespace

std::vector<PassageQuestion> generate_facts(int64_t n, Random random) {
  std::vector<PassageQuestion> all;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<std::string> people;
    while (people.size() < 2 + random.below(2)) {
      const std::string name = say(one_of(first_names, random), " ", one_of(last_names, random));
      if (std::ranges::find(people, name) == people.end()) people.push_back(name);
    }
    std::vector<Fact> facts;
    std::string passage;
    const size_t count = 4 + random.below(3);
    while (facts.size() < count) {
      const size_t relation = random.below(std::size(relations));
      const std::string person = one_of(people, random);
      const bool said = std::ranges::any_of(
          facts, [&](const Fact& f) { return f.relation == relation && f.person == person; });
      if (said) continue;
      const std::string value = value_of(relation, random);
      int64_t at = 0;
      const std::string sentence =
          filled(relations[relation].statements[random.below(2)], person, value, &at);
      if (!passage.empty()) passage += ' ';
      facts.push_back({relation, person, value, at + static_cast<int64_t>(passage.size())});
      passage += sentence;
    }
    const Fact& asked = facts[random.below(facts.size())];
    PassageQuestion q;
    q.question = filled(relations[asked.relation].questions[random.below(2)], asked.person, "");
    q.answers = {{asked.value, asked.begin}};
    q.passage = std::make_shared<const std::string>(std::move(passage));
    all.push_back(std::move(q));
  }
  return all;
}

}  // namespace fovea
