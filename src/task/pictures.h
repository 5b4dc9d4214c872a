// What tasks of pictures and words share: which size pictures have, batches of them, and how
// looks at regions are drawn and measured.
#pragma once

#include <memory>
#include <span>

#include "fovea/data/picture_batch.h"
#include "fovea/data/picture_words.h"
#include "fovea/model/model.h"
#include "fovea/report/heat_map.h"
#include "fovea/task/maps.h"
#include "fovea/train/metric.h"

namespace fovea {

// Read once, however many examples are about it.
using SharedPicture = std::shared_ptr<const Picture>;

// What every picture of a run becomes; films also have frames.
struct PictureForm {
  PictureSize size{};  // height, width and channels
  int64_t frames = 0;  // 0: pictures, not films

  void add_to(ModelSizes& sizes) const;  // height, width, channels, frames
};
// What the options leave open is the first picture's size, and colours where any picture has them.
PictureSize learned_size(const PictureOptions& options, std::span<const SharedPicture> pictures);
// pictures.json of a run's folder.
void save_form(const std::string& folder, const PictureForm& form);
PictureForm load_form(const std::string& folder);

// [B, H, W, C]
Tensor pictures_batch(std::span<const SharedPicture> pictures, const PictureForm& form);
// [B, frames, H, W, C]; of a film with more or fewer frames those that stand nearest in time.
Tensor films_batch(std::span<const std::vector<SharedPicture>> films, const PictureForm& form);
// The frames that a model sees of a film.
std::vector<SharedPicture> frames_seen(const std::vector<SharedPicture>& film, int64_t frames);

// The names of regions, "row,column" from 1, and of frames, from 1.
std::vector<std::string> region_names(int64_t rows, int64_t columns);
std::vector<std::string> frame_names(int64_t frames);

// {share of the weight on regions that touch the box, 1}; weights [rows columns].
Tally pointing_tally(std::span<const float> weights, int64_t rows, int64_t columns,
                     const Picture& picture, const PictureBox& box);
// {share of the weight on the frames from .. to, 1}, of frames that were seen of `all`.
Tally moment_tally(std::span<const float> weights, const WordPlace& place, int64_t all);

}  // namespace fovea
