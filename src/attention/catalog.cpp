#include "fovea/attention/catalog.h"

#include <algorithm>

#include "fovea/attention/catalog/entries.h"
#include "fovea/attention/engine.h"
#include "fovea/op/elementwise.h"

namespace fovea {

std::string name_of(Law law) {
  switch (law) {
    case Law::rows_sum_to_one:
      return "rows sum to one";
    case Law::causal:
      return "causal";
    case Law::permutation:
      return "permutation";
    case Law::padding:
      return "padding";
    case Law::nothing_is_zero:
      return "nothing is zero";
    case Law::steps_equal_whole:
      return "steps equal whole";
  }
  return "";
}

std::string name_of(Entry::Kind kind) {
  switch (kind) {
    case Entry::Kind::score:
      return "score";
    case Entry::Kind::alignment:
      return "alignment";
    case Entry::Kind::position:
      return "position";
    case Entry::Kind::query:
      return "query";
  }
  return "";
}

Tensor query_places(int64_t B, int64_t Tq, int64_t H) {
  Tensor at({B, Tq, H});
  auto place = at.write();
  for (int64_t i = 0; i < at.elements(); ++i) place[i] = static_cast<float>(i / H % Tq);
  return at;
}

Mechanism make_mechanism(const Entry& entry, Scope s, const MechanismOptions& o) {
  if (entry.whole) return entry.whole(s, o);
  const bool part = entry.score || entry.alignment || entry.positions;
  check(part, "catalogue: '", entry.name, "' is not a mechanism of queries, keys and values");
  const Score score = entry.score ? entry.score(s / "score", o) : scaled_score();
  const Alignment align = entry.alignment ? entry.alignment(s / "align", o) : softmax_alignment();
  const Positions positions = entry.positions ? entry.positions(s / "position", o) : Positions();
  return [=, pattern = entry.pattern](AttentionInputs in) {
    if (pattern) in.who = in.who & pattern(o, query_places(in.q.dim(0), in.q.dim(1), in.q.dim(2)));
    if (positions.turn) in.q = positions.turn(in.q, 0), in.k = positions.turn(in.k, 0);
    if (positions.distances) in.distances = positions.distances(in.q, in.k.dim(1), 0);
    return attend(in, score, align);
  };
}

const Fields<MechanismOptions>& mechanism_fields() {
  using Options = MechanismOptions;
  static const Fields<Options> fields{
      {"heads", &Options::heads, "heads of multi-head attention"},
      {"hops", &Options::hops, "hops of multi-hop attention"},
      {"width", &Options::width, "hidden features of the score"},
      {"act", &Options::act, "activation: tanh, sigmoid or relu"},
      {"beta", &Options::beta, "sharpness of the cosine score, its first value"},
      {"h", &Options::h, "width of the kernel, its first value"},
      {"longest", &Options::longest, "keys that a location score serves"},
      {"alpha", &Options::alpha, "of entmax, in (1, 2]"},
      {"reach", &Options::reach, "keys a local window reaches to each side"},
  };
  return fields;
}

const std::vector<Entry>& catalog() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> list;
    for (auto part : {score_entries, alignment_entries, position_entries, query_entries}) {
      for (Entry& entry : part()) list.push_back(std::move(entry));
    }
    return list;
  }();
  return all;
}

const Entry& find_entry(Entry::Kind kind, std::string_view wanted) {
  std::string name(wanted);
  std::ranges::replace(name, '-', '_');
  std::vector<std::string> known;
  for (const Entry& entry : catalog()) {
    if (entry.kind != kind) continue;
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  fail(unknown_name(name_of(kind), name, known));
}

}  // namespace fovea
