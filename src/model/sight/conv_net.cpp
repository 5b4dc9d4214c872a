#include "fovea/model/sight/conv_net.h"

#include <cmath>

#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/pooling.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

// He et al. 2015: variance 2 / in, for what goes through relu; norms make up for the rest.
LinearOptions weights(int64_t in) {
  return {.bias = false, .init = init::normal(std::sqrt(2.0 / static_cast<double>(in)))};
}

Conv2d three(Scope s, int64_t in, int64_t out, int64_t stride = 1) {
  return Conv2d(s, in, out, 3, {.stride = stride, .padding = 1}, weights(9 * in));
}
Conv2d channel_by_channel(Scope s, int64_t in, int64_t stride) {
  return Conv2d(s, in, in, 3, {.stride = stride, .padding = 1, .groups = in}, weights(9));
}
Conv2d one(Scope s, int64_t in, int64_t out, int64_t stride = 1) {
  return Conv2d(s, in, out, 1, {.stride = stride}, weights(in));
}

}  // namespace

const Fields<ConvOptions>& conv_fields() {
  using O = ConvOptions;
  static const Fields<O> fields{
      {"stages", &O::stages, "stages; each halves the picture's sides", whole_from(1, 12)},
      {"blocks", &O::blocks, "blocks of a stage", whole_from(1, 64)},
      {"width", &O::width, "channels of the first stage; the next has twice as many",
       whole_from(1, 4096)},
      {"conv_block", &O::block, "what a block is", one_of({"plain", "residual", "depthwise"})},
      {"dropout", &O::dropout, "part of the features dropped while training", part_of_one()}};
  return fields;
}

ConvEncoder::Block ConvEncoder::block_of(Scope s, int64_t in, int64_t out, bool halves,
                                         const std::string& kind) {
  const int64_t stride = halves ? 2 : 1;
  if (kind == "plain") {
    return {.first = three(s / "first", in, out),
            .first_norm = BatchNorm(s / "first_norm", out),
            .second = {},
            .second_norm = {},
            .shortcut = {},
            .shortcut_norm = {},
            .pool = halves};
  }
  if (kind == "depthwise") {
    return {.first = channel_by_channel(s / "first", in, stride),
            .first_norm = BatchNorm(s / "first_norm", in),
            .second = one(s / "second", in, out),
            .second_norm = BatchNorm(s / "second_norm", out),
            .shortcut = {},
            .shortcut_norm = {},
            .pool = false};
  }
  check(kind == "residual", "ConvEncoder: there is no block '", kind, "'");
  Block block{.first = three(s / "first", in, out, stride),
              .first_norm = BatchNorm(s / "first_norm", out),
              .second = three(s / "second", out, out),
              .second_norm = BatchNorm(s / "second_norm", out),
              .shortcut = {},
              .shortcut_norm = {},
              .pool = false};
  if (halves || in != out) {
    block.shortcut.emplace(one(s / "shortcut", in, out, stride));
    block.shortcut_norm.emplace(s / "shortcut_norm", out);
  }
  return block;
}

Tensor ConvEncoder::Block::operator()(const Tensor& x) const {
  const Tensor y = first_norm(first(x), true);
  if (!second) return pool ? max_pool2d(y, {.kernel = 2}) : y;
  if (first.options.groups > 1) return (*second_norm)((*second)(y), true);
  const Tensor straight = shortcut ? (*shortcut_norm)((*shortcut)(x)) : x;
  return relu((*second_norm)((*second)(y)) + straight);
}

ConvEncoder::ConvEncoder(Scope s, const ModelSizes& sizes, const ConvOptions& o)
    : rows_(sizes.height), columns_(sizes.width), dropout_(o.dropout) {
  check(sizes.channels >= 1, "ConvEncoder: needs pictures with channels");
  int64_t in = sizes.channels, out = o.width, number = 0;
  for (int64_t stage = 0; stage < o.stages; ++stage, out *= 2) {
    check(rows_ >= 2 && columns_ >= 2, "stages: pictures of ", sizes.height, " x ", sizes.width,
          " pixels can be halved ", stage, stage == 1 ? " time" : " times", ", not ", o.stages);
    for (int64_t b = 0; b < o.blocks; ++b) {
      // A plain block ends with its halving, others begin with it.
      const bool halves = o.block == "plain" ? b + 1 == o.blocks : b == 0;
      // Of one channel there is nothing to do channel by channel.
      const std::string kind = number == 0 && o.block == "depthwise" ? "plain" : o.block;
      blocks_.push_back(block_of(s / number, in, out, halves, kind));
      in = out, ++number;
    }
    const bool pools = o.block == "plain" || (stage == 0 && o.block == "depthwise");
    rows_ = pools ? rows_ / 2 : (rows_ + 1) / 2;
    columns_ = pools ? columns_ / 2 : (columns_ + 1) / 2;
  }
  features_ = in;
}

Tensor ConvEncoder::operator()(const Tensor& pictures) const {
  check(pictures.rank() == 4, "ConvEncoder: needs pictures [B, H, W, C], got ", pictures.shape());
  Tensor x = affine(pictures, 2, -1);
  for (const Block& block : blocks_) x = block(x);
  return dropout(reshape(x, {x.dim(0), rows_ * columns_, features_}), dropout_);
}

ConvClassifier::ConvClassifier(Scope s, const ModelSizes& sizes, const ConvOptions& options)
    : encoder_(s / "encoder", sizes, options),
      output_(s / "output", encoder_.rows() * encoder_.columns() * encoder_.features(),
              sizes.labels) {}

Scorer::Output ConvClassifier::operator()(const ModelInputs& in) const {
  const Tensor regions = encoder_(in.pictures);
  return {output_(reshape(regions, {regions.dim(0), -1}))};
}

}  // namespace fovea
