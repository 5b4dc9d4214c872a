// Sequences of different lengths, without the padding: the rows of all of them one after the other.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// Where each of the sequences with these lengths (int32 [B]) starts, and the last one ends: int32
// [B + 1].
Tensor offsets_of(const Tensor& lengths);
// B sequences of T rows each.
Tensor even_offsets(int64_t B, int64_t T);

// The rows of x [B, T, ...] that count: [rows, ...].
Tensor pack(const Tensor& x, const Tensor& offsets);
// And back, with zeros in the padding: [B, T, ...].
Tensor unpack(const Tensor& rows, const Tensor& offsets, int64_t T);

// An Error that begins with `name` unless these are offsets of sequences with so many rows in all.
void check_offsets(const char* name, const Tensor& offsets, int64_t rows);

}  // namespace fovea
