// builtin:stories. A small world: people walk about, take things along and leave them; questions
// follow from one sentence (where is he?), two (where is what he took?) or three (where was it
// before?).
#include <map>
#include <set>

#include "fovea/data/builtin_grammar.h"
#include "fovea/data/stories.h"

namespace fovea {
namespace {

const std::vector<std::string> people{"Mary", "John", "Sandra", "Daniel"},
    places{"garden", "kitchen", "office", "bathroom", "hallway", "bedroom"},
    things{"football", "apple", "milk"};

class World {
 public:
  explicit World(Random& random) : random_(random) {}

  void go_on() {
    const std::string who = one_of(people, random_);
    const uint64_t what = random_.below(4);
    if (what == 0 && !at_.contains(who)) return walk(who);
    if (what == 0) return take(who);
    if (what == 1 && has_anything(who)) return leave(who);
    walk(who);
  }

  // A question of that many facts, if there is one.
  bool ask(int64_t facts, StoryQuestion& q) {
    std::vector<StoryQuestion> could;
    if (facts == 1) {
      for (const auto& [who, place] : at_)
        could.push_back(question({"Where", "is", who}, place.name, {place.told}));
    }
    for (const std::string& thing : things) {
      const auto& trail = trails_[thing];
      if (facts == 2 && !trail.empty()) {
        const Stop& last = trail.back();
        could.push_back(
            question({"Where", "is", "the", thing}, last.place, {last.took, last.came}));
      }
      if (facts == 3 && trail.size() >= 2) {
        const Stop &last = trail.back(), &before = trail[trail.size() - 2];
        // Each leads to the next. Who took it is another one only where it was left in between.
        StoryQuestion one = question({"Where", "was", "the", thing, "before", "the", last.place},
                                     before.place, {last.took, last.came, before.came});
        if (before.took != last.took) one.facts.push_back(before.took);
        could.push_back(one);
      }
    }
    if (could.empty()) return false;
    q = could[random_.below(could.size())];
    q.task = std::to_string(facts);
    return true;
  }

  std::vector<Remembered> story;
  std::string text;

 private:
  struct Place {
    std::string name;
    int32_t told;  // by which sentence
  };
  struct Stop {
    std::string place;
    int32_t took, came;  // by which sentences: who had it, and that he came there
  };

  int32_t tell(const std::string& sentence) {
    story.push_back({words_of_sentence(sentence), {}, {}});
    text += sentence + "\n";
    return static_cast<int32_t>(story.size()) - 1;
  }
  static StoryQuestion question(const std::vector<std::string>& words, const std::string& answer,
                                const std::vector<int32_t>& facts) {
    StoryQuestion q;
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    q.input = text + "?";
    q.question = words_of_sentence(q.input);
    q.answers = {answer};
    q.facts = facts;
    return q;
  }
  bool has_anything(const std::string& who) const {
    for (const auto& [thing, holder] : held_) {
      if (holder.name == who) return true;
    }
    return false;
  }
  void walk(const std::string& who) {
    const std::string place = one_of(places, random_);
    if (at_.contains(who) && at_[who].name == place) return;
    at_[who] = {place,
                tell(who + one_of({" went to the ", " moved to the ", " walked to the "}, random_) +
                     place + ".")};
    for (const auto& [thing, holder] : held_) {
      if (holder.name == who) trails_[thing].push_back({place, holder.told, at_[who].told});
    }
  }
  void take(const std::string& who) {
    const std::string thing = one_of(things, random_);
    if (held_.contains(thing)) return walk(who);
    const auto& trail = trails_[thing];
    if (!trail.empty() && trail.back().place != at_[who].name) return walk(who);
    held_[thing] = {who, tell(who + one_of({" took the ", " got the "}, random_) + thing + ".")};
    // Where it is follows from where the one who took it is.
    if (trail.empty()) trails_[thing].push_back({at_[who].name, held_[thing].told, at_[who].told});
  }
  void leave(const std::string& who) {
    for (const auto& [thing, holder] : held_) {
      if (holder.name != who) continue;
      tell(who + one_of({" dropped the ", " left the "}, random_) + thing + ".");
      held_.erase(thing);
      return;
    }
  }

  Random& random_;
  std::map<std::string, Place> at_, held_;  // of people, and who has a thing
  std::map<std::string, std::vector<Stop>> trails_;
};

}  // namespace

std::vector<StoryQuestion> generate_stories(int64_t n, Random random) {
  std::vector<StoryQuestion> all;
  while (static_cast<int64_t>(all.size()) < n) {
    const auto facts = static_cast<int64_t>(all.size()) % 3 + 1;
    World world(random);
    const uint64_t steps = 3 + 3 * static_cast<uint64_t>(facts) + random.below(6);
    for (uint64_t i = 0; i < steps; ++i) world.go_on();
    StoryQuestion q;
    if (!world.ask(facts, q)) continue;
    q.sentences = world.story.size();
    q.story = std::make_shared<const std::vector<Remembered>>(std::move(world.story));
    q.input = world.text + q.input;
    all.push_back(std::move(q));
  }
  return all;
}

}  // namespace fovea
