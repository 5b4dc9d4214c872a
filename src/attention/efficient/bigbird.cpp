#include "fovea/attention/efficient/bigbird.h"

#include <algorithm>

#include "fovea/attention/efficient/spans.h"
#include "fovea/attention/efficient/union.h"
#include "fovea/base/random.h"

namespace fovea {
namespace {

const std::string name = "bigbird";

// r of the blocks that are not beside block a.
std::vector<int64_t> drawn_blocks(uint64_t seed, int64_t a, int64_t blocks, int64_t r) {
  std::vector<int64_t> others;
  for (int64_t x = 0; x < blocks; ++x) {
    if (x < a - 1 || x > a + 1) others.push_back(x);
  }
  Random random = Random(seed).fork(static_cast<uint64_t>(blocks)).fork(static_cast<uint64_t>(a));
  const auto count = std::min<size_t>(static_cast<size_t>(r), others.size());
  for (size_t i = 0; i < count; ++i) {
    std::swap(others[i], others[i + random.below(others.size() - i)]);
  }
  others.resize(count);
  std::ranges::sort(others);
  return others;
}

// The same with the time that many blocks take: those drawn, without a list of all others.
std::vector<int64_t> some_blocks(uint64_t seed, int64_t a, int64_t blocks, int64_t r) {
  if (blocks <= 4 * (r + 3)) return drawn_blocks(seed, a, blocks, r);
  Random random = Random(seed).fork(static_cast<uint64_t>(blocks)).fork(static_cast<uint64_t>(a));
  std::vector<int64_t> found;
  while (static_cast<int64_t>(found.size()) < r) {
    const auto x = static_cast<int64_t>(random.below(static_cast<uint64_t>(blocks)));
    if (std::abs(x - a) <= 1 || std::ranges::find(found, x) != found.end()) continue;
    found.push_back(x);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<KeySet> sets_of(const Spans& s, const std::vector<Stretch>& stretches, int64_t B,
                            uint64_t seed, const BigBirdOptions& o) {
  KeySet near, first, drawn;
  const auto room = static_cast<size_t>(B * s.Tq);
  for (KeySet* set : {&near, &first, &drawn}) {
    set->range_batches = B;
    set->lo.assign(room, 0), set->hi.assign(room, 0);
  }
  std::vector<std::vector<int32_t>> keys(static_cast<size_t>(B));
  for (const Stretch& at : stretches) {
    const int64_t n = at.k1 - at.k0, blocks = (n + o.block - 1) / o.block;
    const int64_t globals = std::min(at.k0 + o.global_tokens, at.k1);
    auto& list = keys[static_cast<size_t>(at.b)];
    int64_t block = -1, from = 0;
    for (int64_t i = at.q0; i < at.q1; ++i) {
      const auto to = static_cast<size_t>(at.b * s.Tq + i);
      const int64_t a = (i - at.q0) / o.block;
      const auto put = [to](KeySet& set, int64_t lo, int64_t hi) {
        set.lo[to] = static_cast<int32_t>(lo);
        set.hi[to] = static_cast<int32_t>(std::max(lo, hi));
      };
      const bool global = i - at.q0 < o.global_tokens;
      if (a != block && a < blocks) {
        block = a;
        from = static_cast<int64_t>(list.size());
        for (int64_t x : some_blocks(seed, a, blocks, o.random_blocks)) {
          const int64_t begin = std::max(globals, at.k0 + x * o.block);
          const int64_t end = std::min(at.k0 + (x + 1) * o.block, at.k1);
          for (int64_t j = begin; j < end; ++j) list.push_back(static_cast<int32_t>(j));
        }
      }
      put(first, at.k0, globals);
      if (global) {
        put(near, globals, at.k1);
      } else {
        put(near, std::max(globals, at.k0 + (a - 1) * o.block),
            std::min(at.k1, at.k0 + (a + 2) * o.block));
        if (a < blocks) put(drawn, from, static_cast<int64_t>(list.size()));
      }
    }
  }
  size_t most = 1;
  for (const auto& list : keys) most = std::max(most, list.size());
  drawn.order_batches = B;
  for (auto& list : keys) {
    list.resize(most, -1);
    drawn.keys.insert(drawn.keys.end(), list.begin(), list.end());
  }
  std::vector<KeySet> sets{std::move(near)};
  if (o.global_tokens > 0) sets.push_back(std::move(first));
  if (o.random_blocks > 0) sets.push_back(std::move(drawn));
  return sets;
}

}  // namespace

SelfAttention bigbird_self_attention(uint64_t seed, const BigBirdOptions& o) {
  SelfAttention self;
  self.attend = [seed, o](const AttentionInputs& in) {
    return with_weights(in, name, [&](const AttentionInputs& at) {
      const int64_t B = at.q.dim(0);
      const Spans spans = spans_of(at, name);
      const auto stretches = stretches_of(spans, B, name);
      for (const Stretch& s : stretches) {
        check(!s.causal,
              "attention 'bigbird' looks at whole sequences; it has no causal form, "
              "which decoders need");
      }
      return attend_union(at, sets_of(spans, stretches, B, seed, o));
    });
  };
  return self;
}

}  // namespace fovea
