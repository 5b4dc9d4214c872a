#include "fovea/op/pack.h"

#include <limits>

#include "fovea/op/index.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

// For each packed row its place among the B * T rows of the padded form.
Tensor places(const char* name, const Tensor& offsets, int64_t T) {
  const auto at = offsets.read<int32_t>();
  Tensor ids(Shape{at.back()}, Dtype::i32);
  const auto id = ids.write<int32_t>();
  for (int64_t b = 0; b + 1 < offsets.elements(); ++b) {
    check(at[b + 1] - at[b] <= T, name, ": sequence ", b, " has ", at[b + 1] - at[b],
          " rows, the padded form has room for ", T);
    for (int32_t i = at[b]; i < at[b + 1]; ++i) id[i] = static_cast<int32_t>(b * T) + i - at[b];
  }
  return ids;
}

void check_size(const char* name, int64_t rows) {
  check(rows <= std::numeric_limits<int32_t>::max(), name, ": ", rows,
        " rows are more than int32 can count");
}

// `front`, then the axes of `shape` from `from` on.
Shape with_front(std::initializer_list<int64_t> front, const Shape& shape, int from) {
  Shape result(front);
  for (int i = from; i < shape.rank(); ++i) result.push_back(shape[i]);
  return result;
}

}  // namespace

Tensor offsets_of(const Tensor& lengths) {
  check(lengths.dtype() == Dtype::i32 && lengths.rank() == 1,
        "offsets_of: lengths need int32 [B], got ", lengths.dtype(), lengths.shape());
  Tensor offsets(Shape{lengths.elements() + 1}, Dtype::i32);
  const auto at = offsets.write<int32_t>();
  int64_t rows = 0;
  at[0] = 0;
  for (int64_t b = 0; b < lengths.elements(); ++b) {
    const int32_t length = lengths.read<int32_t>()[b];
    check(length >= 0, "offsets_of: a length cannot be ", length);
    check_size("offsets_of", rows += length);
    at[b + 1] = static_cast<int32_t>(rows);
  }
  return offsets;
}

Tensor even_offsets(int64_t B, int64_t T) {
  check_size("even_offsets", B * T);
  Tensor offsets(Shape{B + 1}, Dtype::i32);
  const auto at = offsets.write<int32_t>();
  for (int64_t b = 0; b <= B; ++b) at[b] = static_cast<int32_t>(b * T);
  return offsets;
}

void check_offsets(const char* name, const Tensor& offsets, int64_t rows) {
  check(offsets.dtype() == Dtype::i32 && offsets.rank() == 1 && offsets.elements() > 0, name,
        ": offsets need int32 [B + 1], got ", offsets.dtype(), offsets.shape());
  const auto at = offsets.read<int32_t>();
  check(at.front() == 0 && at.back() == rows && std::ranges::is_sorted(at), name,
        ": offsets need to rise from 0 to the number of rows, ", rows);
}

Tensor pack(const Tensor& x, const Tensor& offsets) {
  check(x.rank() >= 2, "pack: needs [B, T, ...], got ", x.shape());
  check_offsets("pack", offsets, offsets.read<int32_t>().back());
  check(offsets.elements() == x.dim(0) + 1, "pack: x of shape ", x.shape(), " needs ", x.dim(0) + 1,
        " offsets, got ", offsets.elements());
  const int64_t T = x.dim(1);
  check_size("pack", x.dim(0) * T);
  return embedding(reshape(x, with_front({x.dim(0) * T}, x.shape(), 2)),
                   places("pack", offsets, T));
}

Tensor unpack(const Tensor& rows, const Tensor& offsets, int64_t T) {
  check(rows.rank() >= 1, "unpack: needs [rows, ...], got ", rows.shape());
  check_offsets("unpack", offsets, rows.dim(0));
  const int64_t B = offsets.elements() - 1;
  check_size("unpack", B * T);
  return reshape(scatter_add(rows, places("unpack", offsets, T), B * T),
                 with_front({B, T}, rows.shape(), 1));
}

}  // namespace fovea
