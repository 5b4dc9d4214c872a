#include "fovea/model/sight/captioner.h"

#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {

CaptionerOptions captioner_options(const Settings& settings) {
  return {caption_decoder_fields().read(settings), region_fields().read(settings)};
}

std::vector<FieldInfo> captioner_option_list() {
  std::vector<FieldInfo> list = caption_decoder_fields().infos();
  for (FieldInfo& info : region_fields().infos()) list.push_back(std::move(info));
  return list;
}

AnyCaptioner::AnyCaptioner(Scope s, const ModelSizes& sizes, int64_t features, Looking looking,
                           const CaptionerOptions& options, const AttentionOptions& attention)
    : decoder_(s / "decoder", sizes.target_vocabulary, features, looking, options, attention) {}

Tensor AnyCaptioner::loss(const ModelInputs& in, const Sequences& target, const Tensor& wanted,
                          double smoothing) const {
  return decoder_.loss(encode(in), target, wanted, smoothing);
}

namespace {

// All of them may be looked at; the decoder begins with their mean.
Memory memory_of(const Tensor& states) {
  Memory memory{.states = states};
  memory.lengths = Tensor({states.dim(0)}, Dtype::i32);
  std::ranges::fill(memory.lengths.write<int32_t>(), static_cast<int32_t>(states.dim(1)));
  memory.beginnings = {mean(states, 1)};
  return memory;
}

ModelSizes of_pairs(ModelSizes sizes) {
  sizes.channels *= 2;
  return sizes;
}

}  // namespace

Captioner::Captioner(Scope s, const ModelSizes& sizes, Looking looking,
                     const CaptionerOptions& options, const AttentionOptions& attention)
    : Captioner(s, sizes, RegionEncoder(s / "encoder", sizes, options), looking, options,
                attention) {}

Captioner::Captioner(Scope s, const ModelSizes& sizes, RegionEncoder regions, Looking looking,
                     const CaptionerOptions& options, const AttentionOptions& attention)
    : AnyCaptioner(s, sizes, regions.features(), looking, options, attention),
      regions_(std::move(regions)) {}

Memory Captioner::encode(const ModelInputs& in) const { return memory_of(regions_(in.pictures)); }

FilmCaptioner::FilmCaptioner(Scope s, const ModelSizes& sizes, Looking looking,
                             const CaptionerOptions& options, const AttentionOptions& attention)
    : FilmCaptioner(s, sizes, ConvEncoder(s / "encoder", of_pairs(sizes), conv_options(options)),
                    looking, options, attention) {}

FilmCaptioner::FilmCaptioner(Scope s, const ModelSizes& sizes, ConvEncoder net, Looking looking,
                             const CaptionerOptions& options, const AttentionOptions& attention)
    : AnyCaptioner(s, sizes, net.features(), looking, options, attention),
      net_(std::move(net)),
      time_(s.param("time", {sizes.frames, net_.features()}, init::normal(0.1))) {}

Memory FilmCaptioner::encode(const ModelInputs& in) const {
  const Tensor& films = in.pictures;
  check(films.rank() == 5 && films.dim(1) == time_.dim(0), "captioner: needs films of ",
        time_.dim(0), " frames, [B, frames, H, W, C], got ", films.shape());
  const int64_t B = films.dim(0), F = films.dim(1), H = films.dim(2), W = films.dim(3),
                C = films.dim(4);
  // Before the first frame nothing has moved.
  const Tensor first = slice(films, 1, 0, 1);
  const Tensor before = F == 1 ? first : concat(std::vector{first, slice(films, 1, 0, F - 1)}, 1);
  const Tensor pairs = reshape(concat(std::vector{before, films}, -1), {B * F, H, W, 2 * C});
  const Tensor frames = reshape(mean(net_(pairs), 1), {B, F, net_.features()});
  return memory_of(frames + time_);
}

}  // namespace fovea
