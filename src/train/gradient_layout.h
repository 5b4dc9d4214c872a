// All float parameters as one long vector, and how ranks share it: cut into buckets that travel
// as soon as they are whole, and each bucket into as many segments as there are ranks. A rank adds
// up, steps and remembers its segments alone.
#pragma once

#include <unordered_map>

#include "fovea/nn/scope.h"
#include "fovea/train/optimizer.h"

namespace fovea {

class GradientLayout {
 public:
  // Where a parameter stands in the vector.
  struct Part {
    Parameter parameter;                                          // whose place it is
    int64_t begin;                                                // in the vector
    size_t bucket;                                                // that it lies in, whole
    int64_t end() const { return begin + parameter.elements(); }  // behind its last number
  };
  // Some parameters that follow each other.
  struct Bucket {
    int64_t begin, end;            // in the vector
    size_t first_part, last_part;  // [first, last) of parts()
  };
  // Part of a bucket: numbers [begin, end) of the vector.
  struct Range {
    int64_t begin, end;                           // in the vector
    int64_t size() const { return end - begin; }  // how many numbers
  };

  // The last parameters of the table come first, as their gradients do. A bucket is closed once it
  // has `bucket` numbers; the layout depends on the table alone.
  explicit GradientLayout(const Parameters& parameters, int64_t bucket = 1 << 18);

  const std::vector<Part>& parts() const { return parts_; }        // all of them
  const std::vector<Bucket>& buckets() const { return buckets_; }  // in the vector's order
  int64_t size() const { return buckets_.empty() ? 0 : buckets_.back().end; }  // of the vector
  // Which part a parameter is, by its number(); -1: none.
  int64_t part_of(uint32_t parameter) const;

  // Squares are summed by such blocks, each of one rank's, so that their sum does not depend on who
  // has which.
  static constexpr int64_t block = 1024;
  // What rank `rank` of so many has of a bucket: whole blocks of it.
  Range segment(size_t bucket, int rank, int ranks) const;
  // How many numbers a rank has in all, and how many blocks.
  int64_t segment_sum(int rank, int ranks) const;
  int64_t blocks_of(int rank, int ranks) const;
  // The parameters' slices that lie in a rank's segments, in the vector's order.
  struct Slices {
    std::vector<ParameterSlice> slices;  // each within one parameter and one bucket
    std::vector<int64_t> at;             // where in the vector each begins
    std::vector<size_t> part;            // that each belongs to
  };
  // What rank `rank` of so many steps.
  Slices slices_of(int rank, int ranks) const;

 private:
  std::vector<Part> parts_;
  std::vector<Bucket> buckets_;
  std::unordered_map<uint32_t, size_t> by_number_;
};

}  // namespace fovea
