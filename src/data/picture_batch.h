// From pictures to what models are given: one size for all, changed a little while training, as
// floats from 0 to 1.
#pragma once

#include <span>
#include <string>

#include "fovea/base/random.h"
#include "fovea/data/picture_file.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// What the pictures of a run become, and how they are changed while it trains.
struct PictureOptions {
  std::string size = "auto";    // "32" or "32x48", height first; auto: the first picture's, but no
                                // side above 64
  std::string colour = "auto";  // grey or rgb; auto: rgb where any picture has colours
  int64_t shift_by = 0;         // up to so many pixels, in both directions
  bool flip = false;            // left and right change places, every other time
  double crop = 1;              // at least this part of each side is kept, and stretched
  int64_t canvas = 0;           // pictures are laid somewhere on a black square of this side
  int64_t clutter = 0;          // with so many pieces of other things
};

// The size that the options name; what they leave open is `first`'s.
PictureSize wanted_size(const PictureOptions& options, const PictureSize& first);

// By a triangle over what each pixel covers, at least from pixel to pixel: smooth both ways.
Picture resized(const Picture& picture, int64_t height, int64_t width);
// Grey becomes three equal channels; colours become their luminance, as 0.299 R + 0.587 G +
// 0.114 B.
Picture with_channels(const Picture& picture, int64_t channels);
// Both: what every picture of a data set becomes.
Picture fitted(const Picture& picture, const PictureSize& size);

// Cropped, flipped and shifted, by numbers of the stream alone; what a shift brings in is the
// nearest pixel of the edge.
Picture augmented(const Picture& picture, const PictureOptions& options, Random random);
// Whether anything would change.
bool augments(const PictureOptions& options);
// The stream of an example: a function of these three alone.
Random augment_stream(int64_t seed, int64_t epoch, int64_t example);

// [n, height, width, channels], 0 to 1; each picture is fitted to the size first.
Tensor picture_batch(std::span<const Picture* const> pictures, const PictureSize& size);

}  // namespace fovea
