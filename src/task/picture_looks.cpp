#include "fovea/task/picture_looks.h"

#include "fovea/data/picture_batch.h"
#include "fovea/model/sight/glimpses.h"
#include "fovea/model/sight/patches.h"
#include "fovea/report/picture_map.h"

namespace fovea {
namespace {

AttentionMap glimpse_map(const GlimpseClassifier& model, const Picture& picture) {
  const Picture* one = &picture;
  const Tensor pictures = picture_batch({&one, 1}, size_of(picture));
  AttentionMap map;
  map.name = "glimpses";
  PictureGround ground;
  ground.pictures = {picture};
  ground.path = true;
  for (const Tensor& place : model.places(pictures)) {
    map.queries.push_back(say("glimpse ", map.queries.size() + 1));
    std::vector<PictureBox>& boxes = ground.boxes.emplace_back();
    for (int64_t scale = 0; scale < model.sensor().scales; ++scale) {
      const int64_t side = model.sensor().size << scale;
      const auto start = [&](size_t axis, int64_t pixels) {
        return static_cast<double>(
            glimpse_start(static_cast<double>(place.read()[axis]), pixels, side));
      };
      boxes.push_back({.x = start(1, picture.width),
                       .y = start(0, picture.height),
                       .width = static_cast<double>(side),
                       .height = static_cast<double>(side)});
    }
  }
  map.ground = std::make_shared<const PictureGround>(std::move(ground));
  return map;
}

// The mean over all queries of each head of rows [1, H, Tq, Tk].
void add_patch_maps(std::vector<AttentionMap>& maps, const std::string& name, const Tensor& rows,
                    const std::shared_ptr<const PictureGround>& ground, const std::string& label) {
  const int64_t H = rows.dim(1), Tq = rows.dim(2), Tk = rows.dim(3);
  for (int64_t h = 0; h < H; ++h) {
    AttentionMap map;
    map.name = H == 1 ? name : say(name, " head ", h + 1);
    map.queries = {label};
    map.ground = ground;
    map.weights.assign(static_cast<size_t>(Tk), 0);
    for (int64_t k = 0; k < Tk; ++k) {
      map.keys.push_back(say(k / ground->columns + 1, ",", k % ground->columns + 1));
    }
    for (int64_t q = 0; q < Tq; ++q) {
      for (int64_t k = 0; k < Tk; ++k) {
        map.weights[static_cast<size_t>(k)] +=
            rows.read()[static_cast<size_t>((h * Tq + q) * Tk + k)] / static_cast<float>(Tq);
      }
    }
    maps.push_back(std::move(map));
  }
}

}  // namespace

std::vector<AttentionMap> picture_looks(const Recorder& recorder, const Network& model,
                                        const Picture& picture, const std::string& label) {
  if (const auto* glimpses = dynamic_cast<const GlimpseClassifier*>(&model)) {
    return {glimpse_map(*glimpses, picture)};
  }
  const auto* patches = dynamic_cast<const PatchTransformer*>(&model);
  if (!patches) return {};
  const auto ground = std::make_shared<const PictureGround>(
      PictureGround{.pictures = {picture}, .rows = patches->rows(), .columns = patches->columns()});
  std::vector<AttentionMap> maps;
  for (const Recorder::Map& map : recorder.maps()) {
    // "encoder/0/self" is the first layer to people.
    const size_t from = map.name.find('/') + 1, to = map.name.find('/', from);
    const std::string layer = std::to_string(std::stoll(map.name.substr(from, to - from)) + 1);
    add_patch_maps(maps, map.name.substr(0, from) + layer + map.name.substr(to), map.weights.rows,
                   ground, label);
  }
  return maps;
}

}  // namespace fovea
