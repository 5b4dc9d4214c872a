#include "fovea/data/labelled_pictures.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/array_file.h"
#include "fovea/data/digits.h"
#include "fovea/data/picture_batch.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view builtin = "builtin:";

bool is_table_name(const std::string& name) { return has_suffix(name, {".csv", ".tsv", ".jsonl"}); }

// What a folder holds, in order of names.
struct Listing {
  std::vector<std::string> files, folders;
};
Listing listing_of(const std::string& folder) {
  Listing all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.')) continue;
    (entry.is_directory() ? all.folders : all.files).push_back(name);
  }
  check<ErrorKind::io>(!error, folder, ": cannot be read: ", error.message());
  std::ranges::sort(all.files);
  std::ranges::sort(all.folders);
  return all;
}

// "train-images-idx3-ubyte.gz" -> "train-labels-idx1-ubyte.gz"; nothing where it tells none.
std::optional<std::string> labels_name(const std::string& images) {
  std::string name = fs::path(images).filename().string();
  const size_t at = name.rfind("images");
  if (at == std::string::npos) return std::nullopt;
  name.replace(at, 6, "labels");
  if (const size_t axes = name.rfind("idx3"); axes != std::string::npos) {
    name.replace(axes, 4, "idx1");
  }
  return (fs::path(images).parent_path() / name).string();
}

// The arrays of a folder whose names begin with one of these, as "images,labels"; else "".
std::string arrays_of(const std::string& folder, std::initializer_list<std::string_view> begins) {
  for (const std::string& name : listing_of(folder).files) {
    const std::string lower = to_lowercase(name);
    const std::string path = folder + "/" + name;
    const bool fits = std::ranges::any_of(
        begins, [&](std::string_view begin) { return lower.starts_with(begin); });
    if (!fits || lower.find("images") == std::string::npos) continue;
    const auto labels = labels_name(path);
    if (labels && fs::exists(*labels) && is_array_file(path)) return path + "," + *labels;
  }
  return "";
}

std::vector<LabelledPicture> read_arrays(const std::string& images, const std::string& labels,
                                         ReadSummary& summary) {
  const std::vector<std::string> names = read_array_labels(labels);
  const PictureSize size = picture_size(images);
  const int64_t count = array_shape(images)[0];
  check<ErrorKind::input>(count == static_cast<int64_t>(names.size()), images, ": holds ", count,
                          " pictures, but ", labels, " has ", names.size(), " labels");
  summary.path = images + "," + labels;
  summary.format = "arrays";
  summary.format_reason = say("pictures of ", size.height, " x ", size.width, " pixels");
  std::vector<LabelledPicture> all;
  for (size_t i = 0; i < names.size(); ++i) all.push_back({say(images, "#", i), names[i], size});
  return all;
}

// Takes a picture if its header can be read; else it is an Error or counted.
class Taker {
 public:
  Taker(ReadSummary& summary, bool skip_bad) : summary_(summary), skip_bad_(skip_bad) {}

  void take(const std::string& path, std::string label, const std::string& where, int64_t line) {
    try {
      std::error_code error;
      check<ErrorKind::io>(fs::exists(path, error), "there is no file ", path);
      all.push_back({path, std::move(label), picture_size(path)});
    } catch (const Error& error) {
      const std::string problem = error.what();
      if (!skip_bad_) throw Error(where.empty() ? problem : where + ": " + problem, error.kind());
      ++summary_.bad_rows;
      if (summary_.first_bad.size() < 5) summary_.first_bad.push_back({line, problem});
    }
  }

  std::vector<LabelledPicture> all;

 private:
  ReadSummary& summary_;
  bool skip_bad_;
};

std::vector<LabelledPicture> read_table(const std::string& path, const ReadOptions& options,
                                        ReadSummary& summary) {
  RecordReader records(path, {{"label", Role::Kind::label}, {"picture", Role::Kind::picture}},
                       options);
  struct Row {
    std::string picture, label;
    int64_t line;
  };
  std::vector<Row> rows;
  while (records.next()) {
    rows.push_back({std::string(records.text(1)), std::string(records.text(0)), records.line()});
  }
  summary = records.summary();
  Taker taker(summary, options.skip_bad);
  const fs::path folder = fs::path(path).parent_path();
  for (Row& row : rows) {
    taker.take((folder / row.picture).string(), std::move(row.label), say(path, ":", row.line),
               row.line);
  }
  return std::move(taker.all);
}

std::vector<LabelledPicture> read_folders(const std::string& folder, const Listing& listing,
                                          const ReadOptions& options, ReadSummary& summary) {
  summary.path = folder;
  summary.format = "folders";
  summary.format_reason = "a folder of pictures for each label";
  Taker taker(summary, options.skip_bad);
  for (const std::string& label : listing.folders) {
    const std::string inside = folder + "/" + label;
    for (const std::string& name : listing_of(inside).files) {
      if (is_picture_name(name)) taker.take(inside + "/" + name, label, "", 0);
    }
  }
  return std::move(taker.all);
}

std::vector<LabelledPicture> read_folder(const std::string& folder, const ReadOptions& options,
                                         ReadSummary& summary) {
  const Listing listing = listing_of(folder);
  for (const auto& begins : {std::initializer_list<std::string_view>{"train"},
                             std::initializer_list<std::string_view>{""}}) {
    const std::string arrays = arrays_of(folder, begins);
    if (arrays.empty()) continue;
    const size_t comma = arrays.find(',');
    return read_arrays(arrays.substr(0, comma), arrays.substr(comma + 1), summary);
  }
  std::vector<std::string> tables;
  for (const std::string& name : listing.files) {
    if (is_table_name(name)) tables.push_back(folder + "/" + name);
  }
  check<ErrorKind::input>(tables.size() <= 1, folder, ": holds several tables, ",
                          tables.empty() ? "" : tables[0],
                          " and others; name the one that is meant");
  if (!tables.empty()) return read_table(tables[0], options, summary);
  check<ErrorKind::input>(!listing.folders.empty(), folder,
                          ": holds neither a table that names pictures and labels (CSV, TSV, JSON "
                          "lines), nor a folder of pictures for each label, nor IDX arrays");
  return read_folders(folder, listing, options, summary);
}

}  // namespace

std::string test_arrays_of(const std::string& folder) {
  if (!fs::is_directory(folder)) return "";
  return arrays_of(folder, {"t10k", "test"});
}

std::vector<LabelledPicture> read_labelled_pictures(const std::string& path,
                                                    const ReadOptions& options, ReadSummary* told) {
  ReadSummary summary;
  std::vector<LabelledPicture> all;
  const size_t comma = path.find(',');
  std::error_code error;
  if (fs::is_directory(path, error)) {
    all = read_folder(path, options, summary);
  } else if (comma != std::string::npos && !fs::exists(path, error)) {
    all = read_arrays(path.substr(0, comma), path.substr(comma + 1), summary);
  } else if (path != "-" && is_array_file(path)) {
    const auto labels = labels_name(path);
    check<ErrorKind::input>(labels && *labels != path && fs::exists(*labels), path,
                            ": is an array of pictures; name the one of their labels too, as in ",
                            path, ",labels");
    all = read_arrays(path, *labels, summary);
  } else {
    all = read_table(path, options, summary);
  }
  check<ErrorKind::input>(!all.empty(), path, ": holds no picture with a label");
  summary.rows = static_cast<int64_t>(all.size());
  if (told) *told = std::move(summary);
  return all;
}

std::shared_ptr<const PictureStore::Array> PictureStore::array(const std::string& file) const {
  const std::lock_guard lock(mutex_);
  auto& kept = arrays_[file];
  if (!kept) kept = std::make_shared<const Array>(read_pictures(file));
  return kept;
}

std::shared_ptr<const Picture> PictureStore::get(const std::string& name,
                                                 const PictureSize& size) const {
  const PicturePlace place = picture_place(name);
  const auto fit = [&](const Picture& picture) {
    return std::make_shared<const Picture>(fitted(picture, size));
  };
  if (name.starts_with(builtin)) {
    check(place.file == "builtin:digits" && place.index >= 0, "'", name,
          "' is no picture; the built-in ones are builtin:digits#0, #1, ...");
    return fit(builtin_digit(place.index));
  }
  if (place.index >= 0) {
    const auto all = array(place.file);
    check<ErrorKind::input>(place.index < static_cast<int64_t>(all->size()), name,
                            ": there are only ", all->size(), " pictures, counted from 0");
    const Picture& picture = (*all)[static_cast<size_t>(place.index)];
    if (size_of(picture) == size) return {all, &picture};
    return fit(picture);
  }
  const std::string key = say(name, '\n', size.height, 'x', size.width, 'x', size.channels);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = files_.find(key); found != files_.end()) return found->second;
  }
  const auto made = fit(read_picture(name));
  const std::lock_guard lock(mutex_);
  const auto bytes = static_cast<int64_t>(made->pixels.size() + key.size() + 128);
  if (room_ >= bytes && files_.emplace(key, made).second) room_ -= bytes;
  return made;
}

}  // namespace fovea
