#include "fovea/attention/recorder.h"

#include <algorithm>

#include "fovea/base/names.h"

namespace fovea {
namespace {

thread_local Recorder* newest = nullptr;

}  // namespace

Recorder::Recorder(Capture capture) : capture_(std::move(capture)), outer_(newest) {
  using What = Capture::What;
  check(capture_.what == What::rows || capture_.what == What::summary,
        "recorder: keeps rows or a summary; say which, as in Recorder({.what = "
        "Capture::What::summary, .top = 4})");
  newest = this;
}
Recorder::~Recorder() { newest = outer_; }
Recorder* Recorder::current() { return newest; }

void Recorder::keep(const std::string& name, Weights weights) {
  const std::string base = name.empty() ? "attention" : name;
  const auto before = std::ranges::count_if(
      maps_, [&](const Map& map) { return map.name == base || map.name.starts_with(base + "#"); });
  maps_.push_back({before == 0 ? base : say(base, "#", before + 1), std::move(weights)});
}

const Weights& Recorder::operator[](std::string_view name) const {
  std::vector<std::string> known;
  for (const Map& map : maps_) {
    if (map.name == name) return map.weights;
    known.push_back(map.name);
  }
  fail(unknown_name("attention map", name, known));
}

}  // namespace fovea
