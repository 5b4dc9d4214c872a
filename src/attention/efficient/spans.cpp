#include "fovea/attention/efficient/spans.h"

#include <algorithm>

#include "fovea/op/index.h"
#include "fovea/op/shape.h"

namespace fovea {

Spans spans_of(const AttentionInputs& in, const std::string& name) {
  const Extent e{in.q.dim(0), in.q.dim(2), in.q.dim(1), in.k.dim(1)};
  const auto who = in.who.resolve(e);
  check(who->mask.empty() && !who->edges && who->range_heads == 1, "attention '", name,
        "' can be told who may be looked at by lengths, causal and packed patterns, not by masks, "
        "edges or each head on its own");
  Spans s{.batches = who->range_batches, .Tq = e.Tq, .Tk = e.Tk, .lo = who->lo, .hi = who->hi};
  if (s.lo.empty()) {
    s.lo.assign(static_cast<size_t>(e.Tq), 0);
    s.hi.assign(static_cast<size_t>(e.Tq), static_cast<int32_t>(e.Tk));
  }
  return s;
}

std::vector<Stretch> stretches_of(const Spans& s, int64_t B, const std::string& name) {
  std::vector<Stretch> all;
  for (int64_t b = 0; b < B; ++b) {
    const int32_t *lo = &s.lo[static_cast<size_t>(s.at(b, 0))],
                  *hi = &s.hi[static_cast<size_t>(s.at(b, 0))];
    int64_t seen = 0;  // keys that queries before have done with
    for (int64_t i = 0; i < s.Tq;) {
      int64_t end = i + 1;
      const bool causal = end < s.Tq && lo[end] == lo[i] && hi[end] == hi[i] + 1;
      while (end < s.Tq && lo[end] == lo[i] && hi[end] == hi[end - 1] + (causal ? 1 : 0)) ++end;
      check(i == 0 || lo[i] == all.back().k0 || lo[i] >= seen, "attention '", name,
            "' sees whole sequences or all that came before, not a window of them");
      all.push_back({b, i, end, lo[i], std::max(lo[i], hi[end - 1]), causal});
      seen = all.back().k1;
      i = end;
    }
  }
  return all;
}

WholeSequences whole_sequences(const std::vector<Stretch>& stretches, int64_t B) {
  WholeSequences w;
  w.lengths.assign(static_cast<size_t>(B), 0);
  std::vector<bool> met(static_cast<size_t>(B), false);
  for (const Stretch& s : stretches) {
    const auto b = static_cast<size_t>(s.b);
    if (s.causal || s.k0 != 0 || met[b]) w.whole = false;
    met[b] = true;
    w.lengths[b] = static_cast<int32_t>(s.k1);
  }
  return w;
}

Tensor by_sequence(
    const AttentionInputs& in, const std::string& name,
    const std::function<Tensor(const AttentionInputs&, const std::vector<int32_t>&)>& f) {
  const int64_t B = in.q.dim(0);
  const auto stretches = stretches_of(spans_of(in, name), B, name);
  const WholeSequences w = whole_sequences(stretches, B);
  if (w.whole) return f(in, w.lengths);
  std::vector<Tensor> entries, parts;
  for (size_t i = 0; i < stretches.size(); ++i) {
    const Stretch& s = stretches[i];
    check(!s.causal, "attention '", name,
          "' looks at whole sequences; it has no causal form, which decoders need");
    AttentionInputs one = in;
    const auto cut = [&s](const Tensor& x, int64_t from, int64_t to) {
      return slice(slice(x, 0, s.b, s.b + 1), 1, from, to);
    };
    one.q = cut(in.q, s.q0, s.q1);
    one.k = cut(in.k, s.k0, s.k1);
    one.v = cut(in.v, s.k0, s.k1);
    if (!in.x.empty()) one.x = cut(in.x, s.q0, s.q1);
    one.who = {};
    parts.push_back(f(one, {static_cast<int32_t>(s.k1 - s.k0)}));
    if (i + 1 < stretches.size() && stretches[i + 1].b == s.b) continue;
    entries.push_back(concat(parts, 1));
    parts.clear();
  }
  return concat(entries, 0);
}

Tensor rows_within(const std::vector<int32_t>& n, int64_t T) {
  const auto B = static_cast<int64_t>(n.size());
  if (std::ranges::all_of(n, [T](int32_t x) { return x >= T; })) return {};
  Tensor mask({B, T, 1, 1}, Dtype::i32);
  auto to = mask.write<int32_t>().begin();
  for (const int32_t length : n) {
    for (int64_t t = 0; t < T; ++t) *to++ = t < length;
  }
  return mask;
}

Tensor cleared_behind(const Tensor& x, const std::vector<int32_t>& n) {
  const Tensor mask = rows_within(n, x.dim(1));
  return mask.empty() ? x : where(mask, x, 0);
}

Tensor lengths_tensor(const std::vector<int32_t>& n) {
  Tensor t({static_cast<int64_t>(n.size())}, Dtype::i32);
  std::ranges::copy(n, t.write<int32_t>().begin());
  return t;
}

}  // namespace fovea
