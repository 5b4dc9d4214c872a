// From pictures to captions, and from films to captions.
//   picture:  regions of a convolutional net, looked at before each word (sight/caption_decoder.h)
//   film:     Yao, Torabi, Cho, Ballas, Pal, Larochelle, Courville, "Describing Videos by
//             Exploiting Temporal Structure", 2015: frames instead of regions. A frame's features
//             are those of a net that sees it beside the one before, so that they tell motion:
//             v_t = mean over regions of net([frame_(t-1); frame_t]) + p_t
#pragma once

#include "fovea/model/sight/caption_decoder.h"
#include "fovea/model/sight/regions.h"

namespace fovea {

struct CaptionerOptions : CaptionDecoderOptions, RegionOptions {};
// What a run's settings say of them, and all that can be said.
CaptionerOptions captioner_options(const Settings& settings);
std::vector<FieldInfo> captioner_option_list();

// What both captioners share: their decoder, and what it makes small.
class AnyCaptioner : public Translator {
 public:
  AnyCaptioner(Scope s, const ModelSizes& sizes, int64_t features, Looking looking,
               const CaptionerOptions& options, const AttentionOptions& attention);

  const CaptionDecoder& decoder() const override { return decoder_; }        // looks and writes
  Parameter output_bias() const override { return decoder_.output_bias(); }  // of L_o
  Tensor loss(const ModelInputs& in, const Sequences& target, const Tensor& wanted,
              double smoothing) const override;

 private:
  CaptionDecoder decoder_;
};

// ModelInputs::pictures [B, H, W, C].
class Captioner : public AnyCaptioner, public LooksAtRegions {
 public:
  Captioner(Scope s, const ModelSizes& sizes, Looking looking, const CaptionerOptions& options,
            const AttentionOptions& attention);

  Memory encode(const ModelInputs& in) const override;
  int64_t region_rows() const override { return regions_.net.rows(); }        // see above
  int64_t region_columns() const override { return regions_.net.columns(); }  // see above

 private:
  Captioner(Scope s, const ModelSizes& sizes, RegionEncoder regions, Looking looking,
            const CaptionerOptions& options, const AttentionOptions& attention);
  RegionEncoder regions_;
};

// ModelInputs::pictures [B, frames, H, W, C].
class FilmCaptioner : public AnyCaptioner {
 public:
  FilmCaptioner(Scope s, const ModelSizes& sizes, Looking looking, const CaptionerOptions& options,
                const AttentionOptions& attention);

  Memory encode(const ModelInputs& in) const override;

 private:
  FilmCaptioner(Scope s, const ModelSizes& sizes, ConvEncoder net, Looking looking,
                const CaptionerOptions& options, const AttentionOptions& attention);
  ConvEncoder net_;
  Parameter time_;  // p: [frames, features]
};

}  // namespace fovea
