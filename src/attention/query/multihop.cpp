#include "fovea/attention/query/multihop.h"

#include "fovea/attention/engine.h"
#include "fovea/attention/query/uniform.h"
#include "fovea/attention/score/general.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {

using Next = MultiHopOptions::Next;

MultiHop::MultiHop(Scope s, int64_t d_q, int64_t d_k, int64_t d_v, const MultiHopOptions& o)
    : options(o), path(s.path()) {
  check(o.hops >= 1, "multi-hop: needs at least one hop, got ", o.hops);
  check(o.next == Next::transform || d_q == d_v, "multi-hop: contexts ", d_v,
        " wide cannot be added to queries ", d_q, " wide; use transform");
  const int64_t d_asked = o.beside ? d_q + d_v : d_q;
  for (int64_t i = 0; i < (o.shared ? 1 : o.hops); ++i) {
    const Scope at = o.shared ? s : s / i;
    Hop part{.score = o.score ? o.score(at / "score", d_asked, d_k)
                              : general_score(at / "score", d_asked, d_k),
             .align = o.align ? o.align(at / "align", d_asked) : Alignment(),
             .from_query = {},
             .from_context = {}};
    if (o.next != Next::add)
      part.from_query.emplace(at / "query", d_q, d_q, LinearOptions{.bias = false});
    if (o.next == Next::transform) part.from_context.emplace(at / "context", d_v, d_q);
    parts.push_back(std::move(part));
  }
}

Tensor MultiHop::next(const Hop& part, const State& state) const {
  switch (options.next) {
    case Next::add:
      return state.query + state.context;
    case Next::map_and_add:
      return (*part.from_query)(state.query) + state.context;
    case Next::transform:
      return tanh((*part.from_query)(state.query) + (*part.from_context)(state.context));
  }
  fail("multi-hop: unknown way to the next query");
}

MultiHop::State MultiHop::start(const AttentionInputs& in) const {
  State state{in.q, {}};
  if (options.beside) {
    state.context = mean_of_values(in.k, in.v, in.who, in.q.dim(1), in.q.dim(2));
  }
  return state;
}

AttentionOutput MultiHop::hop(int64_t s, AttentionInputs in, State& state) const {
  check(s >= 0 && s < options.hops, "multi-hop: there are ", options.hops,
        " hops, and none is number ", s);
  const Hop& part = parts[s % static_cast<int64_t>(parts.size())];
  if (options.beside) state.query = next(part, state);
  in.q = options.beside ? concat({state.query, state.context}, -1) : state.query;
  in.name = say(path, "/", s);
  AttentionOutput o = attend(in, part.score, part.align);
  state.context = o.context;
  if (!options.beside) state.query = next(part, state);
  return o;
}

MultiHop::Output MultiHop::operator()(const AttentionInputs& in) const {
  State state = start(in);
  Output out;
  for (int64_t s = 0; s < options.hops; ++s) out.hops.push_back(hop(s, in, state));
  out.context = state.context;
  out.query = state.query;
  return out;
}

}  // namespace fovea
