#include "fovea/model/reader/span_reader.h"

#include <limits>

#include "fovea/model/reader/masked_loss.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

// int32 [B, 1 + longest]: which columns there are.
Tensor there(const Packing& passage, bool nothing) {
  const Tensor lengths = passage.lengths();
  const int64_t columns = 1 + passage.longest;
  Tensor mask = Tensor::zeros({passage.count(), columns}, Dtype::i32);
  auto to = mask.write<int32_t>();
  for (int64_t b = 0; b < passage.count(); ++b) {
    const int32_t n = lengths.read<int32_t>()[static_cast<size_t>(b)];
    const auto row = to.subspan(static_cast<size_t>(b * columns), static_cast<size_t>(columns));
    row[0] = nothing;
    std::ranges::fill(row.subspan(1, static_cast<size_t>(n)), 1);
  }
  return mask;
}

}  // namespace

Tensor span_scores(const Tensor& words, const Packing& passage, const Tensor& nothing) {
  const int64_t B = passage.count();
  const Tensor padded = reshape(unpack(words, passage.offsets, passage.longest), {B, -1});
  const Tensor first = nothing.empty() ? Tensor::zeros({B, 1}, words.dtype()) : nothing;
  return where(there(passage, !nothing.empty()), concat({first, padded}, -1),
               -std::numeric_limits<double>::infinity());
}

Tensor SpanReader::loss(const ModelInputs& in, const Tensor& targets, double smoothing) const {
  const Output out = (*this)(in);
  const int64_t B = in.text.count();
  bool nothing = false;  // some question may have no answer
  with_real(out.start.dtype(), [&]<class T>(T) {
    nothing = out.start.read<T>()[0] > -std::numeric_limits<T>::infinity();
  });
  const Tensor mask = there(in.text, nothing);
  const Tensor first = reshape(slice(targets, 1, 0, 1), {B}),
               last = reshape(slice(targets, 1, 1, 2), {B});
  return masked_loss(out.start, mask, first, smoothing) +
         masked_loss(out.end, mask, last, smoothing);
}

}  // namespace fovea
