#include "fovea/model/sight/patches.h"

#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/pack.h"
#include "fovea/op/reduce.h"

namespace fovea {

const Fields<PatchOptions>& patch_fields() {
  static const Fields<PatchOptions> fields{
      {"patch", &PatchOptions::patch, "pixels of a patch's side", whole_from(1, 1024)}};
  return fields;
}

PatchTransformer::PatchTransformer(Scope s, const ModelSizes& sizes, const PatchOptions& patches,
                                   const TransformerOptions& o)
    : options_(o),
      patch_(patches.patch),
      rows_((sizes.height + patch_ - 1) / patch_),
      columns_((sizes.width + patch_ - 1) / patch_),
      embedding_(s / "embedding", patch_ * patch_ * sizes.channels, o.width),
      positions_(s / "positions", rows_ * columns_, o.width),
      norm_(s / "norm", o.width),
      output_(s / "output", o.width, sizes.labels) {
  for (int64_t i = 0; i < o.layers; ++i) {
    blocks_.emplace_back(s / "encoder" / i, o, TransformerBlock::Kind::encoder);
  }
}

Tensor PatchTransformer::patches_of(const Tensor& pictures) const {
  const int64_t B = pictures.dim(0), C = pictures.dim(3);
  Tensor x = pictures;
  if (const int64_t more = rows_ * patch_ - x.dim(1); more > 0) x = pad(x, 1, 0, more);
  if (const int64_t more = columns_ * patch_ - x.dim(2); more > 0) x = pad(x, 2, 0, more);
  x = permute(reshape(x, {B, rows_, patch_, columns_, patch_ * C}), {0, 1, 3, 2, 4});
  return reshape(x, {B * rows_ * columns_, patch_ * patch_ * C});
}

Scorer::Output PatchTransformer::operator()(const ModelInputs& in) const {
  check(in.pictures.rank() == 4, "patches: needs pictures [B, H, W, C], got ", in.pictures.shape());
  const int64_t B = in.pictures.dim(0), N = rows_ * columns_, width = options_.width;
  const RowLayout layout{Packing(even_offsets(B, N))};
  Tensor x = reshape(embedding_(patches_of(affine(in.pictures, 2, -1))), {B, N, width});
  x = dropout(reshape(x + positions_(N), {B * N, width}), options_.dropout);
  for (const TransformerBlock& block : blocks_) x = block(x, layout, {});
  return {output_(mean(reshape(norm_(x), {B, N, width}), 1))};
}

}  // namespace fovea
