// Every mechanism, in one table: the command line, the tests, the benchmarks and the page of
// mechanisms are all made from it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fovea/attention/alignment.h"
#include "fovea/attention/contract.h"
#include "fovea/attention/efficient/self_attention.h"
#include "fovea/attention/factory.h"
#include "fovea/attention/feature/features.h"
#include "fovea/attention/position/positions.h"
#include "fovea/base/fields.h"
#include "fovea/nn/scope.h"

namespace fovea {

// What a mechanism promises; tests/conformance_test.cpp holds every entry to its list.
enum class Law {
  rows_sum_to_one,    // the weights of a query that may look at something
  causal,             // under a causal pattern a later key changes no earlier context
  permutation,        // keys and values in another order give the same contexts
  padding,            // keys beyond the lengths change nothing
  nothing_is_zero,    // a query that may look at nothing: zero context, finite gradients
  steps_equal_whole,  // one query at a time gives what all at once do
};
// In words, as lists have it.
std::string name_of(Law law);

// Attention by name: what a model is told about the one it looks with. Sizes come from the model;
// the rest are options, listed in attention_fields().
struct AttentionOptions {
  int64_t d_q = 0, d_k = 0, d_v = 0;  // features of queries, keys and values
  int64_t input_heads = 1;            // that queries, keys and values come with
  std::string score = "additive";     // names of the catalogue; a model may take "none"
  std::string align = "softmax";      // from scores to weights
  std::string query = "single";       // how it is asked: once, with several heads, in hops
  int64_t heads = 4;                  // of multi-head attention
  int64_t hops = 2;                   // of multi-hop and rotatory attention
  int64_t score_width = 64;           // hidden features of additive scores
  std::string act = "tanh";           // tanh, sigmoid, relu, leaky_relu
  double beta = 1;                    // sharpness of the cosine score: its first value
  double kernel_width = 1;            // of the kernel score: its first value
  int64_t longest_keys = 512;         // keys that a location score serves, or learned positions
  double alpha = 1.5;                 // of entmax
  int64_t reach = 10;                 // D of local alignments
  bool pooled = false;                // parallel co-attention: maxima of the affinity
  bool contextual = false;            // meta-embeddings: a token's sentence weighs its vectors too
  // Of a sequence's attention to itself by another way than all pairs (efficient/).
  int64_t d_model = 0;                // of the layer, for projections of its own; 0: it has none
  int64_t window = 256;               // tokens of a sliding window
  int64_t global_tokens = 1;          // the first of a sequence: they see all and are seen by all
  int64_t block = 64;                 // tokens of a block, or a stride
  int64_t summary_tokens = 10;        // of each block, seen by all
  int64_t random_blocks = 3;          // that each block sees beside its neighbours
  int64_t buckets = 0;                // of a hash; 0: by the length
  int64_t chunk = 64;                 // tokens of a sorted sequence that look at each other
  int64_t hash_rounds = 2;            // hashes
  int64_t rank = 64;                  // of a matrix that stands for n x n
  int64_t kernel_features = 256;      // random features of queries and keys
  bool redraw = false;                // random features anew at every step of training
  std::string synthesizer = "dense";  // dense, random, factorized
  int64_t sort_steps = 7;             // of Sinkhorn's normalisation
  double sort_temperature = 0.7;      // below 1 comes nearer to a permutation
  int64_t landmarks = 64;             // means that stand for the sequence
  int64_t pinv_steps = 6;             // of the iterative inverse
  int64_t conv_width = 35;            // of the convolution beside it; 0: none
};
// The options above that are no sizes, with their ranges.
const Fields<AttentionOptions>& attention_fields();

// A whole mechanism, from queries, keys and values to contexts.
using Mechanism = std::function<AttentionOutput(const AttentionInputs&)>;
// One over several inputs, all d_k wide.
using FeatureMechanism = std::function<FeatureOutput(std::span<const Features>)>;

// A row of the table: one mechanism of the literature.
struct Entry {
  // Which choice it is one of; feature: over several inputs; efficient: of self-attention.
  enum class Kind { score, alignment, position, query, feature, efficient };
  std::string id;                      // as in the literature's tables: "G6", "A5"
  std::string name;                    // what options call it; no two of a kind have the same
  Kind kind;                           // where it is listed
  std::string title, paper, equation;  // a few words, authors and year, and what it computes
  std::vector<std::string> options{};  // which of the fields it reads
  std::vector<Law> laws{};             // that it keeps; one that is not listed may break
  // What it is made of: the part that models choose, by kind, ...
  std::function<Score(Scope, const AttentionOptions&)> score{};
  std::function<Alignment(Scope, const AttentionOptions&)> alignment{};
  std::function<Positions(Scope, const AttentionOptions&)> positions{};
  // ... or a mechanism that is more than a choice of parts,
  std::function<Mechanism(Scope, const AttentionOptions&)> whole{};
  // or one over several inputs,
  std::function<FeatureMechanism(Scope, const AttentionOptions&)> features{};
  // in which a score can be chosen, or which has one of its own.
  bool reads_score = true;
  int inputs = 1;  // of a mechanism over several
  // A sequence's attention to itself, by another way than all pairs: the survey's class, what it
  // costs for n tokens, how it is made, whether it has a causal form, whether it has weights that
  // can be dropped, and whether it makes anything of keys.
  std::string family{}, cost{};
  std::function<SelfAttention(Scope, const AttentionOptions&)> self{};
  bool causal = true, drops_weights = true, reads_keys = true;
};
// In lower case, as lists have it.
std::string name_of(Entry::Kind kind);

// The attention that the options name.
Mechanism make_attention(Scope s, const AttentionOptions& options);
// One entry as a mechanism that can be run; what it leaves open is the scaled product and softmax.
Mechanism make_mechanism(const Entry& entry, Scope s, AttentionOptions options);
// The chosen score and alignment alone, for mechanisms that contain attention.
ScoreFactory score_factory(const AttentionOptions& options);
AlignmentFactory alignment_factory(const AttentionOptions& options);
// The same for `who`, a model whose loss takes no log-probability along: an alignment that learns
// from a reward would learn nothing there, and is an Error.
AlignmentFactory unrewarded_alignment_factory(const std::string& who,
                                              const AttentionOptions& options);
FeatureOptions feature_options(const AttentionOptions& options);
// Which of attention_fields() count for these: score, align, query, and what the chosen ones read.
std::vector<std::string> options_read(const AttentionOptions& options);
// The ways a sequence can look at itself, by name; those that decoders can take alone.
std::vector<std::string> self_attention_names(bool causal_only = false);
// The one of that name for the heads of a layer; null for full, which is the engine's.
SelfAttentionFactory self_attention_factory(const std::string& name,
                                            const AttentionOptions& options);
// The same inside of a mechanism over several inputs, by its name.
std::vector<std::string> options_read_by(std::string_view feature, const AttentionOptions& options);

// All entries, those added from outside last.
const std::vector<Entry>& catalog();
// An entry from outside the library: from then on it has a name wherever the others have. To be
// called before the catalogue is used by other threads; a name of that kind that exists is an
// Error.
void add_to_catalog(Entry entry);
// Words may be joined with - or _. Unknown names are an error that suggests the nearest.
const Entry& find_entry(Entry::Kind kind, std::string_view name);

}  // namespace fovea
