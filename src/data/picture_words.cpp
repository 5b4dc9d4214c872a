#include "fovea/data/picture_words.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include "fovea/base/utf8.h"
#include "fovea/data/picture_file.h"
#include "fovea/data/text_file.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Shared = std::shared_ptr<const Picture>;

// The number behind "builtin:NAME#"; nothing where that is not what it says.
std::optional<int64_t> builtin_number(const std::string& name, std::string_view kind) {
  const std::string begin = say("builtin:", kind, "#");
  if (!name.starts_with(begin)) return std::nullopt;
  int64_t number = -1;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + begin.size(), end, number);
  check(error == std::errc() && rest == end && number >= 0, "'", name,
        "': needs a number from 0 on, as ", begin, "17");
  return number;
}

// Pictures that a file names, each read once.
class NamedPictures {
 public:
  explicit NamedPictures(const std::string& file) : folder_(fs::path(file).parent_path()) {}

  Shared get(const std::string& name) {
    Shared& found = known_[name];
    if (!found) found = picture_called(placed(name));
    return found;
  }
  // The name from here: from the file's folder on, unless it is there as it stands alone.
  std::string placed(const std::string& name) const {
    if (name.starts_with("builtin:") || fs::path(name).is_absolute()) return name;
    const std::string below = (folder_ / name).string();
    std::error_code ignored;
    const auto there = [&](const std::string& path) {
      return fs::exists(picture_place(path).file, ignored);
    };
    return there(below) || !there(name) ? below : name;
  }

 private:
  fs::path folder_;
  std::map<std::string, Shared> known_;
};

// What went wrong with a picture is said with the line that names it.
template <class F>
auto at_line(const RecordReader& records, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    fail<ErrorKind::input>(records.summary().path, ":", records.line(), ": ", error.what());
  }
}

}  // namespace

Shared picture_called(const std::string& name) {
  if (const auto number = builtin_number(name, "scenes")) {
    return scene_number(builtin_stream("scenes"), *number).pictures[0];
  }
  check(!name.starts_with("builtin:"), "'", name,
        "': of built-in pictures there is builtin:scenes#0 and so on");
  check<ErrorKind::io>(fs::exists(picture_place(name).file), name,
                       ": there is no such picture; name a PNG, JPEG or BMP file, FILE#17 of an "
                       "array of pictures, or builtin:scenes#17");
  return std::make_shared<const Picture>(read_picture(name));
}

std::vector<Shared> frames_called(const std::string& line) {
  if (const auto number = builtin_number(line, "moving")) {
    return film_number(builtin_stream("moving"), *number).pictures;
  }
  check(!line.starts_with("builtin:"), "'", line,
        "': of built-in films there is builtin:moving#0 and so on");
  std::vector<Shared> frames;
  for (const std::string_view name : split_at_spaces(line)) {
    frames.push_back(picture_called(std::string(name)));
  }
  check(!frames.empty(),
        "a film needs frames: their paths with spaces between them, or builtin:moving#17");
  return frames;
}

std::vector<Captioned> read_captioned(const std::string& path, bool frames,
                                      const ReadOptions& options, ReadSummary* summary) {
  std::vector<Role> roles{{frames ? "frames" : "picture"}, {"caption"}};
  roles[0].kind = frames ? Role::Kind::list : Role::Kind::picture;
  RecordReader records(path, roles, options);
  NamedPictures pictures(path);
  std::vector<Captioned> all;
  while (records.next()) {
    Captioned example{.caption = std::string(records.text(1))};
    at_line(records, [&] {
      std::vector<std::string> names;
      if (frames) {
        for (const std::string_view name : records.list(0)) names.emplace_back(name);
      } else {
        names.emplace_back(records.text(0));
      }
      for (const std::string& name : names) {
        example.pictures.push_back(pictures.get(name));
        example.name += say(example.name.empty() ? "" : " ", pictures.placed(name));
      }
      check(!example.pictures.empty(), "a film needs at least one frame");
    });
    all.push_back(std::move(example));
  }
  if (summary != nullptr) *summary = records.summary();
  return all;
}

namespace {

// NAME + part, plain or packed; empty where there is none.
std::string packed_or_plain(const std::string& name) {
  for (const char* end : {"", ".gz", ".xz", ".zst"}) {
    if (fs::is_regular_file(name + end)) return name + end;
  }
  return "";
}

bool is_shapes(const std::string& stem) { return !packed_or_plain(stem + ".input.npy").empty(); }

std::vector<PictureQuestion> read_shapes(const std::string& stem, ReadSummary* summary) {
  const std::string inputs = packed_or_plain(stem + ".input.npy");
  const auto lines = [&](const char* part) {
    const std::string file = packed_or_plain(stem + part);
    check<ErrorKind::io>(!file.empty(), stem, part, ": cannot be read; it belongs to ", inputs);
    return read_lines(file);
  };
  const std::vector<std::string> questions = lines(".query_str.txt"), answers = lines(".output");
  const std::vector<Picture> pictures = read_pictures(inputs);
  check<ErrorKind::input>(questions.size() == pictures.size() && answers.size() == pictures.size(),
                          stem, ": has ", pictures.size(), " pictures, ", questions.size(),
                          " questions and ", answers.size(), " answers; it needs equally many");
  std::vector<PictureQuestion> all;
  for (size_t i = 0; i < pictures.size(); ++i) {
    all.push_back({.name = say(inputs, "#", i),
                   .picture = std::make_shared<const Picture>(pictures[i]),
                   .question = questions[i],
                   .answer = answers[i]});
  }
  if (summary != nullptr) {
    *summary = {};
    summary->path = stem;
    summary->rows = static_cast<int64_t>(all.size());
    summary->format_reason = "pictures, questions and answers as SHAPES has them";
    summary->encoding = "UTF-8";
    summary->columns_reason = "input.npy, query_str.txt, output";
  }
  return all;
}

}  // namespace

ShapesFolder shapes_folder(const std::string& path) {
  ShapesFolder found;
  if (!fs::is_directory(path)) return found;
  const auto stem = [&](const char* name) {
    const std::string all = (fs::path(path) / name).string();
    return is_shapes(all) ? all : "";
  };
  for (const char* name : {"train.large", "train.med", "train.small", "train.tiny", "train"}) {
    if (found.train.empty()) found.train = stem(name);
  }
  found.dev = stem("val"), found.test = stem("test");
  return found;
}

std::vector<PictureQuestion> read_picture_questions(const std::string& path,
                                                    const ReadOptions& options,
                                                    ReadSummary* summary) {
  if (is_shapes(path)) return read_shapes(path, summary);
  if (fs::is_directory(path)) {
    const ShapesFolder folder = shapes_folder(path);
    check<ErrorKind::input>(!folder.train.empty(), path,
                            ": is a folder without train.*.input.npy; name a table of picture, "
                            "question and answer");
    return read_shapes(folder.train, summary);
  }
  RecordReader records(
      path, {{"picture", Role::Kind::picture}, {"question"}, {"answer", Role::Kind::label}},
      options);
  NamedPictures pictures(path);
  std::vector<PictureQuestion> all;
  while (records.next()) {
    const std::string name(records.text(0));
    all.push_back({.name = pictures.placed(name),
                   .picture = at_line(records, [&] { return pictures.get(name); }),
                   .question = std::string(records.text(1)),
                   .answer = std::string(records.text(2))});
  }
  if (summary != nullptr) *summary = records.summary();
  return all;
}

}  // namespace fovea
