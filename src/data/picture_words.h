// Pictures and films with words to them: captions, and questions with their answers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/data/picture.h"
#include "fovea/data/picture_box.h"
#include "fovea/data/records.h"

namespace fovea {

// Where what a word names is to be seen.
struct WordPlace {
  PictureBox box{};            // in a picture; without a width: nowhere
  int32_t from = -1, to = -1;  // in a film: the frames [from, to); from < 0: not known
  // Whether anything is known.
  bool known() const { return box.width > 0 || from >= 0; }
};

// A picture, or the frames of a film, and a text about it.
struct Captioned {
  std::string name{};  // what it is asked for by: a path, several of them, or builtin:scenes#17
  std::vector<std::shared_ptr<const Picture>> pictures{};  // one, or the frames in order
  std::string caption{};                                   // the text
  std::vector<WordPlace> places{};  // of the caption's words, split at spaces; empty: not known
};

// A picture, a question and its answer.
struct PictureQuestion {
  std::string name{};                        // as above
  std::shared_ptr<const Picture> picture{};  // that is asked about
  std::string question{}, answer{};          // texts
  WordPlace place{};                         // of what the question asks about
};

// A path, or builtin:scenes#17, or FILE#17 of an array of pictures.
std::shared_ptr<const Picture> picture_called(const std::string& name);
// The frames of one line: paths with spaces between them, or builtin:moving#3.
std::vector<std::shared_ptr<const Picture>> frames_called(const std::string& line);

// Roles picture (or frames, a list) and caption, of any file that RecordReader takes. Paths are
// taken from the file's folder on; each picture is read once.
std::vector<Captioned> read_captioned(const std::string& path, bool frames,
                                      const ReadOptions& options, ReadSummary* summary = nullptr);
// Roles picture, question and answer; or a folder or the beginning of names as SHAPES has them:
// NAME.input.npy, NAME.query_str.txt and NAME.output.
std::vector<PictureQuestion> read_picture_questions(const std::string& path,
                                                    const ReadOptions& options,
                                                    ReadSummary* summary = nullptr);

// The parts of a folder as SHAPES has it: what comes before ".input.npy", of the largest
// train.* and of val and test; empty where there is none.
struct ShapesFolder {
  std::string train{}, dev{}, test{};  // "FOLDER/train.large", "FOLDER/val", "FOLDER/test"
};
// Of a folder; all empty where it is none of that kind.
ShapesFolder shapes_folder(const std::string& path);

// Two to five coloured shapes and digits on a dark ground, and what they are from left to right:
// "circle 7 square". Number i is a function of random.fork(i).
std::vector<Captioned> generate_scenes(int64_t n, const Random& random);
// The same pictures with a question: what colour a thing is, what has a colour, whether there is
// such a thing, what stands at an edge.
std::vector<PictureQuestion> generate_scene_questions(int64_t n, const Random& random);
// Films of a thing that moves in one direction and then in another while a second stands still:
// "red circle moves left then up".
std::vector<Captioned> generate_moving(int64_t n, const Random& random);

// The stream of built-in data, by its name: "scenes".
Random builtin_stream(const std::string& name);
// One of them.
Captioned scene_number(const Random& random, int64_t i);
Captioned film_number(const Random& random, int64_t i);

}  // namespace fovea
