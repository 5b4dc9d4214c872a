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
    case Entry::Kind::feature:
      return "feature";
    case Entry::Kind::efficient:
      return "attention";
  }
  return "";
}

Mechanism make_attention(Scope s, const AttentionOptions& o) {
  const Entry& query = find_entry(Entry::Kind::query, o.query);
  check(query.whole != nullptr || query.name == "single", "attention: '", query.name,
        "' is a model of its own, not a way to ask");
  if (query.whole) return query.whole(s, o);
  const Score score = score_factory(o)(s / "score", o.d_q, o.d_k);
  const Alignment align = alignment_factory(o)(s / "align", o.d_q);
  return [score, align](const AttentionInputs& in) { return attend(in, score, align); };
}

Mechanism make_mechanism(const Entry& entry, Scope s, AttentionOptions o) {
  o.score = entry.kind == Entry::Kind::score ? entry.name : "scaled";
  o.align = entry.kind == Entry::Kind::alignment ? entry.name : "softmax";
  if (entry.whole) return entry.whole(s, o);
  if (entry.self) return entry.self(s, o).attend;
  check(entry.score || entry.alignment || entry.positions || entry.name == "single", "catalogue: '",
        entry.name, "' is not a mechanism of queries, keys and values");
  const Mechanism attention = make_attention(s, o);
  const Positions positions = entry.positions ? entry.positions(s / "position", o) : Positions();
  return [attention, positions](AttentionInputs in) {
    if (positions.turn) in.q = positions.turn(in.q, 0), in.k = positions.turn(in.k, 0);
    if (positions.distances) in.distances = positions.distances(in.q, in.k.dim(1), 0);
    return attention(in);
  };
}

ScoreFactory score_factory(const AttentionOptions& options) {
  const Entry& entry = find_entry(Entry::Kind::score, options.score);
  return [make = entry.score, options](Scope s, int64_t d_q, int64_t d_k) {
    AttentionOptions o = options;
    o.d_q = d_q, o.d_k = d_k;
    return make(s, o);
  };
}

AlignmentFactory alignment_factory(const AttentionOptions& options) {
  const Entry& entry = find_entry(Entry::Kind::alignment, options.align);
  return [make = entry.alignment, options](Scope s, int64_t d_q) {
    AttentionOptions o = options;
    // Heads have keys as wide as queries; an attention of its own has said how wide keys are.
    if (o.d_k == 0 || o.d_q == o.d_k) o.d_k = d_q;
    o.d_q = d_q;
    return make(s, o);
  };
}

AlignmentFactory unrewarded_alignment_factory(const std::string& who,
                                              const AttentionOptions& options) {
  return [who, make = alignment_factory(options)](Scope s, int64_t d_q) {
    Alignment align = make(s, d_q);
    check(!align.rewarded, who, ": the alignment '", align.name,
          "' learns from a reward, which this model does not hand on; 'hard' draws and learns "
          "without one");
    return align;
  };
}

FeatureOptions feature_options(const AttentionOptions& o) {
  return {score_factory(o), alignment_factory(o)};
}

namespace {

void add_options(std::vector<std::string>& names, const Entry& entry) {
  for (const std::string& name : entry.options) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
}

}  // namespace

std::vector<std::string> options_read(const AttentionOptions& o) {
  std::vector<std::string> names{"score"};
  if (o.score == "none") return names;
  const Entry& query = find_entry(Entry::Kind::query, o.query);
  if (!query.reads_score) names.clear();
  names.insert(names.end(), {"align", "query"});
  add_options(names, query);
  if (query.reads_score) add_options(names, find_entry(Entry::Kind::score, o.score));
  add_options(names, find_entry(Entry::Kind::alignment, o.align));
  return names;
}

std::vector<std::string> options_read_by(std::string_view feature, const AttentionOptions& o) {
  std::vector<std::string> names{"score", "align"};
  add_options(names, find_entry(Entry::Kind::feature, feature));
  add_options(names, find_entry(Entry::Kind::score, o.score));
  add_options(names, find_entry(Entry::Kind::alignment, o.align));
  return names;
}

std::vector<std::string> self_attention_names(bool causal_only) {
  std::vector<std::string> names;
  for (const Entry& entry : catalog()) {
    const bool fits = entry.kind == Entry::Kind::efficient && (entry.causal || !causal_only);
    if (fits) names.push_back(entry.name);
  }
  return names;
}

SelfAttentionFactory self_attention_factory(const std::string& name, const AttentionOptions& o) {
  const Entry& entry = find_entry(Entry::Kind::efficient, name);
  if (entry.name == "full") return {};
  const auto make = [make = entry.self, o](Scope s, int64_t d_model, int64_t heads,
                                           int64_t d_head) {
    AttentionOptions at = o;
    at.d_model = d_model;
    at.heads = at.input_heads = heads;
    at.d_q = at.d_k = at.d_v = d_head;
    return make(s, at);
  };
  return {make, entry.reads_keys};
}

const Fields<AttentionOptions>& attention_fields() {
  using O = AttentionOptions;
  static const Fields<O> fields{
      {"score", &O::score, "score of the attention (fovea list); in some models none"},
      {"align", &O::align, "alignment of the attention (fovea list)"},
      {"query", &O::query, "how it asks: single, multi_head, multi_hop, ... (fovea list)"},
      {"heads", &O::heads, "heads of multi-head attention", whole_from(1, 1024)},
      {"hops", &O::hops, "hops of multi-hop and rotatory attention", whole_from(1, 100)},
      {"score_width", &O::score_width, "hidden features of the score", whole_from(1, 65536)},
      {"act", &O::act, "activation of the score",
       one_of({"tanh", "sigmoid", "relu", "leaky_relu"})},
      {"beta", &O::beta, "sharpness of the cosine score, its first value", above(0, 1e6)},
      {"kernel_width", &O::kernel_width, "width of the kernel score, its first value",
       above(0, 1e9)},
      {"longest_keys", &O::longest_keys, "keys that a location score serves",
       whole_from(1, 1 << 24)},
      {"alpha", &O::alpha, "of entmax: softmax towards 1, sparsemax at 2", above(1, 2)},
      {"pooled", &O::pooled, "weigh by the largest affinities of rows and columns"},
      {"contextual", &O::contextual, "a word's sentence weighs its vectors too"},
      {"reach", &O::reach, "keys that a local window reaches to each side", whole_from(1, 1 << 24)},
      {"window", &O::window, "tokens of the sliding window", whole_from(0, 1 << 24)},
      {"global_tokens", &O::global_tokens, "first tokens that see all and are seen by all",
       whole_from(0, 1 << 20)},
      {"block", &O::block, "tokens of a block, or the stride", whole_from(1, 1 << 20)},
      {"summary_tokens", &O::summary_tokens, "of each block, seen by all", whole_from(0, 1 << 20)},
      {"random_blocks", &O::random_blocks, "that a block sees beside its neighbours",
       whole_from(0, 1 << 20)},
      {"buckets", &O::buckets, "of the hash, an even number or 1; 0: by the length",
       whole_from(0, 1 << 20)},
      {"chunk", &O::chunk, "tokens of a bucket that look at each other", whole_from(1, 1 << 20)},
      {"hash_rounds", &O::hash_rounds, "hashes", whole_from(1, 64)},
      {"rank", &O::rank, "of what stands for all pairs", whole_from(1, 1 << 20)},
      {"kernel_features", &O::kernel_features, "random features of a token",
       whole_from(1, 1 << 16)},
      {"redraw", &O::redraw, "random features anew at every step of training"},
      {"synthesizer", &O::synthesizer, "what its weights are made of",
       one_of({"dense", "random", "factorized"})},
      {"sort_steps", &O::sort_steps, "turns of rows and columns", whole_from(1, 1000)},
      {"sort_temperature", &O::sort_temperature, "below 1 is nearer to a permutation",
       above(0, 1000)},
      {"landmarks", &O::landmarks, "means that stand for the text", whole_from(1, 1 << 16)},
      {"pinv_steps", &O::pinv_steps, "of the iterative inverse", whole_from(1, 1000)},
      {"conv_width", &O::conv_width, "of the convolution beside it, odd; 0: none",
       whole_from(0, 4095)},
  };
  return fields;
}

namespace {

std::vector<Entry>& entries() {
  static std::vector<Entry> all = [] {
    std::vector<Entry> list;
    for (auto part : {score_entries, alignment_entries, position_entries, query_entries,
                      feature_entries, efficient_entries}) {
      for (Entry& entry : part()) list.push_back(std::move(entry));
    }
    return list;
  }();
  return all;
}

}  // namespace

const std::vector<Entry>& catalog() { return entries(); }

void add_to_catalog(Entry entry) {
  for (const Entry& known : entries()) {
    check(known.kind != entry.kind || known.name != entry.name, "catalogue: there is a ",
          name_of(entry.kind), " called '", entry.name, "' already");
  }
  entries().push_back(std::move(entry));
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
