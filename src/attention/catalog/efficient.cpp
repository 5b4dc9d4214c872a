#include "fovea/attention/catalog/entries.h"
#include "fovea/attention/efficient/bigbird.h"
#include "fovea/attention/efficient/linear.h"
#include "fovea/attention/efficient/low_rank.h"
#include "fovea/attention/efficient/lsh.h"
#include "fovea/attention/efficient/nystrom.h"
#include "fovea/attention/efficient/random_features.h"
#include "fovea/attention/efficient/sinkhorn.h"
#include "fovea/attention/efficient/sparse.h"
#include "fovea/attention/efficient/synthesizer.h"
#include "fovea/attention/efficient/window.h"
#include "fovea/attention/engine.h"
#include "fovea/base/random.h"

namespace fovea {
namespace {

using Options = AttentionOptions;

// Laws of those that see a sequence in its order, and have a causal form.
const std::vector<Law> causal_laws{Law::rows_sum_to_one, Law::causal, Law::padding};

// What is drawn for a layer once and for all follows from its name.
uint64_t seed_of(const Scope& s) { return hash_name(s.path()); }

}  // namespace

std::vector<Entry> efficient_entries() {
  constexpr auto kind = Entry::Kind::efficient;
  return {
      {.id = "R4",
       .name = "full",
       .kind = kind,
       .title = "All pairs",
       .paper = "Vaswani et al. 2017",
       .equation = "c_i = sum_j softmax_j(q_i . k_j / sqrt(d)) v_j",
       .laws = set_laws,
       .family = "all pairs",
       .cost = "n^2",
       .self =
           [](Scope, const Options&) {
             return SelfAttention{.attend = [](const AttentionInputs& in) { return attend(in); }};
           }},
      {.id = "R4.1",
       .name = "window",
       .kind = kind,
       .title = "Sliding window with global tokens",
       .paper = "Beltagy, Peters, Cohan 2020 (Longformer)",
       .equation = "j in i - w/2 .. i + w/2, or a global token; causal i - w .. i",
       .options = {"window", "global_tokens"},
       .laws = causal_laws,
       .family = "fixed pattern, memory",
       .cost = "n (w + g)",
       .self =
           [](Scope s, const Options& o) {
             return window_self_attention(s, {.window = o.window,
                                              .global_tokens = o.global_tokens,
                                              .d_model = o.d_model,
                                              .heads = o.heads,
                                              .d_head = o.d_q});
           }},
      {.id = "R4.2",
       .name = "sparse_strided",
       .kind = kind,
       .title = "Neighbours, and every l-th token",
       .paper = "Child, Gray, Radford, Sutskever 2019 (Sparse Transformer)",
       .equation = "|i - j| <= l or (i - j) mod l = 0",
       .options = {"block"},
       .laws = causal_laws,
       .family = "fixed pattern",
       .cost = "n (l + n / l)",
       .self = [](Scope, const Options& o) { return strided_self_attention({.block = o.block}); }},
      {.id = "R4.3",
       .name = "sparse_fixed",
       .kind = kind,
       .title = "The own block, and the last tokens of every block",
       .paper = "Child, Gray, Radford, Sutskever 2019 (Sparse Transformer)",
       .equation = "i div l = j div l or j mod l >= l - c",
       .options = {"block", "summary_tokens"},
       .laws = causal_laws,
       .family = "fixed pattern",
       .cost = "n (l + c n / l)",
       .self =
           [](Scope, const Options& o) {
             return fixed_self_attention({.block = o.block, .summary_tokens = o.summary_tokens});
           }},
      {.id = "R4.4",
       .name = "bigbird",
       .kind = kind,
       .title = "Window, random blocks and global tokens",
       .paper = "Zaheer et al. 2020 (Big Bird)",
       .equation = "blocks a - 1 .. a + 1, r random ones, and the global tokens",
       .options = {"block", "random_blocks", "global_tokens"},
       .laws = {Law::padding},
       .family = "fixed pattern, memory",
       .cost = "n b (3 + r)",
       .self =
           [](Scope s, const Options& o) {
             return bigbird_self_attention(seed_of(s), {.block = o.block,
                                                        .random_blocks = o.random_blocks,
                                                        .global_tokens = o.global_tokens});
           },
       .causal = false},
      {.id = "R4.5",
       .name = "lsh",
       .kind = kind,
       .title = "Tokens whose hashes agree",
       .paper = "Kitaev, Kaiser, Levskaya 2020 (Reformer)",
       .equation = "h(q_i) = h(q_j), h(x) = argmax [x R; -x R], k_i = q_i / |q_i|",
       .options = {"buckets", "chunk", "hash_rounds"},
       .laws = causal_laws,
       .family = "learnable pattern",
       .cost = "n log n",
       .self =
           [](Scope s, const Options& o) {
             return lsh_self_attention(seed_of(s), {.buckets = o.buckets,
                                                    .chunk = o.chunk,
                                                    .hash_rounds = o.hash_rounds,
                                                    .longest = o.longest_keys});
           },
       .reads_keys = false},
      {.id = "R4.6",
       .name = "low_rank",
       .kind = kind,
       .title = "Keys and values projected to k rows",
       .paper = "Wang, Li, Khabsa, Fang, Ma 2020 (Linformer)",
       .equation = "softmax(Q (E K)^T / sqrt(d)) (F V)",
       .options = {"rank"},
       .laws = {Law::padding},
       .family = "low rank",
       .cost = "n k",
       .self =
           [](Scope s, const Options& o) {
             return low_rank_self_attention(s, {.rank = o.rank, .longest = o.longest_keys});
           },
       .causal = false},
      {.id = "R4.7",
       .name = "random_features",
       .kind = kind,
       .title = "Random features of softmax",
       .paper = "Choromanski et al. 2021 (Performer)",
       .equation = "phi(Q) (phi(K)^T V) / phi(Q) (phi(K)^T 1), phi(x)_i = exp(w_i . x - |x|^2 / 2)",
       .options = {"kernel_features", "redraw"},
       .laws = causal_laws,
       .family = "kernel",
       .cost = "n m d",
       .self =
           [](Scope s, const Options& o) {
             return random_feature_self_attention(
                 seed_of(s), o.d_q, {.kernel_features = o.kernel_features, .redraw = o.redraw});
           },
       .drops_weights = false},
      {.id = "R4.8",
       .name = "linear",
       .kind = kind,
       .title = "Features in the place of softmax",
       .paper = "Katharopoulos, Vyas, Pappas, Fleuret 2020 (Linear Transformer)",
       .equation = "phi(Q) (phi(K)^T V) / phi(Q) (phi(K)^T 1), phi(x) = elu(x) + 1",
       .laws = {Law::rows_sum_to_one, Law::causal, Law::permutation, Law::padding,
                Law::steps_equal_whole},
       .family = "kernel",
       .cost = "n d^2",
       .self = [](Scope, const Options&) { return linear_self_attention(); },
       .drops_weights = false},
      {.id = "R4.9",
       .name = "synthesizer",
       .kind = kind,
       .title = "Weights that compare no tokens",
       .paper = "Tay et al. 2020 (Synthesizer)",
       .equation = "softmax(W_2 relu(W_1 x)) V, or softmax(R) V",
       .options = {"synthesizer", "rank"},
       .laws = causal_laws,
       .family = "low rank, learnable pattern",
       .cost = "n^2",
       .self =
           [](Scope s, const Options& o) {
             return synthesizer_self_attention(s, {.synthesizer = o.synthesizer,
                                                   .heads = o.input_heads,
                                                   .d_head = o.d_q,
                                                   .rank = o.rank,
                                                   .longest = o.longest_keys});
           },
       .reads_keys = false},
      {.id = "R4.10",
       .name = "sinkhorn",
       .kind = kind,
       .title = "The own block, and one that is sorted to its place",
       .paper = "Tay, Bahri, Yang, Metzler, Juan 2020",
       .equation = "R = sinkhorn(q_a . k_b / t), block a sees itself and sum_b R_ab block_b",
       .options = {"block", "sort_steps", "sort_temperature"},
       .laws = {Law::padding},
       .family = "learnable pattern",
       .cost = "n b + n^2 / b",
       .self =
           [](Scope, const Options& o) {
             return sinkhorn_self_attention({.block = o.block,
                                             .sort_steps = o.sort_steps,
                                             .sort_temperature = o.sort_temperature});
           },
       .causal = false},
      {.id = "R4.11",
       .name = "nystrom",
       .kind = kind,
       .title = "Landmarks, and the inverse between them",
       .paper = "Xiong et al. 2021 (Nystromformer)",
       .equation = "softmax(Q K~^T) pinv(softmax(Q~ K~^T)) softmax(Q~ K^T) V + conv(V)",
       .options = {"landmarks", "pinv_steps", "conv_width"},
       .laws = {Law::padding},
       .family = "memory, down-sampling",
       .cost = "n m",
       .self =
           [](Scope s, const Options& o) {
             return nystrom_self_attention(s, {.landmarks = o.landmarks,
                                               .pinv_steps = o.pinv_steps,
                                               .conv_width = o.conv_width,
                                               .heads = o.input_heads});
           },
       .causal = false},
  };
}

}  // namespace fovea
