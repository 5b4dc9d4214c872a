#include "fovea/task/pictures.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/op/shape.h"

namespace fovea {

void PictureForm::add_to(ModelSizes& sizes) const {
  sizes.height = size.height, sizes.width = size.width, sizes.channels = size.channels;
  sizes.frames = frames;
}

PictureSize learned_size(const PictureOptions& options, std::span<const SharedPicture> pictures) {
  PictureSize first = size_of(*pictures.front());
  for (const SharedPicture& picture : pictures) {
    first.channels = std::max(first.channels, picture->channels);
  }
  return wanted_size(options, first);
}

void save_form(const std::string& folder, const PictureForm& form) {
  const nlohmann::json json{{"height", form.size.height},
                            {"width", form.size.width},
                            {"channels", form.size.channels},
                            {"frames", form.frames}};
  const std::string text = json.dump(1) + "\n";
  write_file_atomically(folder + "/pictures.json", std::as_bytes(std::span(text)));
}

PictureForm load_form(const std::string& folder) {
  const std::string path = folder + "/pictures.json";
  std::ifstream file(path);
  check(file.good(), path, ": cannot be read; the model needs it");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  const auto number = [&](const char* name) {
    const bool fine = json.is_object() && json.contains(name) && json[name].is_number_integer();
    check(fine && json[name] >= 0 && json[name] < 1 << 20, path, ": does not say the ", name);
    return json[name].get<int64_t>();
  };
  return {{number("height"), number("width"), number("channels")}, number("frames")};
}

Tensor pictures_batch(std::span<const SharedPicture> pictures, const PictureForm& form) {
  std::vector<const Picture*> pointers;
  for (const SharedPicture& picture : pictures) pointers.push_back(picture.get());
  return picture_batch(pointers, form.size);
}

std::vector<SharedPicture> frames_seen(const std::vector<SharedPicture>& film, int64_t frames) {
  const auto n = static_cast<int64_t>(film.size());
  std::vector<SharedPicture> seen;
  for (int64_t f = 0; f < frames; ++f) {
    const int64_t at = frames == 1 ? 0 : (f * (n - 1) + (frames - 1) / 2) / (frames - 1);
    seen.push_back(film[static_cast<size_t>(at)]);
  }
  return seen;
}

Tensor films_batch(std::span<const std::vector<SharedPicture>> films, const PictureForm& form) {
  std::vector<SharedPicture> all;
  for (const auto& film : films) {
    for (SharedPicture& frame : frames_seen(film, form.frames)) all.push_back(std::move(frame));
  }
  return pictures_batch(all, form).reshaped({static_cast<int64_t>(films.size()), form.frames,
                                             form.size.height, form.size.width,
                                             form.size.channels});
}

std::vector<std::string> region_names(int64_t rows, int64_t columns) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) names.push_back(say(i + 1, ",", j + 1));
  }
  return names;
}

std::vector<std::string> frame_names(int64_t frames) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < frames; ++i) names.push_back(say(i + 1));
  return names;
}

Tally pointing_tally(std::span<const float> weights, int64_t rows, int64_t columns,
                     const Picture& picture, const PictureBox& box) {
  const double tall = static_cast<double>(picture.height) / static_cast<double>(rows),
               wide = static_cast<double>(picture.width) / static_cast<double>(columns);
  double inside = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const auto top = static_cast<double>(i) * tall;
    if (top >= box.y + box.height || top + tall <= box.y) continue;
    for (int64_t j = 0; j < columns; ++j) {
      const auto left = static_cast<double>(j) * wide;
      if (left >= box.x + box.width || left + wide <= box.x) continue;
      inside += weights[static_cast<size_t>(i * columns + j)];
    }
  }
  return {inside, 1};
}

Tally moment_tally(std::span<const float> weights, const WordPlace& place, int64_t all) {
  const auto n = static_cast<int64_t>(weights.size());
  double inside = 0;
  for (int64_t f = 0; f < n; ++f) {
    const int64_t at = n == 1 ? 0 : (f * (all - 1) + (n - 1) / 2) / (n - 1);
    if (at >= place.from && at < place.to) inside += weights[static_cast<size_t>(f)];
  }
  return {inside, 1};
}

}  // namespace fovea
