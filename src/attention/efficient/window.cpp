#include "fovea/attention/efficient/window.h"

#include <algorithm>

#include "fovea/attention/efficient/spans.h"
#include "fovea/attention/efficient/union.h"
#include "fovea/attention/engine.h"
#include "fovea/nn/linear.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

const std::string name = "window";

struct GlobalProjections {
  Linear query, key, value;
};

// Windows and global tokens as sets of keys; `apart`: what global tokens see is made elsewhere.
std::vector<KeySet> sets_of(const Spans& s, bool causal, const WindowOptions& o, bool apart) {
  const int64_t shift = s.Tk - s.Tq, g = o.global_tokens;
  const int64_t before = causal ? o.window : o.window / 2, after = causal ? 0 : o.window / 2;
  KeySet near, first;
  near.range_batches = first.range_batches = s.batches;
  near.lo.reserve(s.lo.size()), near.hi.reserve(s.lo.size());
  for (size_t at = 0; at < s.lo.size(); ++at) {
    const int64_t place = static_cast<int64_t>(at) % s.Tq + shift, lo = s.lo[at], hi = s.hi[at];
    const int64_t globals = std::min(lo + g, hi);
    const bool global = place < lo + g && !causal;
    int64_t from = std::max(place - before, globals), to = std::min(place + after + 1, hi);
    if (global) from = globals, to = apart ? globals : hi;
    near.lo.push_back(static_cast<int32_t>(from));
    near.hi.push_back(static_cast<int32_t>(std::max(from, to)));
    first.lo.push_back(static_cast<int32_t>(lo));
    first.hi.push_back(static_cast<int32_t>(global && apart ? lo : std::max(lo, globals)));
  }
  if (g == 0) return {std::move(near)};
  return {std::move(near), std::move(first)};
}

}  // namespace

SelfAttention window_self_attention(Scope s, const WindowOptions& o) {
  std::shared_ptr<const GlobalProjections> own;
  if (o.d_model > 0 && o.global_tokens > 0) {
    const int64_t width = o.heads * o.d_head;
    own = std::make_shared<const GlobalProjections>(GlobalProjections{
        Linear(s / "global_query", o.d_model, width), Linear(s / "global_key", o.d_model, width),
        Linear(s / "global_value", o.d_model, width)});
  }
  const auto context = [o, own](const AttentionInputs& in, bool weights) {
    const Spans spans = spans_of(in, name);
    const int64_t B = in.q.dim(0), T = in.q.dim(1);
    const auto stretches = stretches_of(spans, B, name);
    const bool causal = spans.Tq < spans.Tk ||
                        std::ranges::any_of(stretches, [](const Stretch& x) { return x.causal; });
    const bool apart = own && !causal && !in.x.empty();
    const Tensor near = attend_union(in, sets_of(spans, causal, o, apart));
    if (!apart) return near;
    const WholeSequences w = whole_sequences(stretches, B);
    check(w.whole,
          "attention 'window': global tokens with projections of their own need sequences "
          "that stand in batch entries of their own, not packed ones");
    const int64_t g = std::min(o.global_tokens, T);
    const auto heads = [&](const Tensor& x) {
      return reshape(x, {B, x.dim(1), o.heads, o.d_head});
    };
    AttentionInputs global;
    global.q = heads(own->query(slice(in.x, 1, 0, g)));
    global.k = heads(own->key(in.x));
    global.v = weights ? in.v : Heads(heads(own->value(in.x)));
    global.who = lengths(lengths_tensor(w.lengths));
    global.dropout = in.dropout;
    const Tensor first = attend_unrecorded(global).context;
    return g == T ? first : concat({first, slice(near, 1, g, T)}, 1);
  };
  SelfAttention self;
  self.attend = [context](const AttentionInputs& in) {
    bool weights = false;  // the first call gives the contexts, those after it the weights
    return with_weights(in, name, [&](const AttentionInputs& at) {
      return context(at, std::exchange(weights, true));
    });
  };
  return self;
}

}  // namespace fovea
