#include "fovea/model/sight/glimpses.h"

#include <cmath>

#include "fovea/attention/recorder.h"
#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

// The same numbers, but not part of what is differentiated.
Tensor constant(const Tensor& x) { return x.reshaped(x.shape()); }

// A stream for each picture, a function of its pixels alone.
Random stream_of(std::span<const std::byte> pixels) {
  return Random(hash_name({reinterpret_cast<const char*>(pixels.data()), pixels.size()}));
}

// Halves of what comes in are cut off by relu; the gain makes up for it (He et al. 2015).
LinearOptions through_relu(bool bias = true) {
  return {.bias = bias, .init = init::xavier_uniform(std::sqrt(2.0))};
}

}  // namespace

const Fields<GlimpseModelOptions>& glimpse_fields() {
  using O = GlimpseModelOptions;
  static const Fields<O> fields{
      {"glimpses", &O::glimpses, "how often it looks", whole_from(1, 1000)},
      {"glimpse", &O::glimpse, "pixels of a glimpse's side", whole_from(1, 1024)},
      {"scales", &O::scales, "sharpnesses of a glimpse, each twice as wide", whole_from(1, 10)},
      {"width", &O::width, "units of the state", whole_from(2, 65536)},
      {"dropout", &O::dropout, "part of the features dropped while training", part_of_one()}};
  return fields;
}

const Fields<GlimpseModelOptions>& policy_fields() {
  using O = GlimpseModelOptions;
  static const Fields<O> fields{
      {"deviation", &O::deviation, "of places that are drawn, in halves of a side", above(0, 10)},
      {"reward", &O::reward, "weight of being right beside the cross-entropy", between(0, 1000)}};
  return fields;
}

GlimpseCore::GlimpseCore(Scope s, const ModelSizes& sizes, const GlimpseModelOptions& o)
    : sensor{.size = o.glimpse, .scales = o.scales},
      seen(s / "seen", o.scales * o.glimpse * o.glimpse * sizes.channels, o.width / 2,
           through_relu()),
      where(s / "where", 2, o.width / 2, through_relu()),
      from_seen(s / "from_seen", o.width / 2, o.width, through_relu()),
      from_where(s / "from_where", o.width / 2, o.width, through_relu(false)),
      from_state(s / "from_state", o.width, o.width, {.init = init::orthogonal()}),
      from_glimpse(s / "from_glimpse", o.width, o.width, through_relu(false)) {}

Tensor GlimpseCore::operator()(const Tensor& pictures, const Tensor& places,
                               const Tensor& h) const {
  const Tensor what = relu(seen(glimpse(pictures, places, sensor)));
  const Tensor g = relu(from_seen(what) + from_where(relu(where(places))));
  if (h.empty()) return relu(from_glimpse(g) + from_state.bias);
  return relu(from_state(h) + from_glimpse(g));
}

GlimpseClassifier::GlimpseClassifier(Scope s, const ModelSizes& sizes, const GlimpseModelOptions& o,
                                     bool random)
    : options_(o), core_(s / "core", sizes, o), output_(s / "output", o.width, sizes.labels) {
  check(sizes.channels >= 1, "glimpses: needs pictures with channels");
  if (random) return;
  // Small: the first places are near the middle, where tanh has a slope.
  place_.emplace(s / "place", o.width, 2, LinearOptions{.init = init::xavier_uniform(0.3)});
  baseline_.emplace(s / "baseline", o.width, 1);
}

Tensor GlimpseClassifier::random_places(const Tensor& pictures, int64_t number) const {
  const int64_t B = pictures.dim(0);
  Tensor places({B, 2}, pictures.dtype());
  Random* stream = Tape::random();
  const std::span<const std::byte> bytes = pictures.bytes();
  const size_t each = bytes.size() / static_cast<size_t>(std::max<int64_t>(1, B));
  with_real(pictures.dtype(), [&]<class T>(T) {
    auto to = places.write<T>();
    for (int64_t b = 0; b < B; ++b) {
      Random own = stream_of(bytes.subspan(static_cast<size_t>(b) * each, each))
                       .fork(static_cast<uint64_t>(number));
      Random& from = stream ? *stream : own;
      for (int64_t i = 2 * b; i < 2 * b + 2; ++i) {
        to[static_cast<size_t>(i)] = static_cast<T>(2 * from.uniform() - 1);
      }
    }
  });
  return places;
}

GlimpseClassifier::Walk GlimpseClassifier::walk(const Tensor& pictures) const {
  check(pictures.rank() == 4, "glimpses: needs pictures [B, H, W, C], got ", pictures.shape());
  const int64_t B = pictures.dim(0);
  const Dtype dtype = pictures.dtype();
  Random* random = Tape::random();
  const bool draws = random && place_;
  Walk walk;
  std::vector<Tensor> likely, expected;
  for (int64_t t = 0; t < options_.glimpses; ++t) {
    if (!place_) {
      walk.places.push_back(random_places(pictures, t));
    } else {
      const Tensor h = walk.h.empty() ? Tensor::zeros({B, options_.width}, dtype) : walk.h;
      const Tensor state = constant(h);
      const Tensor middle = tanh((*place_)(state));  // [B, 2]
      Tensor place = constant(middle);
      if (draws) {
        with_real(dtype, [&]<class T>(T) {
          for (T& one : place.write<T>()) {
            one += static_cast<T>(options_.deviation * random->normal());
          }
        });
        const double factor = -0.5 / (options_.deviation * options_.deviation);
        likely.push_back(sum(square(place - middle), 1) * factor);
        expected.push_back(reshape((*baseline_)(state), {B}));
      }
      walk.places.push_back(std::move(place));
    }
    walk.h = core_(pictures, walk.places.back(), walk.h);
  }
  if (draws) {
    walk.log_probability = stack(likely, 0);
    walk.baseline = stack(expected, 0);
  }
  if (Recorder::current()) show(walk, pictures);
  return walk;
}

// A glimpse is attention over pixels: even inside of what is seen sharply, and none outside.
void GlimpseClassifier::show(const Walk& walk, const Tensor& pictures) const {
  const int64_t B = pictures.dim(0), H = pictures.dim(1), W = pictures.dim(2);
  const int64_t side = core_.sensor.size;
  for (const Tensor& places : walk.places) {
    Tensor rows = Tensor::zeros({B, 1, 1, H * W});
    auto to = rows.write();
    const Tensor at = places.to(Dtype::f64);
    for (int64_t b = 0; b < B; ++b) {
      const auto start = [&](int64_t axis, int64_t pixels) {
        return glimpse_start(at.read<double>()[static_cast<size_t>(2 * b + axis)], pixels, side);
      };
      const int64_t top = std::max<int64_t>(0, start(0, H)),
                    left = std::max<int64_t>(0, start(1, W));
      const int64_t bottom = std::min(H, start(0, H) + side),
                    right = std::min(W, start(1, W) + side);
      if (bottom <= top || right <= left) continue;
      const float part = 1 / static_cast<float>((bottom - top) * (right - left));
      for (int64_t y = top; y < bottom; ++y) {
        for (int64_t x = left; x < right; ++x) to[static_cast<size_t>((b * H + y) * W + x)] = part;
      }
    }
    Weights weights;
    weights.rows = std::move(rows);
    Recorder::current()->keep("glimpses", std::move(weights));
  }
}

Scorer::Output GlimpseClassifier::operator()(const ModelInputs& in) const {
  return {output_(dropout(walk(in.pictures).h, options_.dropout))};
}

Tensor GlimpseClassifier::scores_at(const Tensor& pictures, std::span<const Tensor> places) const {
  Tensor h;
  for (const Tensor& place : places) h = core_(pictures, place, h);
  return output_(h);
}

Tensor GlimpseClassifier::loss(const ModelInputs& in, const Tensor& targets,
                               double smoothing) const {
  const Walk walked = walk(in.pictures);
  const Tensor scores = output_(dropout(walked.h, options_.dropout));
  const Tensor entropy = cross_entropy(scores, targets, smoothing);
  if (walked.log_probability.empty()) return entropy;
  const Tensor right = constant(pick(softmax(scores), targets));
  const Tensor miss = right - walked.baseline;                               // [T, B]
  const Tensor reinforce = sum(constant(miss) * walked.log_probability, 0);  // [B]
  return entropy - mean(reinforce) * options_.reward + mean(square(miss));
}

}  // namespace fovea
