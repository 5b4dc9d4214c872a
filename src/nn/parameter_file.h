// Parameters that are read from a safetensors file as layers ask for them, instead of being drawn.
//
//   ParameterFile file("model.safetensors");
//   Parameters parameters(0, Dtype::f32, file.source());
//   Model model(parameters, ...);          // costs reading the weights, and nothing more
//   file.finish();                          // an Error where something was left over
//
// Files of others have other names: a rule says where in the file a parameter is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/nn/scope.h"

namespace fovea {

// Where a parameter's numbers are in a file.
struct StoredAt {
  std::string name;             // of the array
  int64_t part = 0, parts = 1;  // it is this part of so many, along the array's first axis (after
                                // transposing): queries, keys and values packed into one
  bool transposed = false;      // the file has [in, out] where we have [out, in]
};

// How names are found, and what is an Error.
struct LoadOptions {
  // From our name to where it is; null: under its own name.
  std::function<StoredAt(const std::string& name)> where{};
  // Parameters that the file lacks, and arrays that nobody asked for, are an Error. Otherwise the
  // first are drawn, and missing() and left_over() tell of both.
  bool strict = true;
};

// An open file, and what was asked of it so far.
class ParameterFile {
 public:
  explicit ParameterFile(const std::string& path, LoadOptions options = {});

  // For Parameters; it may outlive this object.
  ParameterSource source() const;
  // Parameters that were asked for and are not in the file, in the order asked.
  const std::vector<std::string>& missing() const;
  // Arrays of the file that nobody has asked for.
  std::vector<std::string> left_over() const;
  // Once all layers are made: with `strict`, an Error if anything is left over.
  void finish() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fovea
