// Pictures with labels, from whatever holds them, and the pictures themselves by their names.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "fovea/data/picture_file.h"
#include "fovea/data/records.h"

namespace fovea {

// A picture by name, as PictureStore has it, and its label.
struct LabelledPicture {
  std::string name, label;  // what PictureStore::get() takes, and what the picture shows
  PictureSize size{};       // as its header says
};

// From
//   a table (CSV, TSV, JSON lines) with the roles label and picture, a file's name from its folder;
//   a folder with one such table, or with a folder of pictures for each label;
//   two arrays, "images,labels", IDX or NPY; the images alone where the name tells the labels';
//   a folder with IDX arrays as MNIST has them: those called train, or all there are.
// Every picture's header is looked at: what is missing or none is an Error with file and line, or
// with skip_bad left out. `summary`, if given, gets what was read.
std::vector<LabelledPicture> read_labelled_pictures(const std::string& path,
                                                    const ReadOptions& options,
                                                    ReadSummary* summary = nullptr);
// Of a folder with arrays as MNIST has them, those to test on, as "images,labels"; else "".
std::string test_arrays_of(const std::string& folder);

// Pictures by name: a file, "FILE#i" of an array, or "builtin:digits#i". Arrays are read once and
// kept; files are decoded when asked for and kept, in their fitted size, as long as they take up no
// more than so many bytes. Safe from many threads at once.
class PictureStore {
 public:
  explicit PictureStore(int64_t most_bytes = int64_t{512} << 20) : room_(most_bytes) {}

  // Fitted to the size.
  std::shared_ptr<const Picture> get(const std::string& name, const PictureSize& size) const;

 private:
  using Array = std::vector<Picture>;
  std::shared_ptr<const Array> array(const std::string& file) const;

  mutable std::mutex mutex_;
  mutable int64_t room_;
  mutable std::unordered_map<std::string, std::shared_ptr<const Array>> arrays_;
  mutable std::unordered_map<std::string, std::shared_ptr<const Picture>> files_;
};

}  // namespace fovea
