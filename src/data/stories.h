// Stories and questions about them. Formats:
//   bAbI         "3 Mary went home." and "4 Where is Mary?\thome\t3": numbered lines, 1 begins a
//                story, a question has an answer and the numbers of the lines that it follows from
//   plain        the same without numbers: a blank line begins a story, facts count its sentences
//   JSON lines   {"question": ..., "answers": [...], "memory": [[entity, relation, value], ...]} or
//                "story": [sentences] or a text; sentences and questions are strings or lists of
//                words. With "split" (train, dev, test) one file holds all parts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fovea/base/random.h"

namespace fovea {

// Of a text, in order.
using Words = std::vector<std::string>;

// Lower case, without the marks at their ends; what a list of JSON gives stays whole.
Words words_of_sentence(const std::string& text);
// Text as people write it: cut behind . ! and ? (a title's dot as in "Dr. Who" ends nothing) and at
// line breaks.
std::vector<std::string> sentences_of(const std::string& text);
bool is_question(const std::string& sentence);  // it ends with ?

// A sentence of a story, or an entry of a key-value memory.
struct Remembered {
  Words words;       // of the sentence, or of key and value together
  Words key, value;  // of a key-value memory; a value is one word, whatever it is made of
};

// A question about a story as far as it has come.
struct StoryQuestion {
  std::shared_ptr<const std::vector<Remembered>> story;  // all of it, shared by its questions
  size_t sentences = 0;              // of the story, that come before the question
  Words question;                    // its words
  std::vector<std::string> answers;  // any of them is right
  std::vector<int32_t> facts;        // places in the story that the answer follows from
  std::string task, split;           // "" where there is none
  std::string input;                 // story and question as text, or the line of JSON
};

// A line of a story, as it is to be read.
struct StoryLine {
  std::string_view text;  // without its number
  int64_t number = 0;     // bAbI's; 0: the story's lines have none
  bool first = false;     // of its story
};
// Tells the numbers in front of bAbI's lines from those that people write: only a story whose first
// line is numbered 1 has them, and they rise. Another 1 begins the next story.
class StoryLines {
 public:
  // A line that is not blank, which stays the caller's.
  StoryLine next(std::string_view line);

 private:
  bool begun_ = false;
  int64_t last_ = 0;  // number; 0: they have none
};

// How files are read.
struct StoryReading {
  std::string encoding = "auto";  // as LineReader takes it
  // What cannot be read is told here and left out; without it, it is an Error.
  std::function<void(const std::string& problem)> on_bad{};
};
// A file, several files a,b,c, or a folder whose files' names hold `part` ("train", "test"). A file
// without a question is an Error, as is a fact that is no sentence before its question; a story
// without a question among others is passed over.
std::vector<StoryQuestion> read_stories(const std::string& path, const std::string& part = "",
                                        const StoryReading& how = {});
// One story with its question, as text or as a line of JSON; answers may be missing. Lines are
// sentences, as in a file; a line with its question behind other sentences is cut into them.
StoryQuestion story_of_text(const std::string& text);

// A story is told line by line, and asked about; a blank line begins another. Keeps what was told
// in so_far, and gives the story with its question where the line asks one, as story_of_text takes
// it.
std::optional<std::string> story_heard(std::string& so_far, const std::string& line);

// Which tasks "1,4-10" names, of those that are there: of a list each must be there, of a range
// any.
std::set<std::string> tasks_named(const std::string& said, const std::set<std::string>& there);

// builtin:stories: people, places and things, with one, two or three supporting facts (tasks 1, 2
// and 3, drawn equally often).
std::vector<StoryQuestion> generate_stories(int64_t n, Random random);

}  // namespace fovea
