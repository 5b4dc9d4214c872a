// builtin:tags. Most words of the lists below stand in more than one of them. A verb without an
// auxiliary has a plural subject or is in the past, an object has a determiner, and no adverb is a
// noun, so that the grammar leaves one reading.
#include "fovea/data/builtin.h"
#include "fovea/data/builtin_grammar.h"

namespace fovea {
namespace {

constexpr const char* nouns[] = {"can",    "watch",   "saw",    "run",   "play",  "walk",
                                 "book",   "park",    "light",  "cook",  "plant", "fish",
                                 "answer", "work",    "duck",   "train", "drink", "house",
                                 "river",  "teacher", "garden", "child", "man"};
constexpr const char* plural_nouns[] = {"cans",  "watches", "runs",   "plays",  "walks",    "books",
                                        "parks", "lights",  "cooks",  "plants", "answers",  "works",
                                        "ducks", "trains",  "drinks", "houses", "teachers", "men"};
constexpr const char* verbs[] = {"can",   "watch", "run",   "play", "walk",   "book", "park",
                                 "light", "cook",  "plant", "fish", "answer", "work", "duck",
                                 "train", "drink", "see",   "hold", "man",    "back"};
constexpr const char* past_verbs[] = {"saw", "held", "watched", "liked", "left", "found", "lit"};
constexpr const char* singular_verbs[] = {"watches", "runs",  "plays",  "walks",  "books",
                                          "parks",   "cooks", "plants", "drinks", "sees"};
constexpr const char* adjectives[] = {"light", "fast",  "hard",  "back",  "well",
                                      "old",   "small", "green", "early", "open"};
constexpr const char* adverbs[] = {"fast", "hard", "back", "well", "early", "often", "slowly"};
constexpr const char* auxiliaries[] = {"can", "will", "must", "may", "should"};

class Sentence {
 public:
  explicit Sentence(Random& random) : random_(random) {
    clause();
    if (chance(20, random_)) {
      put(one_of({"and", "but", "or"}, random_), "CCONJ");
      clause();
    }
    put(".", "PUNCT");
  }
  Tagged take() { return std::move(sentence_); }

 private:
  enum class Subject { singular, plural };

  void put(const std::string& word, const char* tag) {
    sentence_.words.push_back(word);
    sentence_.tags.emplace_back(tag);
  }

  void put_determiner(const std::string& determiner, const std::string& next) {
    const bool vowel = std::string_view("aeiou").find(next[0]) != std::string_view::npos;
    put(determiner == "a" && vowel ? "an" : determiner, "DET");
  }

  Subject noun_phrase(bool subject) {
    if (chance(25, random_)) {
      const bool plural = chance(70, random_);
      put(subject ? plural ? one_of({"they", "we", "you", "i"}, random_)
                           : one_of({"she", "he", "it"}, random_)
                  : one_of({"them", "us", "her", "him", "it"}, random_),
          "PRON");
      return plural ? Subject::plural : Subject::singular;
    }
    const bool plural = chance(35, random_);
    const std::string determiner = plural ? one_of({"the", "these", "some", "our"}, random_)
                                          : one_of({"the", "a", "this", "our", "every"}, random_);
    const std::string adjective = chance(35, random_) ? one_of(adjectives, random_) : "";
    const std::string noun = plural ? one_of(plural_nouns, random_) : one_of(nouns, random_);
    put_determiner(determiner, adjective.empty() ? noun : adjective);
    if (!adjective.empty()) put(adjective, "ADJ");
    put(noun, "NOUN");
    if (subject && chance(12, random_)) prepositional_phrase();
    return plural ? Subject::plural : Subject::singular;
  }

  void prepositional_phrase() {
    put(one_of({"in", "near", "with", "by", "on"}, random_), "ADP");
    const std::string determiner = one_of({"the", "a", "our"}, random_);
    const std::string noun = one_of(nouns, random_);
    put_determiner(determiner, noun);
    put(noun, "NOUN");
  }

  void clause() {
    const Subject subject = noun_phrase(true);
    if (chance(40, random_)) {
      put(one_of(auxiliaries, random_), "AUX");
      if (chance(20, random_)) put(one_of({"not", "never"}, random_), "PART");
      put(one_of(verbs, random_), "VERB");
    } else if (chance(50, random_)) {
      put(one_of(past_verbs, random_), "VERB");
    } else {
      put(subject == Subject::plural ? one_of(verbs, random_) : one_of(singular_verbs, random_),
          "VERB");
    }
    if (chance(65, random_)) noun_phrase(false);
    if (chance(25, random_)) prepositional_phrase();
    if (chance(30, random_)) put(one_of(adverbs, random_), "ADV");
  }

  Random& random_;
  Tagged sentence_;
};

}  // namespace

std::vector<Tagged> generate_tags(int64_t n, Random random) {
  std::vector<Tagged> sentences;
  for (int64_t i = 0; i < n; ++i) sentences.push_back(Sentence(random).take());
  return sentences;
}

}  // namespace fovea
