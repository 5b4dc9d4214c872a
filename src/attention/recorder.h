// Looking at attention: while a Recorder lives, every attention on this thread leaves its weights
// in it, under a name. Any model can be run under one; nothing it computes changes by a bit.
//
//   Recorder recorder;                       // exact weights; or Recorder({.what = summary})
//   model(x);
//   for (auto& map : recorder.maps()) show(map.name, map.weights.rows);
#pragma once

#include <string>
#include <vector>

#include "fovea/attention/contract.h"

namespace fovea {

class Recorder {
 public:
  explicit Recorder(Capture capture = {.what = Capture::What::rows});
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // What one attention left.
  struct Map {
    std::string
        name;  // "encoder/0/self"; a second one of a name gets "#2", as for the next hop or step
    Weights weights;  // as the recorder's capture asks
  };
  const std::vector<Map>& maps() const { return maps_; }  // in the order in which they were made
  // The map of that name; an unknown one is an error that suggests the nearest.
  const Weights& operator[](std::string_view name) const;

  // For mechanisms: the recorder of this thread, or null.
  static Recorder* current();
  // What it keeps of every attention.
  const Capture& capture() const { return capture_; }
  // Adds a map.
  void keep(const std::string& name, Weights weights);

 private:
  Capture capture_;
  Recorder* outer_;
  std::vector<Map> maps_;
};

}  // namespace fovea
