#include "fovea/task/maps.h"

#include <algorithm>

namespace fovea {
namespace {

constexpr size_t most_exact = 2000;

struct Recorded {
  std::string name;
  std::vector<const Tensor*> steps;  // [B, H, Tq, Tk], one after the other
  const Weights* summary = nullptr;  // instead of them
};

// "decoder/attention#7" is step 7 of "decoder/attention".
std::vector<Recorded> by_name(const Recorder& recorder) {
  std::vector<Recorded> all;
  for (const auto& map : recorder.maps()) {
    if (map.weights.rows.empty() && map.weights.map.empty()) continue;
    const std::string name = map.name.substr(0, map.name.find('#'));
    auto found = std::ranges::find(all, name, &Recorded::name);
    if (found == all.end()) found = all.insert(all.end(), {.name = name, .steps = {}});
    if (map.weights.rows.empty()) {
      found->summary = &map.weights;
    } else {
      found->steps.push_back(&map.weights.rows);
    }
  }
  return all;
}

// The first of every block, with its place: kernels cut `of` into `blocks` as evenly as they go.
std::vector<std::string> block_labels(const std::vector<std::string>& of, int64_t blocks) {
  std::vector<std::string> labels;
  const auto n = static_cast<int64_t>(of.size());
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t first = i * n / blocks;
    labels.push_back(first < n ? say(first + 1, " ", of[static_cast<size_t>(first)]) : "");
  }
  return labels;
}

AttentionMap summary_of(const Weights& weights, int64_t b, int64_t h, std::string name,
                        const MapLabels& labels) {
  const int64_t H = weights.map.dim(1), R = weights.map.dim(2), C = weights.map.dim(3);
  const auto from = weights.map.read().subspan(static_cast<size_t>((b * H + h) * R * C),
                                               static_cast<size_t>(R * C));
  AttentionMap map{std::move(name),
                   block_labels(labels.queries, R),
                   block_labels(labels.keys, C),
                   {from.begin(), from.end()}};
  const int64_t Tq = weights.entropy.dim(2), top = weights.top_keys.dim(3);
  const auto row = [&](const Tensor& t, int64_t width) {
    const auto begin = static_cast<size_t>((b * H + h) * Tq * width);
    return t.read().subspan(begin, static_cast<size_t>(Tq * width));
  };
  const auto entropy = row(weights.entropy, 1), heaviest = row(weights.top_weights, top);
  const auto keys = weights.top_keys.read<int32_t>().subspan(
      static_cast<size_t>((b * H + h) * Tq * top), static_cast<size_t>(Tq * top));
  map.summary = AttentionSummary{static_cast<int64_t>(labels.keys.size()),
                                 {entropy.begin(), entropy.end()},
                                 top,
                                 {keys.begin(), keys.end()},
                                 {heaviest.begin(), heaviest.end()}};
  return map;
}

// "encoder/0/self" is "encoder/1/self" to people.
std::string counted_from_one(const std::string& name) {
  std::string out;
  for (size_t from = 0; from <= name.size();) {
    const size_t to = std::min(name.find('/', from), name.size());
    std::string part = name.substr(from, to - from);
    if (!part.empty() && part.size() < 6 &&
        part.find_first_not_of("0123456789") == std::string::npos) {
      part = std::to_string(std::stoi(part) + 1);
    }
    out += (from == 0 ? "" : "/") + part;
    from = to + 1;
  }
  return out;
}

}  // namespace

Capture capture_of(size_t tokens) {
  Capture capture;
  capture.what = tokens > most_exact ? Capture::What::summary : Capture::What::rows;
  return capture;
}

PlacedTokens placed_tokens(const Tokenizer& tokens, std::string_view text) {
  PlacedTokens placed{tokens.pieces(text), {}};
  for (const Token& token : tokens.pieces_with_places(text)) {
    placed.places.push_back({token.begin, token.end, token.char_begin, token.char_end});
  }
  return placed;
}

MapLabels within(const PlacedTokens& tokens) {
  return {tokens.pieces, tokens.pieces, tokens.places, tokens.places};
}

MapLabels onto(std::vector<std::string> queries, const PlacedTokens& tokens) {
  return {std::move(queries), tokens.pieces, {}, tokens.places};
}

std::vector<AttentionMap> maps_of(const Recorder& recorder, int64_t b,
                                  const std::function<MapLabels(const std::string& name)>& labels) {
  std::vector<AttentionMap> maps;
  for (const Recorded& recorded : by_name(recorder)) {
    const MapLabels all = labels(recorded.name);
    const auto& [queries, keys, query_places, key_places] = all;
    const std::string stem = counted_from_one(recorded.name);
    const int64_t H = recorded.summary ? recorded.summary->map.dim(1) : recorded.steps[0]->dim(1);
    for (int64_t h = 0; h < H; ++h) {
      std::string name = H == 1 ? stem : say(stem, " head ", h + 1);
      if (recorded.summary) {
        maps.push_back(summary_of(*recorded.summary, b, h, std::move(name), all));
        continue;
      }
      AttentionMap map{std::move(name), {}, keys, {}, {}, {}, {}};
      for (const Tensor* step : recorded.steps) {
        const int64_t Tq = step->dim(2), Tk = step->dim(3);
        const auto from = step->read();
        for (int64_t i = 0; i < Tq && map.queries.size() < queries.size(); ++i) {
          map.queries.push_back(queries[map.queries.size()]);
          for (size_t j = 0; j < keys.size(); ++j) {
            const bool there = static_cast<int64_t>(j) < Tk;
            map.weights.push_back(there ? from[((b * H + h) * Tq + i) * Tk + j] : 0);
          }
        }
      }
      map.key_places = key_places;
      map.query_places = query_places;
      if (map.query_places.size() > map.queries.size()) {
        map.query_places.resize(map.queries.size());
      }
      maps.push_back(std::move(map));
    }
  }
  return maps;
}

}  // namespace fovea
