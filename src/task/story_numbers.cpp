#include "fovea/task/story_numbers.h"

#include "fovea/base/random.h"
#include "fovea/task/letters.h"

namespace fovea {

int32_t StoryNumbers::id(const std::string& word) const {
  const int32_t id = words_.id(word);
  if (id >= 0) return id;
  if (hashed_ == 0) return unknown;
  return static_cast<int32_t>(
      words_.size() + static_cast<int64_t>(hash_name(word) % static_cast<uint64_t>(hashed_)));
}

std::vector<int32_t> StoryNumbers::ids(const std::vector<std::string>& words) const {
  std::vector<int32_t> ids;
  for (const std::string& word : words) ids.push_back(id(word));
  return ids;
}

void StoryNumbers::number_question(NumberedStoryQuestion& q) const {
  q.question_ids = ids(q.question);
  if (letters_) q.question_letters = letters_of(q.question);
}
void StoryNumbers::number(NumberedStoryQuestion& q) {
  number_question(q);
  auto& known = stories_[q.story.get()];
  if (!known.second) known = {q.story, story(*q.story)};
  q.numbers = known.second;
}
NumberedStoryQuestion StoryNumbers::numbered(StoryQuestion question) const {
  NumberedStoryQuestion q{std::move(question), nullptr, {}, {}};
  number_question(q);
  q.numbers = story(*q.story);
  return q;
}

std::shared_ptr<const NumberedStory> StoryNumbers::story(
    const std::vector<Remembered>& story) const {
  auto numbers = std::make_shared<NumberedStory>();
  for (const Remembered& r : story) {
    numbers->words.push_back(ids(r.words));
    if (letters_) numbers->letters.push_back(letters_of(r.words));
    if (r.value.empty()) continue;
    numbers->keys.push_back(ids(r.key));
    numbers->values.push_back(ids(r.value));
  }
  return numbers;
}

}  // namespace fovea
