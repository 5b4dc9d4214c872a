// Whatever bytes a file holds, it is a picture (or an array of them) of the size that its header
// says, or one sentence.
#include "fovea/data/picture_batch.h"
#include "fovea/data/picture_file.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  using fuzz::need;
  const std::string path = fuzz::file_of(data, size);
  bool array = false;
  if (!fuzz::allow_error([&] { array = is_array_file(path); })) return 0;
  std::vector<Picture> pictures;
  PictureSize said;
  const bool read = fuzz::allow_error([&] {
    said = picture_size(path);
    if (array) {
      pictures = read_pictures(path);
    } else {
      pictures.push_back(read_picture(path));
    }
  });
  fuzz::allow_error([&] { read_array_labels(path); });
  if (!read) return 0;
  for (const Picture& picture : pictures) {
    need(size_of(picture).height == said.height && picture.width == said.width);
    need(picture.channels == 1 || picture.channels == 3);
    need(static_cast<int64_t>(picture.pixels.size()) ==
         picture.height * picture.width * picture.channels);
  }
  if (!pictures.empty() && said.height * said.width < 4096) {
    const Picture small = fitted(pictures[0], {3, 5, 3});
    need(small.pixels.size() == 45);
    PictureOptions options;
    options.shift_by = 2, options.flip = true, options.crop = 0.5;
    need(augmented(small, options, Random(1)).pixels.size() == 45);
  }
  return 0;
}
